//! The plastic law and event-wide restitution.

use crate::support::common::*;
use carom_contact::{
    Contact, ContactSet, Diagnostics, ImpactError, ImpactLaw, ImpactProblem, ImpactStatus,
};
use carom_impact::{EnergeticRestitution, Plastic, PlasticRule, Propagative, Selection};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector, dvector};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn cone() -> Plastic {
    Plastic::default().with_rule(PlasticRule::Cone)
}

fn projecting(allow_adhesion: bool) -> Plastic {
    Plastic::default().with_rule(PlasticRule::ProjectAll { allow_adhesion })
}

fn adhesive(outcome: &carom_contact::ImpactOutcome) -> &[usize] {
    match &outcome.diagnostics {
        Diagnostics::Plastic { adhesive } => adhesive,
        other => panic!("not a plastic outcome: {other:?}"),
    }
}

/// Two bodies, of which one hits its floor and the other leaves its own: whatever the coordinates, the one that leaves is no
/// part of the impact. It was stopped, too.
#[test]
fn closing_every_contact_leaves_a_body_alone_that_the_impact_does_not_reach() {
    let turns = [0.0, 0.7].map(|angle: f64| {
        let (s, c) = angle.sin_cos();
        nalgebra::dmatrix![c, -s; s, c]
    });
    for turn in turns {
        let mass = &turn * nalgebra::dmatrix![2.0, 0.0; 0.0, 3.0] * turn.transpose();
        let metric = carom_metric::KineticMetric::new(mass).unwrap();
        let row = |k: usize| carom_metric::Covector(turn.column(k).into_owned());
        let contacts = [0, 1].map(|k| carom_contact::Contact::frictionless(row(k)));
        let contacts = carom_contact::ContactSet::new(&metric, contacts.to_vec()).unwrap();
        let velocity = carom_metric::Tangent(&turn * nalgebra::dvector![-1.0, 5.0]);
        let problem = carom_contact::ImpactProblem::new(&contacts, velocity).unwrap();
        let half = Propagative::default()
            .with_restitution(EnergeticRestitution::new(0.5).unwrap())
            .with_plastic(projecting(true).rule);
        let laws: [(&dyn carom_contact::ImpactLaw, f64); 2] =
            [(&projecting(true), 0.0), (&half, 0.5)];
        for (law, restitution) in laws {
            let outcome = law.resolve(&problem).unwrap();
            let after = turn.tr_mul(&outcome.velocity_plus.0);
            assert!((after - nalgebra::dvector![restitution, 5.0]).norm() <= 1e-14);
            assert!((outcome.impulses[0] - 2.0 * (1.0 + restitution)).abs() <= 1e-14);
            assert!(outcome.impulses[1].abs() <= 1e-14);
        }
    }
}

/// Seghete & Murphey, Eq. (10b), asks for both contacts to close without pulling, which a spinning
/// square block cannot do.
#[test]
fn projecting_a_spinning_block_onto_the_floor_pulls_on_the_rising_corner() {
    let system = block(0.5, 0.5);
    let velocity = [0.0, -0.2, 1.0];
    let b = system.unit_velocities(&velocity);
    assert_all_close(
        &b,
        &[-0.442718872423573, 0.189736659610103],
        1e-12,
        "contact velocities",
    );

    let error = system
        .try_resolve(&projecting(false), &velocity)
        .unwrap_err();
    assert_eq!(error, ImpactError::AdhesiveImpulse { contacts: vec![1] });
    assert_eq!(error.kind(), "adhesive-impulse");

    let outcome = system.resolve(&projecting(true), &velocity);
    assert_all_close(plus(&outcome), &[0.0; 3], 1e-15, "velocity");
    assert_eq!(adhesive(&outcome), [1]);
    let norm = 2.5f64.sqrt();
    let on_unit_normals: Vec<f64> = outcome.impulses.iter().map(|x| x * norm).collect();
    let expected = [0.421637021355784, -0.105409255338946];
    assert_all_close(
        &on_unit_normals,
        &expected,
        1e-12,
        "impulses on unit normals",
    );
    assert_close(
        outcome.audit.adhesion_residual,
        0.105409255338946 / {
            let [_, y, spin] = velocity;
            (y * y + spin * spin / 6.0).sqrt()
        },
        1e-12,
        "adhesion",
    );
}

