//! A prepared contact answers as the solver does.

use super::random::{Stream, impact, solve};
use carom_two_body::{ContactResponse, ImpactOptions, PreparedContact, RestitutionLaw};
use nalgebra::Vector3;

#[test]
fn prepared_contacts_agree_with_the_solver() {
    let laws = [
        RestitutionLaw::Energetic,
        RestitutionLaw::Poisson,
        RestitutionLaw::Newton,
    ];
    for number in 0..120 {
        let r = impact(number);
        let options = ImpactOptions {
            restitution_law: laws[number as usize % 3],
            tolerance: 1e-14,
            ..ImpactOptions::default()
        };
        let prepared = PreparedContact::new(&r.w, r.mu, &options).unwrap();
        let mut stream = Stream(number);
        for _ in 0..60 {
            let v = stream.vector();
            let v = Vector3::new(v.x, v.y, -v.z.abs() * 10f64.powf(stream.uniform(-4.0, 0.0)));
            let ContactResponse::Impact(quick) = prepared.solve(&v, r.e).unwrap() else {
                panic!("{number}");
            };
            let slow = solve(&r.w, &v, r.mu, r.e, &options);
            assert_eq!(quick.events.sequence(), slow.events.sequence(), "{number}");
            let gap = (quick.impulse - slow.impulse).amax() / slow.impulse.amax();
            assert!(gap <= 1e-12, "{number}: {gap:e} {v:?}");
        }
    }
}
