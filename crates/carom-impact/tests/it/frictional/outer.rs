//! Proven bounds of all outcomes.

use super::systems::*;
use carom_impact::frictional::{
    AnitescuPotra, BoundCertificate, BoundMethod, Draw, FrictionCone, OuterBounds, Relaxation,
    Sampler, Sequential, SetValued, outer_bound,
};
use carom_impact::{ImpactError, ImpactLaw, ImpactProblem, Routh};
use nalgebra::{DMatrix, DVector};

/// The rows of every contact in order, normal first.
fn rows(system: &System) -> Vec<Vec<f64>> {
    let contacts = system.contacts.iter();
    contacts
        .flat_map(|c| std::iter::once(&c.normal).chain(&c.tangents))
        .map(|row| row.0.as_slice().to_vec())
        .collect()
}

/// Every proof holds, and proves no less than the bound told.
fn check(problem: &ImpactProblem<'_>, direction: &[f64], relaxation: Relaxation) -> [f64; 2] {
    let bound = outer_bound(problem, direction, relaxation).unwrap();
    let opposite: Vec<f64> = direction.iter().map(|c| -c).collect();
    for (proofs, direction, told) in [
        (&bound.max, direction, bound.outer[1]),
        (&bound.min, &opposite[..], -bound.outer[0]),
    ] {
        assert_eq!(proofs.len(), problem.contacts().len());
        for (last, proof) in proofs.iter().enumerate() {
            assert_eq!(proof.last(), last);
            let proven = proof.verify(problem, direction).unwrap().unwrap();
            assert!(proven <= told, "{proven} {told}");
        }
    }
    bound.outer
}

/// Samples of all kinds stay inside.
fn samples_stay_inside(system: &System, relaxation: Relaxation) {
    system.pose(|problem| {
        let law = SetValued {
            impulse_step: Some(system.impulse_step),
            samples: 200,
            ..SetValued::default()
        };
        let bounds = OuterBounds::new(problem).unwrap();
        let rows = rows(system);
        let outer: Vec<[f64; 2]> = rows
            .iter()
            .map(|row| bounds.bound(row, relaxation).unwrap().outer)
            .collect();
        let sampler = Sampler::new(problem, &law).unwrap();
        let (mut draw, mut found) = (Draw::default(), Vec::new());
        for sample in 0..200 {
            sampler.draw(sample, &mut draw).unwrap();
            if draw.is_ended {
                sampler.contact_velocity(&draw, &mut found);
                for (x, [low, high]) in found.iter().zip(&outer) {
                    assert!(*x >= low - 1e-9 && *x <= high + 1e-9, "{x} in {low} {high}");
                }
            }
        }
    });
}

/// A body that leaves the floor beside one that lands: its contact cannot close last, and must not
/// widen the bounds of the other's.
#[test]
fn a_contact_that_cannot_close_last_widens_no_bound() {
    let corner = |first: usize, x: f64| {
        let (mut normal, mut tangent) = ([0.0; 6], [0.0; 6]);
        normal[first + 1] = 1.0;
        normal[first + 2] = x;
        tangent[first] = 1.0;
        tangent[first + 2] = 0.5;
        contact(&normal, &[&tangent], 0.4)
    };
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 0.2, 1.0, 1.0, 0.2]));
    let velocity = [0.3, -1.0, 0.5, 0.2, 2.0, 0.1];
    let contacts = vec![corner(0, -0.5), corner(0, 0.5), corner(3, 0.4)];
    let system = System::new(mass, contacts, &velocity);
    system.pose(|problem| {
        for row in rows(&system).into_iter().take(4) {
            check(problem, &row, Relaxation::Cone);
            let bound = outer_bound(problem, &row, Relaxation::Cone).unwrap();
            let proven = |proof: &BoundCertificate| proof.verify(problem, &row).unwrap().unwrap();
            let proven: Vec<f64> = bound.max.iter().map(proven).collect();
            assert!(proven[2] < proven[0].max(proven[1]), "{proven:?}");
        }
    });
}