#[test]
fn the_cone_lets_the_rising_corner_go() {
    let system = block(0.5, 0.5);
    let outcome = system.resolve(&cone(), &[0.0, -0.2, 1.0]);
    let expected = [0.0, 0.08, 0.0266666666666667];
    assert_all_close(&system.momentum(&outcome), &expected, 1e-12, "momentum");
    assert_eq!(outcome.impulses[1], 0.0);
    assert!(adhesive(&outcome).is_empty());
    assert_close(-outcome.audit.energy_change_j(), 0.098, 1e-12, "loss");
}

#[test]
fn the_elastic_and_the_restituted_spinning_block() {
    let system = block(0.5, 0.5);
    let outcome = system.resolve(&Propagative::default(), &[0.0, -0.2, 1.0]);
    assert_eq!(sequence(&outcome), [0]);
    let expected = [0.0, 0.36, -0.113333333333333];
    assert_all_close(
        &system.momentum(&outcome),
        &expected,
        1e-12,
        "elastic momentum",
    );
    let restitution = EnergeticRestitution::new(0.6).unwrap();
    let outcome = system.resolve(
        &Propagative::default().with_restitution(restitution),
        &[0.0, -0.2, 1.0],
    );
    let expected = [0.0, 0.248, -0.0573333333333333];
    assert_all_close(
        &system.momentum(&outcome),
        &expected,
        1e-12,
        "momentum at R = 0.6",
    );
    assert_close(details(&outcome).alpha, 0.6, 1e-12, "alpha");
}

/// The plastic outcome leaves a contact open that the elastic chain uses: alpha is below R.
#[test]
fn an_open_plastic_contact_puts_alpha_below_restitution() {
    let system = plane(0.6);
    let law = Propagative::default()
        .with_selection(Selection::LeastApproaching)
        .with_restitution(EnergeticRestitution::new(0.5).unwrap());
    let elastic = law.clone().with_restitution(EnergeticRestitution::ELASTIC);
    let velocity = [-1.0, 0.3];
    let outcome = system.resolve(&elastic, &velocity);
    assert_eq!(sequence(&outcome), [1, 0]);
    assert_all_close(plus(&outcome), &[0.568, 0.876], 1e-12, "elastic");
    assert_all_close(
        plus(&system.resolve(&cone(), &velocity)),
        &[0.0, 0.3],
        1e-12,
        "plastic",
    );
    let outcome = system.resolve(&law, &velocity);
    assert_close(details(&outcome).alpha, 0.408069526948717, 1e-11, "alpha");
    let expected = [0.231783491306871, 0.535048047522461];
    assert_all_close(plus(&outcome), &expected, 1e-11, "velocity");
}

#[test]
fn projection_that_pushes_everywhere_is_the_cone_projection() {
    let system = plane(-0.3);
    for velocity in [[-0.9, -0.5], [-0.2, -0.95], [-1.0, -1.0]] {
        let cone = system.resolve(&cone(), &velocity);
        let all = system.resolve(&projecting(false), &velocity);
        assert_all_close(plus(&all), plus(&cone), 1e-14, "velocity");
        let (all, cone) = (all.impulses.as_slice(), cone.impulses.as_slice());
        assert_all_close(all, cone, 1e-14, "impulses");
    }
}

#[test]
fn restitution_of_an_adhesive_projection_is_refused_or_allowed_by_its_rule() {
    let system = block(0.5, 0.5);
    let velocity = [0.0, -0.2, 1.0];
    let restitution = EnergeticRestitution::new(0.6).unwrap();
    let law = |rule| {
        Propagative::default()
            .with_restitution(restitution)
            .with_plastic(rule)
    };
    let error = system
        .try_resolve(&law(projecting(false).rule), &velocity)
        .unwrap_err();
    assert_eq!(error.kind(), "adhesive-impulse");
    let outcome = system.resolve(&law(projecting(true).rule), &velocity);
    assert_close(details(&outcome).alpha, 0.6, 1e-12, "alpha");
    assert_eq!(details(&outcome).adhesive, [1]);
    // Elastic events do not ask for the plastic outcome.
    let elastic = Propagative::default().with_plastic(projecting(false).rule);
    assert!(system.try_resolve(&elastic, &velocity).is_ok());
}

