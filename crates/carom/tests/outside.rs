//! Programs that use the library from outside: problems that are stored, laws of their own, and the names that they may rely on.
//!
//! `cargo xtask packed` checks that open types cannot be closed from outside.
#![allow(clippy::unwrap_used)]

use carom::derivative::{Differences, by_differences};
use carom::impact::two_body::ImpactOptions;
use carom::impact::{
    AnitescuPotra, Contact, ContactSet, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
    ImpactStatus, Law, MoreauNewton, OutcomeSet, Plastic, Poisson, Propagative, Routh, Rules,
    Sequential, SetValued, SetValuedLaw, TwoBody,
};
use carom::judge::{JudgeOptions, judge, judge_with};
use carom::lcp::{
    Auto, Enumerate, Lcp, LcpError, LcpRef, LcpSolution, LcpSolver, Lemke, LemkeOptions,
};
use carom::lie::{Se3, So3};
use carom::metric::{Covector, KineticMetric, Tangent};
use nalgebra::{
    DMatrix, DVector, Isometry3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3, Vector6,
    dmatrix, dvector,
};
use std::sync::Arc;

/// Two balls that meet, stored with all that they need.
#[derive(Clone)]
struct Row {
    contacts: ContactSet,
    problem: ImpactProblem,
}

fn row() -> Row {
    let metric = KineticMetric::new(DMatrix::from_diagonal(&dvector![1.0, 3.0])).unwrap();
    let copied: Arc<KineticMetric> = (&metric).into();
    assert_eq!(copied.dim(), metric.dim());
    let touching = Contact::new(Covector::from_slice(&[-1.0, 1.0])).with_restitution(0.5);
    let contacts = ContactSet::new(copied, vec![touching]).unwrap();
    let problem = contacts.problem(Tangent::from_slice(&[2.0, 0.0])).unwrap();
    Row { contacts, problem }
}

#[test]
fn a_stored_problem_goes_to_a_thread() {
    fn is_owned<T: Clone + Send + Sync + 'static>(_: &T) {}
    let row = row();
    is_owned(&row);
    let here = Plastic::default().resolve(&row.problem).unwrap();
    let sent = row.clone();
    let there = std::thread::spawn(move || {
        let again = ImpactProblem::new(&sent.contacts, Tangent::from_slice(&[2.0, 0.0]));
        let of_new = Plastic::default().resolve(&again.unwrap()).unwrap();
        (Plastic::default().resolve(&sent.problem).unwrap(), of_new)
    });
    assert_eq!(there.join().unwrap(), (here.clone(), here));
}

/// Newton's restitution for one contact, in N s.
#[derive(Debug)]
struct Rebound(f64);

impl ImpactLaw for Rebound {
    fn name(&self) -> &'static str {
        "rebound"
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        let contact = &problem.contacts().contacts()[0];
        let closing = -contact.normal.0.dot(&problem.velocity_minus().0);
        let mass = problem.contacts().metric().mass_matrix().diagonal();
        let inverse: f64 = contact
            .normal
            .0
            .iter()
            .zip(&mass)
            .map(|(u, m)| u * u / m)
            .sum();
        let impulse = f64::max(0.0, (1.0 + self.0) * closing / inverse);
        problem.outcome(&[impulse], &Rules::FRICTIONLESS)
    }
}

impl SetValuedLaw for Rebound {
    fn resolve_all(&self, problem: &ImpactProblem) -> Result<OutcomeSet, ImpactError> {
        Ok(OutcomeSet::new(vec![self.resolve(problem)?], 0.0))
    }
}

#[test]
fn a_law_from_outside_answers_is_judged_and_differentiated() {
    let (row, law) = (row(), Rebound(0.5));
    let outcome = law.resolve(&row.problem).unwrap();
    // 2 m/s, 0.75 kg, restitution 0.5: 2.25 N s.
    let expected = dvector![2.0 - 2.25, 2.25 / 3.0];
    assert!((&outcome.velocity_plus.0 - &expected).amax() < 1e-15);
    assert_eq!(
        (outcome.status, outcome.impulses.len()),
        (ImpactStatus::Resolved, 1)
    );
    assert!((outcome.impulses[0] - 2.25).abs() < 1e-15);
    assert_eq!(law.resolve_all(&row.problem).unwrap().preferred, Some(0));

    let apart = row
        .contacts
        .problem(Tangent::from_slice(&[0.0, 1.0]))
        .unwrap();
    assert_eq!(
        law.resolve(&apart).unwrap().status,
        ImpactStatus::Separating
    );
    // The gate judges and never corrects.
    for wrong in [&[-1.0][..], &[f64::NAN], &[1.0, 1.0], &[], &[3.5], &[1.0]] {
        assert!(
            row.problem.outcome(wrong, &Rules::FRICTIONLESS).is_err(),
            "{wrong:?}"
        );
    }

    let laws: Option<Vec<Law>> = Some(vec![MoreauNewton::default().into()]);
    let options = JudgeOptions::default().with_laws(laws).with_tolerance(1e-9);
    let judgement = judge_with(&row.problem, &outcome.velocity_plus, &options, &[&law]).unwrap();
    let names: Vec<&str> = judgement.matches().map(|found| found.law).collect();
    assert_eq!(names, ["moreau-newton", "rebound"]);
    let none = JudgeOptions::default().with_laws(Some(Vec::new()));
    let alone = judge(&row.problem, &outcome.velocity_plus, &none).unwrap();
    assert_eq!(alone.laws.len(), 0);

    let Differences { dv_dv, error, .. } = by_differences(&law, &row.problem).unwrap();
    let exact = dmatrix![-0.125, 1.125; 0.375, 0.625];
    assert!((dv_dv - exact).amax() < 1e-9 && error < 1e-9);
    let grazing = row
        .contacts
        .problem(Tangent::from_slice(&[1.0, 1.0]))
        .unwrap();
    assert!(by_differences(&law, &grazing).unwrap().error > 0.1);
}