/// Upper bounds of the normal velocities by Theorem 1, against an independent solution of the conic
/// programs.
#[test]
fn theorem_one_bounds_planar_systems() {
    for (system, expected) in [
        (rocking_block(), [0.5425, 0.5425]),
        (compass_gait(), [0.9881, 1.0143]),
        (box_and_wall(), [1.2234, 1.2234]),
    ] {
        system.pose(|problem| {
            for (contact, expected) in system.contacts.iter().zip(expected) {
                let outer = check(problem, contact.normal.0.as_slice(), Relaxation::Cone);
                assert!((outer[1] - expected).abs() <= 6e-5, "{outer:?} {expected}");
                assert!(outer[0] <= 1e-6);
            }
        });
        samples_stay_inside(&system, Relaxation::Cone);
    }
}

/// Theorem 2 is tighter: for the rocking block by a factor of three, and it does not slide.
#[test]
fn theorem_two_bounds_the_rocking_block() {
    let system = rocking_block();
    system.pose(|problem| {
        for contact in &system.contacts {
            let normal = check(problem, contact.normal.0.as_slice(), Relaxation::Moment);
            assert!(normal[1] <= 0.1910, "{normal:?}");
            let slide = check(
                problem,
                contact.tangents[0].0.as_slice(),
                Relaxation::Moment,
            );
            assert!(slide[0] >= -1e-3 && slide[1] <= 1e-3, "{slide:?}");
        }
    });
    samples_stay_inside(&system, Relaxation::Moment);
}

#[test]
fn theorem_two_bounds_other_planar_systems() {
    for (system, expected) in [
        (compass_gait(), [0.8066, 0.7065]),
        (box_and_wall(), [0.3488, 1.2191]),
    ] {
        system.pose(|problem| {
            for (contact, expected) in system.contacts.iter().zip(expected) {
                let normal = contact.normal.0.as_slice();
                let bound = outer_bound(problem, normal, Relaxation::Moment).unwrap();
                assert!(
                    bound.outer[1] <= expected * 1.02 + 1e-3,
                    "{bound:?} {expected}"
                );
            }
        });
        samples_stay_inside(&system, Relaxation::Moment);
    }
}

#[test]
fn one_contact_has_one_outcome() {
    let floor = contact(&[0.0, 1.0, 0.3], &[&[1.0, 0.0, 0.5]], 0.4);
    let system = System::new(DMatrix::identity(3, 3), vec![floor], &[0.7, -1.0, 0.2]);
    system.pose(|problem| {
        let outcome = Routh::default().resolve(problem).unwrap();
        for k in 0..3 {
            let mut c = [0.0; 3];
            c[k] = 1.0;
            let bound = outer_bound(problem, &c, Relaxation::Cone).unwrap();
            assert_eq!(bound.method, BoundMethod::Exact);
            for x in bound.outer {
                let expected = outcome.velocity_plus.0[k];
                assert_all_close(&[x], &[expected], 1e-12, "Routh's outcome");
            }
        }
    });
}

