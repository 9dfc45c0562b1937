//! Tosses whose law and parameters are known.

use crate::common::{
    FRICTION, RESTITUTION, cases, cube_above, parameters, plain_fit, poses, recipe,
};
use crate::synthetic::{Recipe, tosses};
use carom_fit::nalgebra::{Matrix3, Vector3};
use carom_fit::{Body, estimate_noise, find_impacts};

/// Without noise states and parameters are exact.
#[test]
fn exact_poses_give_exact_states_and_parameters() {
    let setup = cube_above(0.002);
    let recipe = Recipe {
        position_noise: 0.0,
        rotation_noise: 0.0,
        ..recipe("moreau-newton", parameters(0.45, 0.2), 30, 5)
    };
    let made = tosses(&recipe, &setup).unwrap();
    let poses: Vec<_> = made.iter().map(|toss| toss.poses.clone()).collect();
    let noise = estimate_noise(&poses, &setup).unwrap();
    assert!((noise.gravity - Vector3::new(0.0, 0.0, -9.81)).norm() <= 1e-7);
    let census = find_impacts(&poses, &setup, &noise);
    assert_eq!(census.impacts.len(), 30, "{:?}", census.excluded);
    for (found, toss) in census.impacts.iter().zip(&made) {
        let truth = &toss.truth;
        assert_eq!(found.corners, truth.corners);
        assert!((found.time - truth.time).abs() <= 1e-9);
        for side in [
            (found.velocity_minus, truth.velocity_minus),
            (found.velocity_plus, truth.velocity_plus),
        ] {
            let error = (0..6).fold(0.0_f64, |e, k| e.max((side.0[k] - side.1[k]).abs()));
            assert!(error <= 1e-7, "toss {}: {error:e}", truth.toss);
        }
    }
    let fit = plain_fit(&cases(&poses, &setup), "moreau-newton", 0);
    assert!(
        (fit.parameters.get(&RESTITUTION) - 0.45).abs() <= 1e-6,
        "{:?}",
        fit.parameters
    );
    assert!(
        (fit.parameters.get(&FRICTION) - 0.2).abs() <= 1e-6,
        "{:?}",
        fit.parameters
    );
}

/// Flights that meet are fitted again under another gravity.
#[test]
fn velocities_move_with_gravity_as_their_derivative_says() {
    let setup = cube_above(0.0);
    let recipe = recipe("moreau-newton", parameters(0.5, 0.25), 10, 4);
    let poses = poses(&recipe, &setup);
    let mut noise = estimate_noise(&poses, &setup).unwrap();
    let here = find_impacts(&poses, &setup, &noise);
    let shift = Vector3::new(0.01, -0.02, 0.03);
    noise.gravity += shift;
    let there = find_impacts(&poses, &setup, &noise);
    assert_eq!(here.impacts.len(), 10);
    for (a, b) in here.impacts.iter().zip(&there.impacts) {
        let told = a.by_gravity * shift;
        for k in 0..6 {
            for (told, before, after) in [
                (told[k], a.velocity_minus[k], b.velocity_minus[k]),
                (told[6 + k], a.velocity_plus[k], b.velocity_plus[k]),
            ] {
                // Changes are near 1e-3 m/s and 2e-4 rad/s; the derivative leaves out how residuals change it.
                let tolerance = if k < 3 { 2e-6 } else { 1e-5 };
                let error = after - before - told;
                assert!(error.abs() <= tolerance, "{before} {after} {told}");
            }
        }
    }
}

/// Gravity from all flights together is closer than that from second differences, about 0.012 m/s², and within
/// four standard errors.
#[test]
fn whole_flights_tell_gravity() {
    let setup = cube_above(0.0);
    let recipe = recipe("moreau-newton", parameters(0.5, 0.25), 80, 4);
    let noise = estimate_noise(&poses(&recipe, &setup), &setup).unwrap();
    let information: f64 = noise.flights.iter().map(|f| 1.0 / f.variance).sum();
    let standard_error = 1.0 / information.sqrt();
    assert!(
        (0.002..=0.006).contains(&standard_error),
        "{standard_error}"
    );
    let error = noise.gravity - Vector3::new(0.0, 0.0, -9.81);
    assert!(error.amax() <= 4.0 * standard_error, "{error}");
}

