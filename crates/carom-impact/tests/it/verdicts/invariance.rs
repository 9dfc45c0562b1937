//! What does not matter: units of rows, far bodies, the order in which things are listed.

use super::{Case, Random};
use carom_impact::frictional::{AnitescuPotra, MoreauNewton, Sequential};
use carom_impact::{ImpactLaw, Nonholonomic, Plastic, Propagative, Restitution, Rough};
use carom_metric::Covector;
use nalgebra::DMatrix;

fn laws() -> Vec<Box<dyn ImpactLaw>> {
    vec![
        Box::new(Propagative::default()),
        Box::new(Plastic::default()),
        Box::new(AnitescuPotra::default()),
        Box::new(MoreauNewton::default()),
        Box::new(Sequential::default()),
        Box::new(Nonholonomic::new(Restitution::Newton(0.3)).unwrap()),
        Box::new(Rough::new(0.5).unwrap()),
    ]
}

/// Answers of two cases, as status or error and the first `n` velocities.
fn agree(law: &dyn ImpactLaw, a: &Case, b: &Case, tolerance: f64, what: &str) {
    let n = a.velocity.len();
    let speed = a.velocity.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
    match (a.resolve(law), b.resolve(law)) {
        (Ok(a), Ok(b)) => {
            assert_eq!(a.status, b.status, "{what}");
            let size = f64::max(a.velocity_plus.0.amax(), speed);
            for k in 0..n {
                let off = (a.velocity_plus.0[k] - b.velocity_plus.0[k]).abs();
                assert!(off <= tolerance * size, "{what}: off by {off:e} in {k}");
            }
        }
        (a, b) => assert_eq!(
            a.err().map(|e| e.kind()),
            b.err().map(|e| e.kind()),
            "{what}"
        ),
    }
}

#[test]
fn units_of_rows_change_no_velocity() {
    let mut random = Random(11);
    let laws = laws();
    for k in 0..400 {
        let tangents = random.below(3);
        let mut case = Case::random(&mut random, 100.0, 2, tangents);
        for contact in &mut case.contacts {
            contact.friction *= random.decades(-1.0, 1.5);
        }
        let mut scaled = case.clone();
        for contact in &mut scaled.contacts {
            let c = random.decades(-3.0, 3.0);
            contact.normal.0 *= c;
            contact.tangents.iter_mut().for_each(|row| row.0 *= c);
        }
        for law in &laws {
            let what = format!("{k} {}", law.name());
            agree(law.as_ref(), &case, &scaled, 1e-7, &what);
        }
    }
}

/// A body elsewhere, given before or after the others.
fn with_bystander(case: &Case, momentum: f64, is_first: bool) -> Case {
    let n = case.velocity.len();
    let at = |k: usize| if is_first { k + 2 } else { k };
    let place = |row: &Covector| {
        let mut entries = vec![0.0; n + 2];
        (0..n).for_each(|k| entries[at(k)] = row.0[k]);
        Covector::from_slice(&entries)
    };
    let mut far = case.clone();
    far.mass = DMatrix::identity(n + 2, n + 2);
    far.velocity = vec![momentum; n + 2];
    for i in 0..n {
        far.velocity[at(i)] = case.velocity[i];
        (0..n).for_each(|j| far.mass[(at(i), at(j))] = case.mass[(i, j)]);
    }
    for contact in &mut far.contacts {
        contact.normal = place(&contact.normal);
        contact.tangents = contact.tangents.iter().map(place).collect();
    }
    far
}

#[test]
fn a_far_body_of_any_momentum_changes_nothing() {
    let mut random = Random(12);
    let laws = laws();
    for k in 0..200 {
        let (n_contacts, tangents) = (1 + random.below(3), random.below(2));
        let case = Case::random(&mut random, 10.0, n_contacts, tangents);
        let momentum = random.decades(0.0, 17.0);
        for law in &laws {
            let what = format!("{k} {} beside {momentum:e}", law.name());
            let last = with_bystander(&case, momentum, false);
            agree(law.as_ref(), &case, &last, 1e-9, &what);
            let mut first = with_bystander(&case, momentum, true);
            let outcome = case.resolve(law.as_ref());
            let other = first.resolve(law.as_ref());
            match (outcome, other) {
                (Ok(a), Ok(b)) => {
                    assert_eq!(a.status, b.status, "{what}");
                    let n = case.velocity.len();
                    let own = b.velocity_plus.0.rows(2, n);
                    let off = (own - &a.velocity_plus.0).amax();
                    let size = case.velocity.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
                    assert!(off <= 1e-9 * size, "{what}: {off:e}");
                }
                (a, b) => assert_eq!(a.err().map(|e| e.kind()), b.err().map(|e| e.kind())),
            }
            first.velocity.clear();
        }
    }
}

#[test]
fn a_slow_approach_beside_a_fast_body_is_an_impact() {
    let case = Case {
        mass: DMatrix::identity(2, 2),
        velocity: vec![-1e-3, 1e17],
        contacts: vec![carom_impact::Contact::frictionless(Covector::from_slice(
            &[1.0, 0.0],
        ))],
    };
    let outcome = case.resolve(&Plastic::default()).unwrap();
    assert_eq!(outcome.status.name(), "resolved");
    assert_eq!(outcome.velocity_plus.0.as_slice(), [0.0, 1e17]);
}
