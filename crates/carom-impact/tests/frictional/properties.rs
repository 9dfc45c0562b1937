//! Properties of steps and laws on random systems, in the plane and in space.

use crate::systems::*;
use carom_impact::frictional::{
    AnitescuPotra, Draw, ImpactStepper, Sampler, Sequential, SetValued, StepWorkspace,
    TerminationBounds, all_simultaneous,
};
use carom_impact::{ContactSet, ImpactLaw, ImpactProblem};
use carom_metric::Tangent;
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
            let simultaneous = AnitescuPotra { friction_directions: k };
            let sequential = Sequential { friction_directions: k, ..Sequential::default() };
            for law in [&simultaneous as &dyn ImpactLaw, &sequential] {
                let outcome = match law.resolve(problem) {
                    // A jam may bounce between its contacts without end.
                    Err(error) if error.kind() == "limit-exceeded" => continue,
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
        let law = SetValued { friction_directions: k, seed, max_steps: 200, ..SetValued::default() };
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
        let law = SetValued { seed, ..SetValued::default() };
        system.pose(|problem: &ImpactProblem<'_>| {
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
}