/// A solver from outside, which asks another one.
struct Another;

impl LcpSolver for Another {
    fn name(&self) -> &'static str {
        "another"
    }

    fn solve_view(&self, problem: LcpRef<'_>) -> Result<LcpSolution, LcpError> {
        Lemke::default().solve_view(problem)
    }
}

#[test]
fn linear_complementarity_problems_have_one_door() {
    let lcp = Lcp::new(dmatrix![2.0, 1.0; 1.0, 2.0], dvector![-5.0, -6.0]).unwrap();
    let cover = LemkeOptions::default().with_cover(Some(vec![1.0, 2.0]));
    let solvers: [&dyn LcpSolver; 4] = [
        &Lemke::default().with_options(cover),
        &Enumerate::default(),
        &Auto::default(),
        &Another,
    ];
    let names = solvers.map(|solver| solver.name());
    assert_eq!(names, ["lemke", "enumerate", "auto", "another"]);
    for solver in solvers {
        let solutions = [solver.solve(&lcp), solver.solve_view(lcp.view())];
        for solution in solutions.map(Result::unwrap) {
            assert!((solution.z - dvector![4.0 / 3.0, 7.0 / 3.0]).amax() < 1e-14);
        }
    }
}

#[test]
fn fields_are_set_by_name_or_assigned() {
    let mut options = ImpactOptions::default().with_tolerance(1e-10);
    options.tolerance = 1e-9;
    assert_eq!(options, ImpactOptions::default().with_tolerance(1e-9));
    let propagative = Propagative::default().with_max_impacts(Some(40));
    assert_eq!(propagative.max_impacts, Some(40));
    let sequential = Sequential::default().with_max_impacts(7);
    assert_eq!(sequential.max_impacts, 7);
    let set_valued = SetValued::default()
        .with_max_steps(10)
        .with_impulse_step(Some(0.1))
        .with_epsilon(Some(0.5));
    assert_eq!(set_valued.max_steps, 10);
    assert_eq!(
        (set_valued.impulse_step, set_valued.epsilon),
        (Some(0.1), Some(0.5))
    );
    let contact = Contact::new(Covector::from_slice(&[0.0, 1.0]))
        .with_tangents([Covector::from_slice(&[1.0, 0.0])])
        .with_friction(0.3);
    assert_eq!(
        (contact.n_rows(), contact.friction, contact.restitution),
        (2, 0.3, 0.0)
    );
    // All laws stand at the root.
    let laws: [&dyn ImpactLaw; 8] = [
        &propagative,
        &sequential,
        &set_valued,
        &AnitescuPotra::default(),
        &Poisson::default(),
        &Plastic::default(),
        &Routh::default(),
        &TwoBody::default(),
    ];
    assert_eq!(laws.map(|law| law.name().is_empty()), [false; 8]);
}

#[test]
fn rotations_poses_and_vectors_become_those_of_nalgebra_and_return() {
    let turns = [
        Vector3::new(0.3, -0.2, 0.9),
        Vector3::x() * 1e300,
        Vector3::y() * 1e-300,
    ];
    for turn in turns {
        let rotation = So3::exp(&turn);
        let quaternion: UnitQuaternion<f64> = rotation.into();
        let matrix: Rotation3<f64> = rotation.into();
        let point = Vector3::new(1.0, 2.0, 3.0);
        let turned = rotation.rotate(&point);
        for other in [quaternion * point, matrix * point] {
            assert!((other - turned).amax() < 1e-14);
        }
        for back in [So3::from(quaternion), So3::from(matrix)] {
            assert!((back.rotate(&point) - turned).amax() < 1e-14);
        }
        let twice = rotation * rotation;
        assert!((twice.rotate(&point) - rotation.rotate(&turned)).amax() < 1e-14);
    }
    let pose = Se3::exp(&Vector6::new(0.1, 0.2, 0.3, 0.4, 0.5, 0.6));
    let isometry: Isometry3<f64> = pose.into();
    let back = Se3::from(isometry);
    let product: Isometry3<f64> = (pose * back).into();
    assert!((product.to_homogeneous() - (isometry * isometry).to_homogeneous()).amax() < 1e-14);
    let moved = Isometry3::from_parts(Translation3::new(1.0, 0.0, 0.0), UnitQuaternion::identity());
    let moved: Isometry3<f64> = (Se3::from(moved) * pose).into();
    let origin = isometry * Point3::origin() + Vector3::x();
    assert!((moved * Point3::origin() - origin).amax() < 1e-15);
    let entries = dvector![1.0, -0.0, 1e-300];
    let (velocity, momentum) = (
        Tangent::from(entries.clone()),
        Covector::from(entries.clone()),
    );
    assert_eq!(DVector::from(velocity), entries);
    assert_eq!(DVector::from(momentum), entries);
}
