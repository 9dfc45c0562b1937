//! Bounds of all outcomes that a judged velocity passes.

use crate::support::systems::{
    System, box_and_wall, compass_gait, contact, disk_stack, rocking_block,
};
use carom_contact::{ImpactLaw, ImpactProblem, SetValuedLaw};
use carom_impact::Routh;
use carom_impact::frictional::{AnitescuPotra, SetValued};
use carom_judge::bounds::{BoundMethod, OuterBounds, Relaxation};
use carom_judge::{JudgeOptions, Judgement, Membership, PassedBound, judge, passed_bound};
use carom_metric::{Covector, Tangent};
use nalgebra::{DMatrix, DVector};

/// A box of 1 m x 1.5 m x 2 m in space on four corners.
fn box_in_space() -> System {
    let mass = DVector::from_vec(vec![1.0, 1.0, 1.0, 6.25 / 12.0, 5.0 / 12.0, 3.25 / 12.0]);
    let corners = [(-0.5, -0.75), (0.5, -0.75), (0.5, 0.75), (-0.5, 0.75)];
    let corners = corners.map(|(x, y)| {
        contact(
            &[0.0, 0.0, 1.0, y, -x, 0.0],
            &[
                &[1.0, 0.0, 0.0, 0.0, -1.0, -y],
                &[0.0, 1.0, 0.0, 1.0, 0.0, x],
            ],
            0.5,
        )
    });
    let velocity = [0.4, 0.1, -0.5, 0.2, 0.1, 0.3];
    System::new(DMatrix::from_diagonal(&mass), corners.to_vec(), &velocity)
}

fn judged(problem: &ImpactProblem, after: &Tangent) -> (Judgement, Option<PassedBound>) {
    let options = JudgeOptions::default().with_samples(64);
    let judgement = judge(problem, after, &options).unwrap();
    let passed = passed_bound(problem, after, &judgement);
    (judgement, passed)
}

/// Velocities a thousandth of the motion beyond a bound of Theorem 1, in every contact row both ways,
/// on systems whose set is not known whole, and on one contact.
#[test]
fn what_passes_a_bound_is_outside_with_a_proof() {
    for system in [
        rocking_block(),
        compass_gait(),
        box_and_wall(),
        disk_stack(1.0),
        box_in_space(),
        one_contact(),
    ] {
        system.pose(|problem| {
            let metric = problem.contacts().metric();
            let speed = (2.0 * problem.energy_minus_j()).sqrt();
            let bounds = OuterBounds::new(problem).unwrap();
            let end = AnitescuPotra::default().resolve(problem).unwrap();
            let end = &end.velocity_plus;
            let rows = system.contacts.iter();
            let rows = rows.flat_map(|c| std::iter::once(&c.normal).chain(&c.tangents));
            for row in rows.flat_map(|row| [row.0.clone(), -&row.0]).step_by(5) {
                let unlimited = bounds.below(row.as_slice(), f64::INFINITY).unwrap();
                let beyond = unlimited.unwrap().0 + 1e-3 * speed;
                // The nearest velocity that is so fast.
                let along = metric.sharp(&Covector(row.clone())).unwrap().0;
                let missing = (beyond - row.dot(&end.0)) / row.dot(&along);
                let after = Tangent(&end.0 + along * missing);
                let (judgement, passed) = judged(problem, &after);
                let set = judgement.outcome_set.unwrap();
                assert_eq!(set.membership.name(), "outside");
                let passed = passed.unwrap();
                assert!(passed.value > passed.bound);
                assert!((passed.value - passed.direction.0.dot(&after.0)).abs() <= 1e-12 * speed);
                for (last, proof) in passed.certificates.iter().enumerate() {
                    assert_eq!(proof.last(), last);
                    let direction = passed.direction.0.as_slice();
                    let proven = proof.verify(problem, direction).unwrap().unwrap();
                    assert!(proven <= passed.bound);
                }
                assert_eq!(passed.certificates.len(), system.contacts.len());
            }
        });
    }
}

