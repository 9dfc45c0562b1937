//! The reference outcomes.

use super::cases::{CASES, Case};
use carom_two_body::{ContactImpact, ContactInertia, ContactResponse, ImpactOptions, solve_impact};
use nalgebra::{Matrix3, Vector3};

fn impact(case: &Case) -> ContactImpact {
    let w = Matrix3::from_fn(|i, j| case.inertia[i][j]);
    let w = ContactInertia::from_matrix(&w).unwrap();
    let options = ImpactOptions::default()
        .with_restitution_law(case.law)
        .with_recompression(case.recompression);
    let v = Vector3::from(case.velocity);
    match solve_impact(&w, &v, case.friction, case.restitution, &options).unwrap() {
        ContactResponse::Impact(impact) => impact,
        other => panic!("{}: {other:?}", case.name),
    }
}

/// Largest deviation, relative to the largest entry of the reference.
fn deviation(found: &[f64], expected: &[f64]) -> f64 {
    let size = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let gap = found
        .iter()
        .zip(expected)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |m: f64, x| if x <= m { m } else { x });
    gap / size
}

/// The reference holds about 1e-15, the tolerance of a step is 1e-13.
#[test]
fn outcomes_agree_with_24_digit_arithmetic() {
    for case in CASES {
        let name = case.name;
        let found = impact(case);
        let events: String = case.events.iter().map(|e| e.0).collect();
        assert_eq!(found.events.sequence(), events, "{name}");
        assert_eq!(found.mode.name(), case.mode, "{name}");
        for (point, (_, normal_impulse)) in found.events.iter().zip(case.events) {
            let gap = (point.impulse[2] - normal_impulse).abs();
            assert!(gap <= 1e-12 * case.impulse[2], "{name}: {gap:e}");
        }
        let gap = deviation(found.impulse.as_slice(), &case.impulse);
        assert!(gap <= 1e-12, "{name}: impulse off by {gap:e}");
        let gap = deviation(found.velocity_plus.as_slice(), &case.velocity_plus);
        assert!(gap <= 2e-12, "{name}: velocity off by {gap:e}");
        let stored = case.compression_energy;
        for (what, found, expected) in [
            ("energy", found.compression_energy, stored),
            ("normal work", found.normal_work, case.normal_work),
            ("friction work", found.friction_work, case.friction_work),
        ] {
            let size = stored.max(case.friction_work.abs());
            let gap = (found - expected).abs() / size;
            assert!(gap <= 1e-12, "{name}: {what} off by {gap:e}");
        }
    }
}