/// The interval holds the truth, and other laws are less probable.
#[test]
fn noisy_poses_tell_the_law_and_its_parameters() {
    let setup = cube_above(0.0);
    let routh = "routh";
    let laws = ["moreau-newton", "anitescu-potra", routh];
    for (k, law) in laws.into_iter().enumerate() {
        let truth = parameters(if k == 1 { 0.0 } else { 0.5 }, 0.25);
        let cases = cases(&poses(&recipe(law, truth.clone(), 30, 11), &setup), &setup);
        let fit = plain_fit(&cases, law, 60);
        assert!((fit.parameters.get(&RESTITUTION) - truth.get(&RESTITUTION)).abs() <= 0.01);
        assert!((fit.parameters.get(&FRICTION) - truth.get(&FRICTION)).abs() <= 0.01);
        for estimate in &fit.estimates {
            assert!(estimate.is_identifiable);
            let [low, high] = estimate.interval.unwrap();
            let value = truth.get(&estimate.parameter);
            // Twice the half width of the interval, about four standard errors: a seed may be unlucky.
            let margin = 0.5 * (high - low);
            assert!(
                low - margin <= value && value <= high + margin,
                "{law:?} {estimate:?}"
            );
        }
        for other in laws.into_iter().filter(|other| *other != law) {
            assert!(
                plain_fit(&cases, other, 0).aic > fit.aic,
                "{other:?} beats {law:?}"
            );
        }
    }
}

/// A plate with three different moments, given by its vertices, on an inclined plane.
#[test]
fn a_plate_on_an_inclined_plane_is_no_special_case() {
    let mut setup = cube_above(-0.3);
    let half = Vector3::new(0.08, 0.05, 0.02);
    let vertices = (0..8)
        .map(|k: u32| {
            let sign = |bit: u32| if k & bit == 0 { -1.0 } else { 1.0 };
            half.component_mul(&Vector3::new(sign(1), sign(2), sign(4)))
        })
        .collect();
    let square = half.component_mul(&half);
    let moment = |a: f64, b: f64| 0.4 * (a + b) / 3.0;
    let inertia = Matrix3::from_diagonal(&Vector3::new(
        moment(square.y, square.z),
        moment(square.x, square.z),
        moment(square.x, square.y),
    ));
    setup.body = Body::new(0.4, inertia, vertices).unwrap();
    setup.plane.normal = Vector3::new(0.3, -0.2, 0.9).normalize();
    setup.gravity = Some(Vector3::new(0.0, 0.0, -9.81));
    let truth = parameters(0.6, 0.3);
    let poses = poses(&recipe("moreau-newton", truth, 15, 3), &setup);
    let fit = plain_fit(&cases(&poses, &setup), "moreau-newton", 0);
    assert!(
        (fit.parameters.get(&RESTITUTION) - 0.6).abs() <= 0.01,
        "{:?}",
        fit.parameters
    );
    assert!(
        (fit.parameters.get(&FRICTION) - 0.3).abs() <= 0.01,
        "{:?}",
        fit.parameters
    );
}

/// Friction that makes every corner stick is told from nothing larger.
#[test]
fn friction_beyond_what_sticks_is_not_identifiable() {
    let setup = cube_above(0.0);
    // At friction 1.9 every corner sticks: any larger value predicts the same.
    let truth = parameters(0.3, 1.9);
    let cases = cases(
        &poses(&recipe("moreau-newton", truth, 30, 2), &setup),
        &setup,
    );
    let fit = plain_fit(&cases, "moreau-newton", 60);
    let told: Vec<bool> = fit.estimates.iter().map(|e| e.is_identifiable).collect();
    assert_eq!(told, [true, false], "{:?}", fit.estimates);
}