#[test]
fn a_plate_on_four_legs_stops_flat_although_its_normals_depend() {
    let system = plate(1.0, 2.0);
    let velocity = system.velocity(&[-1.0, 0.2, -0.1]);
    for law in [cone(), projecting(true)] {
        let outcome = system.resolve(&law, &velocity);
        assert_all_close(plus(&outcome), &[0.0; 3], 1e-14, "velocity");
        assert!(outcome.audit.momentum_residual < 1e-14);
    }
    assert_eq!(
        system.resolve(&cone(), &velocity).audit.adhesion_residual,
        0.0
    );
}

#[test]
fn jammed_contacts_stop_plastically() {
    let system = System::diagonal(&[1.0, 1.0], vec![vec![1.0, 0.0], vec![-1.0, 0.0]]);
    for law in [cone(), projecting(true)] {
        let outcome = system.resolve(&law, &[-2.0, 3.0]);
        assert_all_close(plus(&outcome), &[0.0, 3.0], 1e-15, "velocity");
    }
    assert_all_close(
        plus(&system.resolve(&cone(), &[2.0, 3.0])),
        &[0.0, 3.0],
        1e-15,
        "velocity",
    );
}

#[test]
fn a_contact_given_twice_stops_with_half_the_impulse_each() {
    let mut system = chain(&[1.0, 3.0]);
    system.normals.push(system.normals[0].clone());
    for law in [cone(), projecting(false)] {
        let outcome = system.resolve(&law, &[1.0, 0.0]);
        assert_all_close(plus(&outcome), &[0.25, 0.25], 1e-15, "velocity");
        assert_all_close(
            outcome.impulses.as_slice(),
            &[0.375, 0.375],
            1e-15,
            "impulses",
        );
    }
}

/// The part of the velocity in the span of the rows, in which the law is solved, is fast where a tangent joins a heavy body.
/// The change of the velocity keeps its digits.
#[test]
fn a_tangent_to_a_heavy_body_takes_no_digits_from_the_momentum() {
    let metric = KineticMetric::new(DMatrix::from_diagonal(&dvector![1.0, 1.0, 1e14])).unwrap();
    let contact = Contact::new(Covector::from_slice(&[0.6, 0.8, 0.0]))
        .with_tangents(vec![Covector::from_slice(&[-0.8, 0.6, 1e4])]);
    let contacts = ContactSet::new(&metric, vec![contact]).unwrap();
    let before = dvector![0.3, -1.1, -18.0];
    let problem = ImpactProblem::new(&contacts, Tangent(before.clone())).unwrap();
    let outcome = Plastic::default().resolve(&problem).unwrap();
    let impulse = outcome.impulses[0];
    let left = &outcome.velocity_plus.0 - before - dvector![0.6, 0.8, 0.0] * impulse;
    assert!(left.amax() <= 4.0 * f64::EPSILON, "{left:e}");
}

#[test]
fn separating_contacts_are_left_alone() {
    for law in [cone(), projecting(false)] {
        let outcome = chain(&[1.0, 2.0, 3.0]).resolve(&law, &[-1.0, 0.0, 0.5]);
        assert_eq!(outcome.status, ImpactStatus::Separating);
        assert_eq!(plus(&outcome), [-1.0, 0.0, 0.5]);
        let outcome = System::diagonal(&[1.0], vec![]).resolve(&law, &[5.0]);
        assert_eq!(plus(&outcome), [5.0]);
    }
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

prop_compose! {
    /// Any contacts in any number, jammed and dependent ones included.
    fn any_system()(n in 1usize..=5, m in 1usize..=7)(
        mass in prop::collection::vec(-1.0..1.0f64, n * n),
        normals in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, n), m),
        velocity in prop::collection::vec(-1.0..1.0f64, n),
    ) -> (System, Vec<f64>) {
        (System::new(mass_from(velocity.len(), &mass), normals), velocity)
    }
}

