//! A million random impacts on two threads.
//!
//! `cargo test --release -p carom-impact --test two_body -- --ignored --nocapture`

use super::random::{Random, impact, stiff};
use carom_two_body::{ContactResponse, ImpactOptions, RestitutionLaw, solve_impact};
use std::collections::BTreeMap;
use std::time::Instant;

const COUNT: u64 = 1_000_000;

#[derive(Default)]
struct Tally {
    sequences: BTreeMap<String, u64>,
    failures: u64,
    penetrating: u64,
    most_steps: usize,
}

fn resolve(number: u64, tally: &mut Tally) {
    let r = if number % 4 == 3 {
        stiff(number)
    } else {
        impact(number)
    };
    let Random { w, v, mu, e, .. } = r;
    let law = match number % 7 {
        5 => RestitutionLaw::Poisson,
        6 => RestitutionLaw::Newton,
        _ => RestitutionLaw::Energetic,
    };
    let options = ImpactOptions::default().with_restitution_law(law);
    // Every eleventh with the ends of the range, or nearly along an invariant direction.
    let e = match number % 11 {
        0 => 0.0,
        1 => 1.0,
        _ => e,
    };
    let Ok(ContactResponse::Impact(found)) = solve_impact(&w, &v, mu, e, &options) else {
        tally.failures += 1;
        return;
    };
    let after = v + w.delta_velocity(&found.impulse);
    let tolerance = 1e-9 * (v.amax() + w.matrix().amax() * found.impulse.amax());
    let tangential = found.impulse.x.hypot(found.impulse.y);
    let sound = (after - found.velocity_plus).amax() <= tolerance
        && tangential <= mu * found.impulse.z * (1.0 + 1e-12)
        && found.impulse.z > 0.0
        && found.friction_work <= 0.0;
    tally.failures += u64::from(!sound);
    tally.penetrating += u64::from(found.velocity_plus.z < 0.0);
    tally.most_steps = tally.most_steps.max(found.steps);
    *tally.sequences.entry(found.events.sequence()).or_insert(0) += 1;
}

#[test]
#[ignore = "half a minute in a release build"]
fn a_million_random_impacts_are_resolved() {
    let start = Instant::now();
    let halves: Vec<Tally> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|thread| {
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    (thread..COUNT)
                        .step_by(2)
                        .for_each(|n| resolve(n, &mut tally));
                    tally
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut sequences: BTreeMap<String, u64> = BTreeMap::new();
    for (sequence, count) in halves.iter().flat_map(|t| &t.sequences) {
        *sequences.entry(sequence.clone()).or_insert(0) += count;
    }
    let failures: u64 = halves.iter().map(|t| t.failures + t.penetrating).sum();
    let most = halves.iter().map(|t| t.most_steps).max();
    println!("{COUNT} impacts in {seconds:.1} s on 2 threads, {failures} failures");
    println!("{sequences:?}, at most {most:?} steps");
    assert_eq!(failures, 0);
    assert_eq!(sequences.values().sum::<u64>(), COUNT);
}