fn one_contact() -> System {
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 1.0, 0.2, 0.3, 0.4]));
    let point = contact(
        &[0.0, 0.0, 1.0, 0.3, -0.4, 0.0],
        &[
            &[1.0, 0.0, 0.0, 0.0, -0.5, -0.3],
            &[0.0, 1.0, 0.0, 0.5, 0.0, 0.4],
        ],
        0.4,
    );
    System::new(mass, vec![point], &[0.5, 0.2, -1.0, 0.3, -0.2, 0.6])
}

/// Larger steps than Routh's infinitesimal ones end elsewhere: his outcome bounds the paths of the inclusion, and the
/// bounds of all outcomes are wider.
#[test]
fn bounds_of_one_contact_in_space_hold_for_one_step() {
    let system = one_contact();
    system.pose(|problem| {
        let answer = AnitescuPotra::default().resolve(problem).unwrap();
        let bounds = OuterBounds::new(problem).unwrap();
        let tangent = system.contacts[0].tangents[0].0.as_slice();
        let bound = bounds.bound(tangent, Relaxation::Cone).unwrap();
        let value = DVector::from_column_slice(tangent).dot(&answer.velocity_plus.0);
        assert_eq!(bound.method, BoundMethod::Cone);
        assert!(bound.outer[0] <= value && value <= bound.outer[1]);
        let paths = bound.paths.unwrap();
        assert_eq!(paths.method, BoundMethod::Exact);
        assert!(value < paths.outer[0] - 1e-3 || value > paths.outer[1] + 1e-3);
        let (judgement, passed) = judged(problem, &answer.velocity_plus);
        assert_eq!(judgement.outcome_set.unwrap().membership.name(), "inside");
        assert_eq!(passed, None);
        // Between both: closed, admissible, of less energy.
        let routh = Routh::default().resolve(problem).unwrap().velocity_plus;
        let between = Tangent((routh.0 + &answer.velocity_plus.0) * 0.5);
        let (judgement, passed) = judged(problem, &between);
        assert_ne!(judgement.outcome_set.unwrap().membership.name(), "outside");
        assert_eq!(passed, None);
    });
}

/// One contact in the plane is known whole: what lies between Routh's outcome and that of one step is inside, the
/// rest is not.
#[test]
fn one_planar_contact_is_judged_by_its_whole_set() {
    let floor = contact(&[0.556, 0.831, -0.392], &[&[0.831, -0.556, -0.711]], 0.22);
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 0.25]));
    let system = System::new(mass, vec![floor], &[0.0, -1.0, 1.3]);
    system.pose(|problem| {
        let step = AnitescuPotra::default().resolve(problem).unwrap();
        let routh = Routh::default().resolve(problem).unwrap();
        let (step, routh) = (step.velocity_plus.0, routh.velocity_plus.0);
        for (share, expected) in [
            (-0.1, "outside"),
            (0.0, "inside"),
            (0.3, "inside"),
            (0.8, "inside"),
            (1.0, "inside"),
            (1.1, "outside"),
        ] {
            let after = Tangent(&routh + (&step - &routh) * share);
            let (judgement, _) = judged(problem, &after);
            let set = judgement.outcome_set.unwrap();
            assert_eq!(set.membership.name(), expected, "{share}: {set:?}");
            if let Membership::Inside(witness) = &set.membership {
                witness.check(problem, &after).unwrap();
            }
        }
    });
}

/// Samples with round cones and the laws' answers.
#[test]
fn members_pass_no_bound() {
    for system in [compass_gait(), disk_stack(1.0), box_in_space()] {
        system.pose(|problem| {
            let law = SetValued::default().with_samples(8);
            for outcome in law.resolve_all(problem).unwrap().outcomes {
                assert_eq!(judged(problem, &outcome.velocity_plus).1, None);
            }
        });
    }
}