/// Two frictionless contacts: the ends of the set are the two orders of the pushes and both at once.
#[test]
fn two_frictionless_contacts_are_known_exactly() {
    for (second, velocity) in [
        ([0.8, 0.6], [-1.0, -0.5]),
        ([0.8, 0.6], [-1.0, 0.9]),
        ([0.3, 0.95], [-1.0, -1.2]),
        ([-0.5, 0.8], [-1.0, -0.5]),
        ([0.9, 0.43], [-0.2, -3.0]),
    ] {
        let wall = |n: &[f64; 2]| contact(n, &[], 0.0);
        let contacts = vec![wall(&[1.0, 0.0]), wall(&second)];
        let system = System::new(DMatrix::identity(2, 2), contacts, &velocity);
        system.pose(|problem| {
            let order = |order: [usize; 2]| Sequential {
                order: order.to_vec(),
                ..Sequential::default()
            };
            let ends = [
                order([0, 1]).resolve(problem).unwrap(),
                order([1, 0]).resolve(problem).unwrap(),
                AnitescuPotra::default().resolve(problem).unwrap(),
            ];
            for angle in 0..8 {
                let (sin, cos) = f64::from(angle).sin_cos();
                let bound = outer_bound(problem, &[cos, sin], Relaxation::Cone).unwrap();
                assert_eq!(bound.method, BoundMethod::Exact);
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                for end in &ends {
                    let x = cos * end.velocity_plus.0[0] + sin * end.velocity_plus.0[1];
                    (low, high) = (f64::min(low, x), f64::max(high, x));
                }
                assert_all_close(&bound.outer, &[low, high], 1e-9, "ends");
            }
        });
    }
}

/// In space: a box on four corners, with round cones.
#[test]
fn a_box_in_space_stays_inside_its_bounds() {
    let (x, y, z) = (1.0f64, 1.5f64, 2.0f64);
    let inertia = [y * y + z * z, x * x + z * z, x * x + y * y].map(|s| s / 12.0);
    let mass = DVector::from_vec(vec![1.0, 1.0, 1.0, inertia[0], inertia[1], inertia[2]]);
    let corner = |x: f64, y: f64| {
        let z = -1.0;
        contact(
            &[0.0, 0.0, 1.0, y, -x, 0.0],
            &[&[1.0, 0.0, 0.0, 0.0, z, -y], &[0.0, 1.0, 0.0, -z, 0.0, x]],
            0.4,
        )
    };
    let corners = [(-0.5, -0.75), (0.5, -0.75), (-0.5, 0.75), (0.5, 0.75)];
    let corners = corners.map(|(x, y)| corner(x, y)).to_vec();
    let mut system = System::new(
        DMatrix::from_diagonal(&mass),
        corners,
        &[0.4, 0.3, -1.0, 0.3, -0.2, 1.0],
    );
    system.impulse_step = 0.3;
    system.pose(|problem| {
        for row in rows(&system).iter().take(3) {
            check(problem, row, Relaxation::Cone);
        }
        let refused = outer_bound(problem, &[1.0; 6], Relaxation::Moment).unwrap_err();
        assert!(matches!(refused, ImpactError::InvalidOption { .. }));
    });
    samples_stay_inside(&system, Relaxation::Cone);
}

#[test]
fn a_proof_with_a_wrong_sign_proves_nothing() {
    let system = rocking_block();
    system.pose(|problem| {
        let direction = system.contacts[0].normal.0.as_slice();
        let bound = outer_bound(problem, direction, Relaxation::Cone).unwrap();
        let BoundCertificate::Cone(cone) = &bound.max[0] else {
            panic!("{bound:?}");
        };
        let mut wrong = cone.clone();
        wrong.nu[1] = -0.1;
        let refused = BoundCertificate::Cone(wrong).verify(problem, direction);
        assert_eq!(refused.unwrap(), None);
        let mut wrong = cone.clone();
        wrong.w[1] -= 10.0;
        let refused = BoundCertificate::Cone(wrong).verify(problem, direction);
        assert_eq!(refused.unwrap(), None);
    });
}

#[test]
fn a_direction_has_the_length_of_the_velocity() {
    let system = rocking_block();
    system.pose(|problem| {
        for direction in [&[1.0, 0.0][..], &[0.0, 0.0, 0.0], &[f64::NAN, 0.0, 1.0]] {
            let error = outer_bound(problem, direction, Relaxation::Cone).unwrap_err();
            assert!(error.to_string().contains("bounds"), "{error}");
        }
        let cone = FrictionCone::Round;
        assert_eq!(cone.directions(), None);
    });
}
