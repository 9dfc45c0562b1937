//! Each rule of the gate on an answer that breaks it alone, and the same answer repaired.

use carom_contact::internal::{Candidate, Opening, Targets};
use carom_contact::{
    Contact, ContactSet, Diagnostics, GateRule, ImpactError, ImpactOutcome, ImpactProblem,
    ImpactStatus, RowIndex, Rules, Work,
};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;

/// A point mass of 1 kg that slides along x and falls along y onto a floor of friction 1/2.
fn pose<T>(velocity: [f64; 2], ask: impl FnOnce(&ImpactProblem) -> T) -> T {
    let metric = KineticMetric::new(DMatrix::identity(2, 2)).unwrap();
    let floor = Contact::new(Covector::from_slice(&[0.0, 1.0]))
        .with_tangents(vec![Covector::from_slice(&[1.0, 0.0])])
        .with_friction(0.5);
    let contacts = ContactSet::new(&metric, vec![floor]).unwrap();
    ask(&ImpactProblem::new(&contacts, Tangent::from_slice(&velocity)).unwrap())
}

/// The outcome of impulses on normal and tangent, N·s.
fn answer(
    velocity: [f64; 2],
    impulses: [f64; 2],
    rules: &Rules<'_>,
) -> Result<ImpactOutcome, ImpactError> {
    pose(velocity, |problem| {
        let scaled = impulses.iter().map(|l| l * problem.scale()).collect();
        let (status, basis) = (ImpactStatus::Resolved, &mut Opening::default());
        Candidate::new(problem, scaled).outcome(problem, rules, basis, status, Diagnostics::None)
    })
}

/// The rule that refuses an answer, and the contacts that break it.
fn refused(answer: Result<ImpactOutcome, ImpactError>) -> (GateRule, Vec<usize>) {
    match answer {
        Err(ImpactError::Inaccurate { rule, contacts, .. }) => (rule, contacts),
        other => panic!("{other:?}"),
    }
}

const DOWN: [f64; 2] = [3.0, -2.0];

#[test]
fn an_impulse_that_stops_and_slows_is_an_outcome() {
    let outcome = answer(DOWN, [2.0, -1.0], &Rules::FRICTIONAL).unwrap();
    assert_eq!(outcome.velocity_plus, Tangent::from_slice(&[2.0, 0.0]));
    assert_eq!(outcome.impulses.as_slice(), [2.0, -1.0]);
    assert!((outcome.audit.energy_change_j() + 4.5).abs() <= 1e-14);
}

#[test]
fn a_contact_may_not_approach_pull_or_leave_its_cone() {
    let ask = |velocity, impulses| refused(answer(velocity, impulses, &Rules::FRICTIONAL));
    assert_eq!(ask(DOWN, [1.0, 0.0]), (GateRule::Approach, vec![0]));
    assert_eq!(ask([3.0, 2.0], [-1.0, 0.0]), (GateRule::Pull, vec![0]));
    assert_eq!(ask(DOWN, [2.0, -1.5]), (GateRule::Friction, vec![0]));
}