proptest! {
    #![proptest_config(config())]

    /// Moreau: impulses push, velocities open, and only one of the two at each contact.
    #[test]
    fn the_cone_outcome_is_complementary((system, velocity) in any_system()) {
        let outcome = system.resolve(&cone(), &velocity);
        let norm = (2.0 * outcome.audit.energy_minus_j).sqrt();
        let after = system.unit_velocities(plus(&outcome));
        for (i, (b, u)) in after.iter().zip(&system.normals).enumerate() {
            let impulse = outcome.impulses[i] * system.metric.norm(u).unwrap();
            prop_assert!(impulse >= 0.0, "impulse {}", impulse);
            prop_assert!(*b >= -1e-10 * norm, "velocity {}", b);
            prop_assert!((impulse * b).abs() <= 1e-10 * norm * norm);
        }
        prop_assert!(outcome.audit.momentum_residual <= 1e-10);
    }

    /// The square of the momentum splits into what stays and what is lost.
    #[test]
    fn the_cone_outcome_is_a_projection((system, velocity) in any_system()) {
        let outcome = system.resolve(&cone(), &velocity);
        let energy = |v: &DVector<f64>| {
            system.metric.energy(&carom_metric::Tangent(v.clone())).unwrap()
        };
        let before = DVector::from_column_slice(&velocity);
        let after = &outcome.velocity_plus.0;
        let total = energy(&before);
        let split = energy(after) + energy(&(after - &before));
        prop_assert!((total - split).abs() <= 1e-10 * total, "{} {}", total, split);

        let again = system.resolve(&cone(), plus(&outcome));
        let moved = (&again.velocity_plus.0 - after).norm();
        prop_assert!(moved <= 1e-10 * before.norm(), "moved by {}", moved);
    }

    /// No feasible velocity is nearer, among random ones made feasible by an elastic or plastic
    /// impact of their own and mixed with the outcome.
    #[test]
    fn no_feasible_velocity_is_nearer_than_the_cone_outcome(
        (system, velocity) in any_system(),
        other in prop::collection::vec(-1.0..1.0f64, 5),
        mix in 0.001..1.0f64,
    ) {
        let outcome = system.resolve(&cone(), &velocity);
        let feasible = system.resolve(&cone(), &other[..velocity.len()]);
        let before = DVector::from_column_slice(&velocity);
        let after = &outcome.velocity_plus.0;
        let candidate = after * (1.0 - mix) + &feasible.velocity_plus.0 * mix;
        let distance = |v: &DVector<f64>| {
            system.metric.energy(&carom_metric::Tangent(v - &before)).unwrap()
        };
        prop_assert!(distance(after) <= distance(&candidate) + 1e-10);
    }

    /// The velocity does not depend on the order in which dependent contacts are listed.
    #[test]
    fn the_cone_outcome_does_not_depend_on_the_order_of_contacts(
        (system, velocity) in any_system(),
        turn in 0usize..7,
    ) {
        let mut turned = system.clone();
        let m = turned.normals.len();
        turned.normals.rotate_left(turn % m);
        let (a, b) = (system.resolve(&cone(), &velocity), turned.resolve(&cone(), &velocity));
        let off = (&a.velocity_plus.0 - &b.velocity_plus.0).norm();
        prop_assert!(off <= 1e-10, "off by {}", off);
    }

    /// Closing every contact leaves none moving, whether or not it pulls.
    #[test]
    fn the_adhesive_outcome_stops_every_contact((system, velocity) in any_system()) {
        let outcome = system.resolve(&projecting(true), &velocity);
        if outcome.status == ImpactStatus::Resolved {
            for b in system.unit_velocities(plus(&outcome)) {
                prop_assert!(b.abs() <= 1e-10, "velocity {}", b);
            }
            prop_assert!(outcome.audit.momentum_residual <= 1e-10);
            prop_assert!(outcome.audit.energy_change_j() <= 1e-12);
        }
    }
}
