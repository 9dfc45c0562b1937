//! Properties of steps and laws on random systems, in the plane and in space.

use crate::support::systems::*;
use carom_contact::{ContactSet, FrictionCone, ImpactLaw, ImpactProblem};
use carom_impact::frictional::{
    AnitescuPotra, MoreauNewton, Poisson, Sampler, Sequential, SetValued, TerminationBounds,
    all_simultaneous,
};
use carom_impact::internal::{Draw, ImpactStepper, StepWorkspace};
use carom_impact::{Limit, Routh};
use carom_lcp::contact_problem::ContactMode;
use carom_lcp::{Lcp, LcpSolver, LcpStatus, Lemke};
use carom_metric::{Covector, Tangent};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(31),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn entries(n: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0f64, n)
}

fn mass_from(n: usize, entries: &[f64]) -> DMatrix<f64> {
    let a = DMatrix::from_column_slice(n, n, entries);
    &a * a.transpose() + 0.2 * DMatrix::identity(n, n)
}

prop_compose! {
    /// A random system with `tangents` tangents at each contact, and caps for a step.
    fn system(tangents: usize)(n in 2usize..=6, m in 1usize..=4)(
        mass in entries(n * n),
        rows in prop::collection::vec(entries(n), m * (1 + tangents)),
        friction in prop::collection::vec(prop_oneof![Just(0.0), 0.05..1.2f64], m),
        velocity in entries(n),
        caps in prop::collection::vec(prop_oneof![1 => Just(0.0), 9 => 0.0..2.0f64], m),
    ) -> (System, Vec<f64>) {
        let contacts = rows
            .chunks(1 + tangents)
            .zip(&friction)
            .map(|(rows, mu)| {
                let tangents: Vec<&[f64]> = rows[1..].iter().map(Vec::as_slice).collect();
                contact(&rows[0], &tangents, *mu)
            })
            .collect();
        (System::new(mass_from(velocity.len(), &mass), contacts, &velocity), caps)
    }
}

fn spatial() -> impl Strategy<Value = (System, Vec<f64>, Option<usize>)> {
    (system(2), prop_oneof![Just(4usize), Just(6), Just(8)])
        .prop_map(|((system, caps), k)| (system, caps, Some(k)))
}

fn planar() -> impl Strategy<Value = (System, Vec<f64>, Option<usize>)> {
    system(1).prop_map(|(system, caps)| (system, caps, None))
}

fn any_system() -> impl Strategy<Value = (System, Vec<f64>, Option<usize>)> {
    prop_oneof![planar(), spatial()]
}

fn energy(system: &System, v: &DVector<f64>) -> f64 {
    system.metric.energy(&Tangent(v.clone())).unwrap()
}

fn cone(directions: Option<usize>) -> FrictionCone {
    directions.map_or(FrictionCone::Round, FrictionCone::Polygon)
}