#[test]
fn rules_say_what_a_law_is_excused_from() {
    let approaching = Rules {
        may_approach: true,
        ..Rules::FRICTIONAL
    };
    assert!(answer(DOWN, [1.0, 0.0], &approaching).is_ok());
    let pulling = Rules {
        may_pull: true,
        ..Rules::FRICTIONAL
    };
    assert!(answer([3.0, 2.0], [-1.0, 0.0], &pulling).is_ok());
    assert!(answer(DOWN, [2.0, -1.5], &Rules::FRICTIONLESS).is_ok());
    // The exact answer of a law that does not fit is told with the error.
    let infeasible = Rules {
        may_be_infeasible: true,
        ..Rules::FRICTIONAL
    };
    match answer(DOWN, [1.0, 0.0], &infeasible) {
        Err(ImpactError::InfeasibleLaw {
            contacts,
            found: Some(found),
            ..
        }) => {
            assert_eq!(contacts, [0]);
            assert_eq!(found.velocity_plus, Tangent::from_slice(&[3.0, -1.0]));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn energy_is_gained_only_where_the_rules_let_it() {
    // Thrown back faster than it came.
    let (found, _) = refused(answer(DOWN, [5.0, 0.0], &Rules::FRICTIONLESS));
    assert_eq!(found, GateRule::Energy);
    let any = Rules {
        work: Work::Any,
        ..Rules::FRICTIONLESS
    };
    let outcome = answer(DOWN, [5.0, 0.0], &any).unwrap();
    // Motion along both rows: (9 + 9) J over (9 + 4) J.
    let gain = outcome.audit.energy_gain.unwrap();
    assert!((gain - 18.0 / 13.0).abs() <= 1e-14, "{gain}");
}

#[test]
fn a_number_that_is_none_is_no_answer() {
    let found = answer(DOWN, [f64::NAN, 0.0], &Rules::FRICTIONLESS);
    assert_eq!(found, Err(ImpactError::Overflow));
}

#[test]
fn impulses_off_by_rounding_are_corrected_to_the_velocities_that_a_law_asks_for() {
    let stop = |are_required| Targets::new([(RowIndex::new(0), 0.0)], are_required);
    let ask = |normal: f64, are_required| {
        pose([0.0, -2.0], |problem| {
            let scaled = [normal, 0.0].iter().map(|l| l * problem.scale()).collect();
            let (status, rules) = (ImpactStatus::Resolved, Rules::FRICTIONLESS);
            let basis = &mut stop(are_required);
            Candidate::new(problem, scaled).outcome(
                problem,
                &rules,
                basis,
                status,
                Diagnostics::None,
            )
        })
    };
    // Too little by 1e-5 of it: the contact would still approach.
    let corrected = ask(2.0 * (1.0 - 1e-5), true).unwrap();
    assert_eq!(corrected.velocity_plus.0[1], 0.0);
    // Too much by as much: a law that asks for rest is corrected, one that asks for no approach is not.
    assert_eq!(
        ask(2.0 * (1.0 + 1e-5), true).unwrap().velocity_plus.0[1],
        0.0
    );
    let left = ask(2.0 * (1.0 + 1e-5), false).unwrap().velocity_plus.0[1];
    assert!((left - 2e-5).abs() <= 1e-15, "{left}");
}

/// Impulses of a law from outside stand on the rows as given, and are judged as they are.
#[test]
fn impulses_from_outside_are_judged_and_never_corrected() {
    let metric = KineticMetric::new(DMatrix::from_diagonal_element(2, 2, 2.0)).unwrap();
    let floor = Contact::new(Covector::from_slice(&[0.0, 10.0]))
        .with_tangents(vec![Covector::from_slice(&[0.1, 0.0])])
        .with_friction(100.0);
    let wall = Contact::frictionless(Covector::from_slice(&[-1.0, 0.0]));
    let contacts = ContactSet::new(&metric, vec![floor, wall]).unwrap();
    let velocity = Tangent::from_slice(&[3.0, -2.0]);
    let problem = ImpactProblem::new(&contacts, velocity).unwrap();
    let ask = |impulses: &[f64]| problem.outcome(impulses, &Rules::FRICTIONAL);
    // 4 N s up, 2 N s back along the floor, 5 N s from the wall.
    let impulses = [0.4, -20.0, 5.0];
    let outcome = ask(&impulses).unwrap();
    assert_eq!(outcome.impulses.as_slice(), impulses);
    assert_eq!(outcome.status, ImpactStatus::Resolved);
    let after = outcome.velocity_plus.0 - Tangent::from_slice(&[-0.5, 0.0]).0;
    assert!(after.amax() < 1e-15);
    let rule = |impulses: &[f64]| refused(ask(impulses));
    assert_eq!(rule(&[0.4, 0.0, 5.9]), (GateRule::Approach, vec![1]));
    assert_eq!(rule(&[0.4, -41.0, 2.0]), (GateRule::Friction, vec![0]));
    for wrong in [
        &[0.4, 0.0][..],
        &[0.4, 0.0, 6.0, 0.0],
        &[f64::NAN, 0.0, 6.0],
    ] {
        let error = ask(wrong).unwrap_err();
        assert!(matches!(error, ImpactError::Metric(_)) && error.to_string().contains("impulses"));
    }
    // Nothing approaches: only impulses of zero leave that unsaid.
    let apart = ImpactProblem::new(&contacts, Tangent::from_slice(&[-3.0, 2.0])).unwrap();
    let pulled = apart.outcome(&[-0.01, 0.0, 0.0], &Rules::FRICTIONAL);
    assert_eq!(refused(pulled), (GateRule::Pull, vec![0]));
    let separating = apart.outcome(&[0.0; 3], &Rules::FRICTIONAL).unwrap();
    assert_eq!(separating.status, ImpactStatus::Separating);
    let any = Rules {
        work: Work::Any,
        ..Rules::FRICTIONAL
    };
    let pushed = apart.outcome(&[0.1, 0.0, 0.0], &any).unwrap();
    assert_eq!(pushed.status, ImpactStatus::Resolved);
}
