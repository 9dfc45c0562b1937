//! First impacts against an independent implementation in long arithmetic, for the discrete and the
//! exact flow.

use super::common::reference::{self, Reference};
use super::common::{System, gravity};
use carom_motion::flying::{Collider, ColliderOptions, ContactSearch, ImpactRule, Trajectory};
use carom_variational::{ExactFlight, Flight, FreeFlight, TimeGrid};
use nalgebra::Vector3;

fn check<F: Flight>(
    name: &str,
    system: &System,
    flight: &F,
    search: ContactSearch,
    expected: &[Reference],
) {
    let options = ColliderOptions::default().with_search(search);
    let collider = Collider::new(
        &system.body,
        &system.shape,
        &system.plane,
        flight,
        ImpactRule::ELASTIC,
    )
    .unwrap()
    .with_options(options);
    let run = Trajectory::record(
        &collider,
        &system.initial,
        &TimeGrid::steps(0.01, 2000).unwrap(),
        Some(expected.len()),
    );
    let run = run.unwrap();
    assert_eq!(run.impacts().len(), expected.len());
    for (k, (impact, expected)) in run.impacts().iter().zip(expected).enumerate() {
        let tolerance = expected.tolerance;
        let off = |what: &str, a: f64, b: f64, scale: f64| {
            let error = (a - b).abs();
            assert!(
                error <= tolerance * scale,
                "{name} impact {k} {what}: {a} {b} {error:e}"
            );
        };
        off("time", impact.time, expected.time, 1.0);
        // Impulses and momenta are of size 20 here, and change with the place of contact.
        off("impulse", impact.impulse, expected.impulse, 10.0);
        off("gap rate", impact.gap_rate, expected.gap_rate, 10.0);
        let after = &impact.after;
        for (what, a, b, scale) in [
            ("position", after.position, expected.position, 10.0),
            (
                "linear momentum",
                after.linear_momentum,
                expected.linear_momentum,
                10.0,
            ),
            (
                "angular momentum",
                after.angular_momentum,
                expected.angular_momentum,
                100.0,
            ),
        ] {
            off(what, (a - Vector3::from(b)).norm(), 0.0, scale);
        }
        let audit = impact.audit(&system.body, system.plane.normal()).unwrap();
        assert!(audit.energy_change_j().abs() <= 1e-12 * audit.energy_minus_j);
        assert!(audit.momentum_residual <= 1e-13 && audit.penetration_residual == 0.0);
    }
}

fn systems() -> [(
    &'static str,
    System,
    &'static [Reference],
    &'static [Reference],
); 6] {
    use reference as r;
    [
        (
            "I",
            super::common::case_i(),
            &r::CASE_I_LGVI,
            &r::CASE_I_EXACT,
        ),
        (
            "II",
            super::common::case_ii(),
            &r::CASE_II_LGVI,
            &r::CASE_II_EXACT,
        ),
        (
            "III",
            super::common::case_iii(),
            &r::CASE_III_LGVI,
            &r::CASE_III_EXACT,
        ),
        (
            "IV",
            super::common::case_iv(),
            &r::CASE_IV_LGVI,
            &r::CASE_IV_EXACT,
        ),
        (
            "tetrahedron",
            super::common::tetrahedron(),
            &r::TETRAHEDRON_LGVI,
            &r::TETRAHEDRON_EXACT,
        ),
        (
            "dumbbell",
            super::common::dumbbell(),
            &r::DUMBBELL_LGVI,
            &r::DUMBBELL_EXACT,
        ),
    ]
}

#[test]
fn impacts_of_the_discrete_flow() {
    let flight = FreeFlight::lgvi(gravity());
    for (name, system, discrete, _) in &systems() {
        for search in [ContactSearch::FirstContact, ContactSearch::EndOfStep] {
            check(name, system, &flight, search, discrete);
        }
    }
}

#[test]
fn impacts_of_the_exact_flow() {
    let flight = ExactFlight::new(gravity());
    for (name, system, _, exact) in &systems() {
        check(name, system, &flight, ContactSearch::FirstContact, exact);
    }
}
