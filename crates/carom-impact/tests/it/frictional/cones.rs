//! Round friction cones in space.

use crate::support::systems::*;
use carom_contact::{
    ConeDiagnostics, Diagnostics, FrictionCone, ImpactError, ImpactLaw, ImpactOutcome,
    PolygonDiagnostics,
};
use carom_impact::frictional::{
    AnitescuPotra, BranchPolicy, ConeSelection, ContactMode, MoreauNewton, Sampler, Sequential,
    SetValued,
};
use nalgebra::{DMatrix, DVector};

/// A box of 1 × 1.5 × 2 m and 1 kg on four corners; velocities are (v, ω).
fn slab(velocity: &[f64], friction: f64) -> System {
    let (x, y, z) = (1.0f64, 1.5f64, 2.0f64);
    let inertia = [y * y + z * z, x * x + z * z, x * x + y * y].map(|s| s / 12.0);
    let mass = DVector::from_vec(vec![1.0, 1.0, 1.0, inertia[0], inertia[1], inertia[2]]);
    let corner = |x: f64, y: f64| {
        let z = -1.0;
        contact(
            &[0.0, 0.0, 1.0, y, -x, 0.0],
            &[&[1.0, 0.0, 0.0, 0.0, z, -y], &[0.0, 1.0, 0.0, -z, 0.0, x]],
            friction,
        )
    };
    let corners = vec![
        corner(-0.5, -0.75),
        corner(0.5, -0.75),
        corner(-0.5, 0.75),
        corner(0.5, 0.75),
    ];
    System::new(DMatrix::from_diagonal(&mass), corners, velocity)
}

fn cone(outcome: &ImpactOutcome) -> &ConeDiagnostics {
    match &outcome.diagnostics {
        Diagnostics::Cone(cone) => cone,
        other => panic!("no round cones: {other:?}"),
    }
}

fn polygon(outcome: &ImpactOutcome) -> PolygonDiagnostics {
    match &outcome.diagnostics {
        Diagnostics::Complementarity {
            polygon: Some(polygon),
            ..
        } => *polygon,
        other => panic!("no polygon: {other:?}"),
    }
}

fn with(friction_cone: FrictionCone) -> AnitescuPotra {
    AnitescuPotra::default().with_friction_cone(friction_cone)
}

#[test]
fn a_sliding_box_keeps_its_direction() {
    let system = slab(&[1.4, 0.67, -0.5, 0.0, 0.0, 0.0], 0.5);
    let outcome = system.pose(|p| AnitescuPotra::default().resolve(p).unwrap());
    let expected = [1.1744937108, 0.562079133, 0.0, 0.0, 0.0, 0.0];
    assert_all_close(outcome.velocity_plus.0.as_slice(), &expected, 1e-9, "v+");
    assert!(cone(&outcome).residual <= 1e-12);
    assert!(cone(&outcome).modes.contains(&ContactMode::Slide));
}

#[test]
fn a_spinning_box_has_a_family_of_outcomes_and_an_even_member() {
    let system = slab(&[1.4, 0.7, -0.5, 0.1, -0.2, 2.0], 0.3);
    let outcome = system.pose(|p| AnitescuPotra::default().resolve(p).unwrap());
    let expected = [1.3108960723, 0.6772774424, 0.0, 0.0, 0.0, 1.6647316547];
    assert_all_close(outcome.velocity_plus.0.as_slice(), &expected, 1e-8, "v+");
    assert!(cone(&outcome).family >= 1);
    assert_eq!(cone(&outcome).selection, ConeSelection::Even);
}

#[test]
fn a_box_that_sticks_ends_at_rest_on_its_corners() {
    let system = slab(&[0.4, 0.1, -0.5, 0.2, 0.1, 0.3], 0.6);
    let outcome = system.pose(|p| AnitescuPotra::default().resolve(p).unwrap());
    let expected = [0.115, 0.0, 0.0575, 0.0, 0.115, 0.0];
    assert_all_close(outcome.velocity_plus.0.as_slice(), &expected, 1e-8, "v+");
}

