//! Where a law has no answer solvers come up with huge impulses that cancel: none of them is an answer.

use super::{Case, Random};
use carom_impact::ImpactError;
use carom_impact::frictional::MoreauNewton;

/// More restitutions than degrees of freedom: contacts that are asked to rebound against each other.
fn crowded(random: &mut Random) -> Case {
    let tangents = 1 + random.below(2);
    let mut case = Case::random(random, 10.0, 5, tangents);
    for contact in &mut case.contacts {
        contact.friction = 5.0 * random.unit();
        contact.restitution = random.unit();
    }
    case
}

/// The largest velocity that a contact misses which pushes, or approaches, over the size of all velocities.
fn missed(case: &Case, velocity_plus: &[f64], impulses: &[f64]) -> f64 {
    let size = case.velocity.iter().chain(velocity_plus);
    let size = size.fold(0.0, |sum: f64, v| sum.hypot(*v));
    let strongest = impulses
        .iter()
        .fold(0.0, |largest: f64, l| largest.max(l.abs()));
    let mut row = 0;
    let mut worst = 0.0f64;
    for contact in &case.contacts {
        let along = |v: &[f64]| -> f64 {
            let products = contact.normal.0.iter().zip(v);
            products.map(|(n, v)| n * v).sum::<f64>() / contact.normal.0.norm()
        };
        let (before, after) = (along(&case.velocity), along(velocity_plus));
        worst = worst.max(-after / size);
        if impulses[row] > 1e-6 * strongest {
            worst = worst.max((after + contact.restitution * before).abs() / size);
        }
        row += 1 + contact.tangents.len();
    }
    worst
}

#[test]
fn moreau_newton_answers_where_it_has_an_answer() {
    let (mut resolved, mut refused) = (0, 0);
    for seed in 0..100 {
        let case = crowded(&mut Random(seed));
        match case.resolve(&MoreauNewton::default()) {
            Ok(outcome) => {
                let velocity = outcome.velocity_plus.0.as_slice();
                let missed = missed(&case, velocity, outcome.impulses.as_slice());
                assert!(missed < 1e-6, "seed {seed}: {missed:e}");
                resolved += 1;
            }
            Err(ImpactError::Inaccurate { .. }) => refused += 1,
            Err(_) => {}
        }
    }
    assert!(resolved > 20 && refused > 10, "{resolved}, {refused}");
}
