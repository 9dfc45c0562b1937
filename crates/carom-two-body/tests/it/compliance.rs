//! Contacts with a tangential spring.

use super::random::{Stream, impacts, solve};
use carom_two_body::CompliantPhase::{Slip, Stick};
use carom_two_body::TwoBodyError;
use carom_two_body::{
    CompliantImpact, ContactInertia, ImpactOptions, Recompression, compliant_impact,
};
use nalgebra::{Matrix3, Rotation3, Vector3};

fn icosahedron() -> ContactInertia {
    ContactInertia::from_matrix(&Matrix3::new(
        11.5984, -0.910367, 2.44236, -0.910367, 9.90134, 1.95747, 2.44236, 1.95747, 2.59042,
    ))
    .unwrap()
}

const VELOCITY: Vector3<f64> = Vector3::new(-0.261976, 0.386329, -0.077174);

fn collide(w: &ContactInertia, v: &Vector3<f64>, mu: f64, e: f64, ratio: f64) -> CompliantImpact {
    compliant_impact(w, v, mu, e, ratio).unwrap().unwrap()
}

/// Numbers of an independent program, to the digits that it gave.
#[test]
fn the_icosahedron_on_springs() {
    for (ratio, impulse, phases) in [
        (0.3, [0.0102521027, -0.0567728608, 0.0794114917], vec![Slip]),
        (
            1.0,
            [-0.0071385095, -0.0589609913, 0.0990678711],
            vec![Slip, Stick, Slip],
        ),
        (
            10.0,
            [-0.0037253101, -0.0599159075, 0.1010891995],
            vec![Slip, Stick, Slip, Stick, Slip],
        ),
    ] {
        let found = collide(&icosahedron(), &VELOCITY, 0.8, 0.95, ratio);
        let gap = (found.impulse - Vector3::from(impulse)).amax();
        assert!(gap <= 1e-10, "{ratio}: {gap:e} {:?}", found.impulse);
        assert_eq!(found.phases, phases, "{ratio}");
    }
}

/// With all the friction in the world the springs are two oscillators, and the normal one ends the
/// impact after half its period. Friction holds all but the last part in its inverse.
#[test]
fn a_contact_that_sticks_oscillates() {
    let w = Matrix3::from_diagonal(&Vector3::new(3.5, 2.0, 1.25));
    let w = ContactInertia::from_matrix(&w).unwrap();
    let v = Vector3::new(0.3, -0.2, -1.0);
    for ratio in [0.01, 0.3, 1.0, 2.7, 40.0] {
        let found = collide(&w, &v, 1e10, 1.0, ratio);
        let half = |b: f64| (std::f64::consts::PI * (ratio * b / 1.25).sqrt()).cos();
        let expected = Vector3::new(0.3 * half(3.5), -0.2 * half(2.0), 1.0);
        let gap = (found.velocity_plus - expected).amax();
        assert!(gap <= 1e-8, "{ratio}: {gap:e}");
        assert!((found.compression_energy - 0.4).abs() <= 1e-12);
    }
}

/// A hard spring oscillates with an amplitude that falls with the square root of its stiffness.
#[test]
fn hard_springs_are_the_rigid_contact() {
    for (v, mu, e) in [
        (VELOCITY, 0.8, 0.95),
        (Vector3::new(-0.261976, 0.386329, -0.827174), 0.4, 0.5),
        (Vector3::new(-0.861976, -0.463671, -1.527174), 0.25, 0.95),
    ] {
        let w = icosahedron();
        let rigid = solve(&w, &v, mu, e, &ImpactOptions::default());
        let gap = |ratio: f64| (collide(&w, &v, mu, e, ratio).impulse - rigid.impulse).amax();
        let (soft, hard) = (gap(1e1), gap(1e3));
        assert!(hard <= 0.15 * soft, "{soft:e} {hard:e}");
    }
}

#[test]
fn springs_create_no_energy_and_obey_coulomb() {
    for (k, r) in impacts(150).enumerate() {
        let ratio = 10f64.powf(Stream(k as u64).uniform(-1.5, 1.5));
        let found = collide(&r.w, &r.v, r.mu, r.e, ratio);
        let energy = 0.5 * found.impulse.dot(&(r.v + found.velocity_plus));
        let stored = found.compression_energy;
        let lost = (1.0 - r.e * r.e) * stored;
        // Restitution takes its share, friction the rest.
        assert!(
            energy <= -lost + 1e-12 * (stored + energy.abs()),
            "{k}: {energy:e} {lost:e}"
        );
        assert!(
            found.impulse.xy().norm() <= r.mu * found.impulse.z * (1.0 + 1e-12),
            "{k}"
        );
        assert!(found.velocity_plus.z >= -1e-12 * r.v.amax(), "{k}");
        // A turned world with other units.
        let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), 1.0).into_inner();
        let w = turn * r.w.matrix() * turn.transpose() * 3.0;
        let w = ContactInertia::from_matrix(&(0.5 * (w + w.transpose()))).unwrap();
        let other = collide(&w, &(turn * r.v * 1e-5), r.mu, r.e, ratio);
        let gap = (other.impulse * 3e5 - turn * found.impulse).amax() / found.impulse.amax();
        assert!(gap <= 1e-9, "{k}: {gap:e}");
    }
}

/// Friction that presses the bodies together again: hard springs lose energy once.
#[test]
fn a_second_compression_is_that_of_the_rigid_contact_that_loses_once() {
    let v = Vector3::new(-0.261976, 0.386329, -0.0085);
    let options = ImpactOptions::default().with_recompression(Recompression::Single);
    let rigid = solve(&icosahedron(), &v, 3.0, 0.95, &options);
    assert_eq!(rigid.events.sequence(), "cksCr");
    let gap = |ratio: f64| {
        let found = collide(&icosahedron(), &v, 3.0, 0.95, ratio);
        (found.impulse - rigid.impulse).amax() / rigid.impulse.z
    };
    let (soft, hard) = (gap(20.0), gap(2000.0));
    assert!(hard <= 0.15 * soft, "{soft:e} {hard:e}");
}

#[test]
fn springs_of_the_ends_of_the_range() {
    let w = icosahedron();
    let plastic = collide(&w, &VELOCITY, 0.8, 0.0, 1.0);
    assert!(plastic.velocity_plus.z.abs() <= 1e-15);
    let free = collide(&w, &VELOCITY, 0.0, 0.5, 1.0);
    assert!((free.velocity_plus.z - 0.5 * 0.077174).abs() <= 1e-15);
    let away = Vector3::new(1.0, 0.0, 0.0);
    assert_eq!(compliant_impact(&w, &away, 0.5, 0.5, 1.0).unwrap(), None);
    for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = compliant_impact(&w, &VELOCITY, 0.5, 0.5, ratio).unwrap_err();
        assert!(
            matches!(error, TwoBodyError::InvalidStiffnessRatio { .. }),
            "{ratio}"
        );
    }
}