/// The polygon's error falls with its number of directions, and the estimate of it is right.
#[test]
fn a_polygon_tells_how_far_it_is_from_the_cone() {
    let system = slab(&[1.4, 0.67, -0.5, 0.0, 0.0, 0.0], 0.5);
    let round = system.pose(|p| AnitescuPotra::default().resolve(p).unwrap());
    let speed = DVector::from_column_slice(&system.velocity).norm();
    let mut errors = Vec::new();
    for k in [4, 8, 256] {
        let outcome = system.pose(|p| with(FrictionCone::Polygon(k)).resolve(p).unwrap());
        let told = polygon(&outcome);
        let error = told.cone_error.unwrap();
        // Nothing turns: the kinetic norm is the Euclidean one.
        let off = (&outcome.velocity_plus.0 - &round.velocity_plus.0).norm() / speed;
        assert_all_close(&[error], &[off], 1e-9, "cone error");
        assert!(told.cone_residual > 0.0);
        errors.push(error);
    }
    assert!((errors[0] - 0.068).abs() <= 0.002, "{errors:?}");
    assert!(errors[1] < errors[0] && errors[2] < 1e-3, "{errors:?}");
}

#[test]
fn without_restitution_moreau_is_anitescu_and_potra() {
    let mut system = slab(&[1.4, 0.7, -0.5, 0.1, -0.2, 2.0], 0.3);
    let one = system.pose(|p| AnitescuPotra::default().resolve(p).unwrap());
    let two = system.pose(|p| MoreauNewton::default().resolve(p).unwrap());
    assert_eq!(one.velocity_plus, two.velocity_plus);
    for contact in &mut system.contacts {
        contact.restitution = 0.5;
    }
    let outcome = system.pose(|p| MoreauNewton::default().resolve(p).unwrap());
    assert!(cone(&outcome).residual <= 1e-12);
    let before = DVector::from_column_slice(&system.velocity);
    for contact in &system.contacts {
        let minus = contact.normal.0.dot(&before);
        let plus = contact.normal.0.dot(&outcome.velocity_plus.0);
        assert!(plus >= -0.5 * minus - 1e-12);
    }
}

#[test]
fn one_contact_after_the_other_uses_round_cones_too() {
    // A point mass that hits a floor and slides: the friction is against the velocity.
    let floor = contact(&[0.0, 0.0, 1.0], &[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0]], 0.5);
    let system = System::new(DMatrix::identity(3, 3), vec![floor], &[0.6, 0.8, -1.0]);
    let outcome = system.pose(|p| Sequential::default().resolve(p).unwrap());
    assert_all_close(
        outcome.velocity_plus.0.as_slice(),
        &[0.3, 0.4, 0.0],
        1e-14,
        "v+",
    );
}

/// Members of the set: dissipative, feasible, and friction in the round cone.
#[test]
fn samples_with_round_cones_are_outcomes() {
    for branch in [
        BranchPolicy::Fixed,
        BranchPolicy::RandomCovering { spread: 6.0 },
    ] {
        let system = slab(&[1.4, 0.7, -0.5, 0.3, -0.2, 2.0], 0.4);
        let law = SetValued::default().with_samples(100).with_branch(branch);
        system.pose(|problem| {
            let sampler = Sampler::new(problem, &law).unwrap();
            let mut draw = carom_impact::internal::Draw::default();
            let mut ended = 0;
            for sample in 0..100 {
                sampler.draw(sample, &mut draw).unwrap();
                if !draw.is_ended {
                    continue;
                }
                ended += 1;
                let audit = sampler.outcome(&draw).unwrap().audit;
                assert!(audit.energy_change_j() <= 1e-12);
                assert!(audit.penetration_residual <= 1e-9);
                assert!(audit.friction_residual <= 1e-10, "{audit:?}");
            }
            assert!(ended >= 95, "{ended}");
        });
    }
}

/// In the plane the shape of the cone changes no bit.
#[test]
fn planar_contacts_do_not_know_the_shape() {
    for system in [rocking_block(), compass_gait(), box_and_wall()] {
        let round = system.pose(|p| AnitescuPotra::default().resolve(p).unwrap());
        let polygon = system.pose(|p| with(FrictionCone::Polygon(2)).resolve(p).unwrap());
        assert_eq!(round, polygon);
        let refused = system.pose(|p| with(FrictionCone::Polygon(4)).resolve(p).unwrap_err());
        assert!(matches!(refused, ImpactError::InvalidOption { .. }));
    }
}
