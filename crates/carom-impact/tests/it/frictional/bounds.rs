//! Constants of the termination theorem.

use crate::support::systems::*;
use carom_contact::ImpactError;
use carom_impact::frictional::{Sampler, SetValued, TerminationBounds};
use carom_impact::internal::Draw;
use nalgebra::DMatrix;

#[track_caller]
fn assert_relative(actual: f64, expected: f64, what: &str) {
    let off = (actual / expected - 1.0).abs();
    // The reference prints ten digits.
    assert!(off <= 1e-8, "{what}: {actual}, expected {expected}");
}

/// Reference values of an independent implementation, in the order of the fields.
#[test]
fn the_constants_of_four_systems() {
    let cases = [
        (
            "block",
            rocking_block(),
            [1.0, 0.8858893836, 1.0, 64.0, 40.0, 22.736563391],
        ),
        (
            "compass",
            compass_gait(),
            [
                std::f64::consts::FRAC_1_SQRT_2,
                1.0985320791,
                2.1162198289,
                1036.0,
                68.0,
                669.14367411,
            ],
        ),
        (
            "box",
            box_and_wall(),
            [
                0.5723348421,
                3.4944578820,
                1.4860934593,
                24.0,
                12.0,
                32.494755929,
            ],
        ),
        (
            "disks",
            disk_stack(1.0),
            [
                0.3461041425,
                5.7786075179,
                2.8675906631,
                100.0,
                72.0,
                89.955831739,
            ],
        ),
    ];
    for (name, system, [rho, length, r, c, c_m, psi]) in cases {
        let bounds = system.pose(|p| TerminationBounds::new(p, system.impulse_step, None).unwrap());
        assert_relative(bounds.pointedness, rho, name);
        assert_relative(bounds.inclusion_impulse, length, name);
        assert_relative(bounds.euclidean_r, r, name);
        assert_eq!((bounds.euclidean_c, bounds.kinetic_c), (c, c_m), "{name}");
        assert_relative(bounds.psi, psi, name);
    }
}

/// A point between two walls: the impulses of both can balance each other.
#[test]
fn a_jam_has_no_bound_and_its_samples_stop_at_the_limit() {
    let t = [0.0, 1.0, 0.2];
    let walls = vec![
        contact(&[1.0, 0.0, 0.0], &[&t], 0.5),
        contact(&[-1.0, 0.0, 0.0], &[&[0.0, 1.0, -0.2]], 0.5),
    ];
    let system = System::new(DMatrix::identity(3, 3), walls, &[-1.0, 0.3, 0.1]);
    let error = system.pose(|p| TerminationBounds::new(p, 1.0, None).unwrap_err());
    assert_eq!(error, ImpactError::NotPointed);
    // The steps themselves still work.
    let law = SetValued::default()
        .with_impulse_step(Some(1.0))
        .with_max_steps(20);
    system.pose(|problem| {
        let sampler = Sampler::new(problem, &law).unwrap();
        let mut draw = Draw::default();
        for sample in 0..64 {
            sampler.draw(sample, &mut draw).unwrap();
            assert!(draw.steps <= 20);
        }
    });
}

#[test]
fn a_bound_needs_a_step() {
    for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = rocking_block().pose(|p| TerminationBounds::new(p, h, None).unwrap_err());
        assert_eq!(error.kind(), "invalid-option");
    }
}
