//! If a law has no answer, solvers may find huge impulses that cancel: none of them is an answer.

use super::{Case, Random};
use carom_contact::{Contact, ImpactError};
use carom_impact::frictional::{AnitescuPotra, MoreauNewton};
use carom_metric::Covector;
use nalgebra::{DMatrix, dmatrix};

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
            // Only a contact that approached rebounds.
            let target = contact.restitution * (-before).max(0.0);
            worst = worst.max((after - target).abs() / size);
        }
        row += 1 + contact.tangents.len();
    }
    worst
}

#[test]
fn moreau_newton_answers_where_it_has_an_answer() {
    let mut resolved = 0;
    for seed in 0..100 {
        let case = crowded(&mut Random(seed));
        match case.resolve(&MoreauNewton::default()) {
            Ok(outcome) => {
                let velocity = outcome.velocity_plus.0.as_slice();
                let missed = missed(&case, velocity, outcome.impulses.as_slice());
                assert!(missed < 1e-6, "seed {seed}: {missed:e}");
                resolved += 1;
            }
            Err(ImpactError::InfeasibleLaw { .. } | ImpactError::Inaccurate { .. }) => {}
            Err(error) => assert_ne!(error.kind(), "ray", "seed {seed}"),
        }
    }
    assert!(resolved > 20, "{resolved}");
}

/// Both contacts approach and rebound, and no choice of opening, sticking and sliding gives that: none of
/// the sixteen has a solution: the law has no answer, and the contacts at fault are named.
#[test]
fn a_law_without_an_answer_is_infeasible() {
    let contact = |normal, tangent, friction, restitution| Contact {
        normal: Covector::from_slice(normal),
        tangents: vec![Covector::from_slice(tangent)],
        friction,
        restitution,
    };
    let case = Case {
        mass: DMatrix::identity(2, 2),
        velocity: vec![0.0, 2.0],
        contacts: vec![
            contact(&[1.0, -3.0], &[-2.0, 3.0], 2.0, 0.5),
            contact(&[3.0, -3.0], &[-1.0, 1.0], 0.5, 1.0),
        ],
    };
    let error = case.resolve(&MoreauNewton::default()).unwrap_err();
    assert_eq!(error.kind(), "infeasible-law", "{error}");
}

/// Three walls of a plane, nearly parallel in the metric, two of them against each other. Without restitution
/// there is always an outcome, here rest, though the rounded matrix of the three dependent rows has none.
#[test]
fn inelastic_impacts_have_an_answer_whatever_rounding_makes_of_dependent_rows() {
    let wall = |normal: &[f64]| Contact::frictionless(Covector::from_slice(normal));
    let case = Case {
        mass: dmatrix![0.9404933769031316, 1.922315990984335; 1.922315990984335, 3.929106637002337],
        velocity: vec![-1.2605881857655243, 0.6841405042905754],
        contacts: vec![
            wall(&[0.7012799610625954, 0.6620945523023732]),
            wall(&[-0.41120178373511734, 0.8325218962221884]),
            wall(&[0.28076329566443714, -0.6534456389243849]),
        ],
    };
    let outcome = case.resolve(&AnitescuPotra::default()).unwrap();
    // Impulses of ten million times the momentum, to sixteen digits, leave the ninth digit of what they stop,
    // and the slope of the walls to each other, 4e-6, a thousandth of the velocity.
    assert!(
        outcome.velocity_plus.0.amax() < 1e-3,
        "{}",
        outcome.velocity_plus.0
    );
}