proptest! {
    #![proptest_config(config(400))]

    /// Halm & Posa, Theorems 6 and 7, the latter as an identity; Eqs. (72)-(75); Lemma 13.
    #[test]
    fn a_step_exists_and_balances_its_energy((system, caps, k) in any_system()) {
        let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
        let stepper = ImpactStepper::new(&contacts, k).unwrap();
        let v = Tangent::from_slice(&system.velocity);
        let step = stepper.step(&v, &caps, None, &mut StepWorkspace::new()).unwrap();
        prop_assert!(step.residual <= 1e-10);
        let before = energy(&system, &v.0);
        let change = energy(&system, &step.velocity.0) - before;
        let jump = energy(&system, &(&step.velocity.0 - &v.0));
        let rows = system.contact_velocity(&step.velocity);
        let mut lost = jump;
        let (mut row, mut saturated, mut colliding) = (0, false, false);
        for (i, c) in system.contacts.iter().enumerate() {
            let normal = step.impulses[row];
            let after = rows[row];
            let gamma = step.sliding.get(i).copied().unwrap_or(0.0);
            lost += normal * c.friction * gamma + step.cap_multipliers[i] * caps[i];
            prop_assert!(normal >= -1e-12 && normal <= caps[i] + 1e-11);
            // No contact that has been pushed separates.
            prop_assert!(normal * after <= 1e-10, "{normal} {after}");
            let tangential = DVector::from_iterator(
                c.tangents.len(),
                (0..c.tangents.len()).map(|t| step.impulses[row + 1 + t]),
            );
            prop_assert!(tangential.norm() <= c.friction * normal + 1e-11);
            saturated |= caps[i] > 0.0 && (normal - caps[i]).abs() <= 1e-9;
            colliding |= after < -1e-9 && caps[i] > 0.0;
            row += 1 + c.tangents.len();
        }
        prop_assert!((change + lost).abs() <= 1e-11 * (1.0 + before), "{change} {lost}");
        // Lemma 13: what still approaches is at its cap.
        prop_assert!(saturated || !colliding);
    }

    /// f(av, aλ) = a f(v, λ), also far from unit scale.
    #[test]
    fn a_step_is_homogeneous((system, caps, k) in any_system(), exponent in -30i32..30) {
        let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
        let stepper = ImpactStepper::new(&contacts, k).unwrap();
        let mut workspace = StepWorkspace::new();
        let v = Tangent::from_slice(&system.velocity);
        let step = stepper.step(&v, &caps, None, &mut workspace).unwrap();
        let a = 10f64.powi(exponent);
        let caps: Vec<f64> = caps.iter().map(|cap| a * cap).collect();
        let scaled = stepper.step(&Tangent(&v.0 * a), &caps, None, &mut workspace).unwrap();
        let off = (scaled.velocity.0 / a - &step.velocity.0).amax();
        prop_assert!(off <= 1e-9 * v.0.amax(), "{off}");
    }

    /// Lemma 8: without push nothing changes.
    #[test]
    fn a_step_without_push_changes_nothing((system, caps, k) in any_system()) {
        let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
        let stepper = ImpactStepper::new(&contacts, k).unwrap();
        let v = Tangent::from_slice(&system.velocity);
        let none = vec![0.0; caps.len()];
        let step = stepper.step(&v, &none, None, &mut StepWorkspace::new()).unwrap();
        prop_assert!((step.velocity.0 - v.0).amax() <= 1e-12);
    }

    /// Feasible, dissipative, within the cone: all single answers.
    #[test]
    fn laws_keep_their_promises((system, _, k) in any_system()) {
        system.pose(|problem| {
            let friction_cone = cone(k);
            let simultaneous = AnitescuPotra::default().with_friction_cone(friction_cone);
            let sequential = Sequential::default().with_friction_cone(friction_cone);
            for law in [&simultaneous as &dyn ImpactLaw, &sequential] {
                let outcome = match law.resolve(problem) {
                    // A jam may bounce between its contacts without end.
                    Err(error) if error.limit() == Some(Limit::Impacts) => continue,
                    other => other.unwrap(),
                };
                let audit = &outcome.audit;
                prop_assert!(audit.energy_change_j() <= 1e-12 * (1.0 + audit.energy_minus_j));
                prop_assert!(audit.penetration_residual <= 1e-9);
                prop_assert!(audit.adhesion_residual <= 1e-12);
                prop_assert!(audit.friction_residual <= 1e-11);
                prop_assert!(audit.momentum_residual <= 1e-11);
            }
            Ok(())
        })?;
    }

    /// Samples end within the limit or say so, never gain energy, and what they report of the
    /// contacts agrees with the outcome.
    #[test]
    fn samples_are_outcomes((system, _, k) in any_system(), seed in any::<u64>()) {
        let law = SetValued::default().with_friction_cone(cone(k)).with_seed(seed).with_max_steps(200);
        system.pose(|problem| {
            let sampler = Sampler::new(problem, &law).unwrap();
            let (mut draw, mut rows) = (Draw::default(), Vec::new());
            for sample in 0..3 {
                sampler.draw(sample, &mut draw).unwrap();
                let outcome = sampler.outcome(&draw).unwrap();
                prop_assert!(outcome.audit.energy_change_j() <= 1e-12);
                prop_assert!(!draw.is_ended || outcome.audit.penetration_residual <= 1e-9);
                prop_assert!(outcome.audit.friction_residual <= 1e-10);
                sampler.contact_velocity(&draw, &mut rows);
                let expected = system.contact_velocity(&outcome.velocity_plus);
                for (a, b) in rows.iter().zip(&expected) {
                    prop_assert!((a - b).abs() <= 1e-10);
                }
            }
            Ok(())
        })?;
    }

    /// An open contact has no impulse and a sticking one no slip. Friction of a sliding one opposes the slip as much as its cone
    /// allows, if the law makes the impact in one step.
    #[test]
    fn modes_agree_with_impulses_and_velocities((system, _, k) in any_system()) {
        let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
        let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&system.velocity)).unwrap();
        let (friction_cone, selection) = (cone(k), Default::default());
        let laws: [(&dyn ImpactLaw, Option<usize>); 6] = [
            (&AnitescuPotra::default().with_friction_cone(friction_cone).with_selection(selection), k),
            (&MoreauNewton::default().with_friction_cone(friction_cone).with_selection(selection), k),
            (&AnitescuPotra::default(), None),
            (&Poisson::default().with_friction_cone(friction_cone).with_selection(selection), Some(1)),
            (&Sequential::default().with_friction_cone(friction_cone), Some(1)),
            (&SetValued::default().with_friction_cone(friction_cone), Some(1)),
        ];
        for (law, directions) in laws {
            let Ok(outcome) = law.resolve(&problem) else { continue };
            let rows = system.contact_velocity(&outcome.velocity_plus);
            let modes = outcome.diagnostics.modes();
            prop_assert_eq!(modes.len(), system.contacts.len());
            let mut row = 0;
            for (c, mode) in system.contacts.iter().zip(modes) {
                let tangents = row + 1..row + 1 + c.tangents.len();
                let push = outcome.impulses[row];
                let drag = DVector::from_column_slice(&outcome.impulses.as_slice()[tangents.clone()]);
                let slip = DVector::from_column_slice(&rows.as_slice()[tangents.clone()]);
                row = tangents.end;
                match mode {
                    ContactMode::Open => prop_assert!(push.abs() + drag.norm() <= 1e-9, "{}", law.name()),
                    ContactMode::Stick => {
                        prop_assert!(push > 0.0 && c.friction > 0.0 && slip.norm() <= 1e-8);
                    }
                    ContactMode::Slide => {
                        prop_assert!(push > 0.0);
                        let reach = directions.map_or(1.0, |k| (std::f64::consts::PI / k as f64).cos());
                        let most = c.friction * push * slip.norm();
                        prop_assert!(drag.dot(&slip) <= 1e-8 - reach * most, "{}", law.name());
                    }
                }
            }
        }
    }

    /// The answer of Lemke's method is among the enumerated modes.
    #[test]
    fn modes_contain_the_answer_of_the_law((system, _) in system(1)) {
        system.pose(|problem| {
            if !problem.is_approaching() || problem.contacts().len() > 3 {
                return Ok(());
            }
            let one = AnitescuPotra::default().resolve(problem).unwrap();
            let all = all_simultaneous(problem).unwrap();
            let distance = |s: &carom_impact::frictional::ModeSolution| {
                (&s.outcome.velocity_plus.0 - &one.velocity_plus.0).amax()
            };
            let nearest = all.iter().map(distance).fold(f64::INFINITY, f64::min);
            prop_assert!(nearest <= 1e-5, "{nearest} of {} modes", all.len());
            Ok(())
        })?;
    }

    /// Lemma 6 and the explicit form of Proposition 4: normal impulses of a sample's path cannot
    /// exceed 2‖v₀‖/ρ.
    #[test]
    fn impulses_are_within_the_bound((system, _) in system(1), seed in any::<u64>()) {
        let law = SetValued::default().with_seed(seed);
        system.pose(|problem: &ImpactProblem| {
            let Ok(bounds) = TerminationBounds::new(problem, 1.0, None) else {
                return Ok(());
            };
            let sampler = Sampler::new(problem, &law).unwrap();
            let mut draw = Draw::default();
            sampler.draw(0, &mut draw).unwrap();
            let outcome = sampler.outcome(&draw).unwrap();
            let normals: f64 = outcome.impulses.iter().step_by(2).sum();
            prop_assert!(normals <= bounds.inclusion_impulse * (1.0 + 1e-9));
            Ok(())
        })?;
    }

    /// Lemma 6: the witnesses see every edge of every friction cone, in space the round one.
    #[test]
    fn witnesses_bound_the_normal_impulse((system, _, k) in any_system()) {
        system.pose(|problem| {
            let Ok(bounds) = TerminationBounds::new(problem, 1.0, k) else {
                return Ok(());
            };
            let mass = system.metric.mass_matrix();
            let inverse = mass.clone().try_inverse().unwrap();
            let size = bounds.kinetic_witness.0.norm().max(1.0);
            for c in &system.contacts {
                let directions = if c.tangents.len() == 2 { 32 } else { 2 };
                for j in 0..directions {
                    let (sin, cos) =
                        (std::f64::consts::TAU * f64::from(j) / f64::from(directions)).sin_cos();
                    let mut force = &c.normal.0 + c.friction * cos * &c.tangents[0].0;
                    if let Some(second) = c.tangents.get(1) {
                        force += c.friction * sin * &second.0;
                    }
                    let kinetic = bounds.kinetic_witness.0.dot(&force);
                    prop_assert!(kinetic >= 1.0 - 1e-9 * size, "{kinetic}");
                    let euclidean = bounds.euclidean_witness.0.dot(&(&inverse * &force));
                    prop_assert!(euclidean >= 1.0 - 1e-8 * size, "{euclidean}");
                }
            }
            let norm = bounds.euclidean_witness.0.norm();
            prop_assert!((norm - bounds.euclidean_r).abs() <= 1e-6 * norm);
            Ok(())
        })?;
    }

    /// With normal impulses given, friction alone brings any two velocities closer together.
    #[test]
    fn friction_contracts((system, _) in system(1), other in entries(6), push in entries(4)) {
        let inverse = system.metric.mass_matrix().clone().try_inverse().unwrap();
        let m = system.contacts.len();
        let k = 2 * m;
        let rows: Vec<_> = system
            .contacts
            .iter()
            .flat_map(|c| [c.tangents[0].0.clone(), -&c.tangents[0].0])
            .collect();
        let directions = DMatrix::from_columns(&rows).transpose();
        let mut matrix = DMatrix::zeros(k + m, k + m);
        let block = &directions * &inverse * directions.transpose();
        matrix.view_mut((0, 0), (k, k)).copy_from(&block);
        for i in 0..k {
            matrix[(i, k + i / 2)] = 1.0;
            matrix[(k + i / 2, i)] = -1.0;
        }
        let pushed: DVector<f64> = system
            .contacts
            .iter()
            .zip(&push)
            .map(|(c, l)| &inverse * &c.normal.0 * l.abs())
            .sum();
        let step = |v: &DVector<f64>| {
            let mut vector = DVector::zeros(k + m);
            vector.rows_mut(0, k).copy_from(&(&directions * (v + &pushed)));
            for (i, c) in system.contacts.iter().enumerate() {
                vector[k + i] = c.friction * push[i].abs();
            }
            let lcp = Lcp::new(matrix.clone(), vector).unwrap();
            let solution = Lemke::default().solve(&lcp).unwrap();
            (solution.status == LcpStatus::Solved).then(|| {
                v + &pushed + &inverse * directions.transpose() * solution.z.rows(0, k)
            })
        };
        let a = DVector::from_column_slice(&system.velocity);
        let b = DVector::from_column_slice(&other[..a.len()]);
        let (Some(a_plus), Some(b_plus)) = (step(&a), step(&b)) else {
            return Err(TestCaseError::fail("the friction problem always has a solution"));
        };
        let before = energy(&system, &(&a - &b));
        let after = energy(&system, &(a_plus - b_plus));
        prop_assert!(after <= before * (1.0 + 1e-9) + 1e-12, "{before} {after}");
    }

    /// Other coordinates, or another order of the contacts, are the same impact.
    #[test]
    fn outcomes_do_not_depend_on_coordinates(
        (system, caps, k) in any_system(),
        map in entries(36),
    ) {
        let n = system.velocity.len();
        let map = DMatrix::<f64>::from_column_slice(n, n, &map[..n * n])
            + 2.0 * DMatrix::<f64>::identity(n, n);
        let Some(inverse) = map.clone().try_inverse() else {
            return Ok(());
        };
        let onto = |row: &Covector| Covector(inverse.tr_mul(&row.0));
        let velocity = &map * DVector::from_column_slice(&system.velocity);
        let mut other = System::new(
            inverse.tr_mul(system.metric.mass_matrix()) * &inverse,
            system.contacts.clone(),
            velocity.as_slice(),
        );
        for c in &mut other.contacts {
            c.normal = onto(&c.normal);
            c.tangents = c.tangents.iter().map(onto).collect();
        }
        let step = |system: &System| {
            let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
            let stepper = ImpactStepper::new(&contacts, k).unwrap();
            let v = Tangent::from_slice(&system.velocity);
            let step = stepper.step(&v, &caps, None, &mut StepWorkspace::new()).unwrap();
            system.contact_velocity(&step.velocity)
        };
        for (a, b) in step(&system).iter().zip(step(&other)) {
            prop_assert!((a - b).abs() <= 1e-7, "{a} {b}");
        }
        // All outcomes of the contacts in reverse order.
        if k.is_some() || system.contacts.len() > 3 {
            return Ok(());
        }
        let mut reversed = system.clone();
        reversed.contacts.reverse();
        let all = |system: &System| {
            system.pose(|p| all_simultaneous(p).unwrap())
                .iter()
                .map(|s| s.outcome.velocity_plus.0.clone())
                .collect::<Vec<_>>()
        };
        let (one, two) = (all(&system), all(&reversed));
        for (a, b) in [(&one, &two), (&two, &one)] {
            for v in a {
                let nearest = b.iter().map(|w| (v - w).amax()).fold(f64::INFINITY, f64::min);
                prop_assert!(nearest <= 1e-5, "{nearest}");
            }
        }
    }
}

/// One contact in space: small steps on a polygon of 32 directions come near Routh's law; the
/// difference is that of the polygon.
#[test]
fn small_steps_in_space_come_near_routh() {
    // Delassus matrix of the contact as the inverse mass matrix, rows the coordinate axes.
    let inverse = nalgebra::dmatrix![1.8, 0.4, -0.5; 0.4, 2.5, 0.7; -0.5, 0.7, 1.2];
    let contacts = vec![contact(
        &[1.0, 0.0, 0.0],
        &[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]],
        0.3,
    )];
    let system = System::new(inverse.try_inverse().unwrap(), contacts, &[-1.0, 1.0, -0.4]);
    let routh = system.pose(|p| Routh::default().resolve(p).unwrap());
    // An independent implementation.
    assert_all_close(
        routh.velocity_plus.0.as_slice(),
        &[0.0, 0.9145219569, -0.7076470705],
        1e-8,
        "Routh",
    );
    let contacts = ContactSet::new(&system.metric, system.contacts.clone()).unwrap();
    let mut errors = Vec::new();
    for k in [4, 32] {
        let stepper = ImpactStepper::new(&contacts, Some(k)).unwrap();
        let mut workspace = StepWorkspace::new();
        let mut v = Tangent::from_slice(&system.velocity);
        while v.0[0] < -1e-9 {
            v = stepper
                .step(&v, &[2e-3], None, &mut workspace)
                .unwrap()
                .velocity;
        }
        errors.push((v.0 - &routh.velocity_plus.0).amax());
    }
    // An independent implementation found 0.104 and 0.0016.
    assert!(
        (errors[0] - 0.104).abs() <= 0.01 && errors[1] <= 0.003,
        "{errors:?}"
    );
}
