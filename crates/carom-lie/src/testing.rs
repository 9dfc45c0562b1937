//! Test of the axioms of a Lie group, and arguments for it.

use crate::LieGroup;
use nalgebra::{SMatrix, SVector, Vector3};
use std::f64::consts::PI;

pub(crate) fn vector(x: f64, y: f64, z: f64) -> Vector3<f64> {
    Vector3::new(x, y, z)
}

/// Lists rotation vectors (rad) with angles from zero to just below half a turn.
pub(crate) fn rotation_vectors() -> Vec<Vector3<f64>> {
    let axes = [
        vector(0.36, -0.48, 0.8),
        vector(0.0, 0.0, 1.0),
        vector(-0.6, 0.8, 0.0),
    ];
    let angles = [
        0.0,
        1e-200,
        1e-9,
        1e-7,
        1e-3,
        0.1,
        1.0,
        1.7,
        2.5,
        3.1,
        PI - 1e-6,
    ];
    let pairs = axes
        .iter()
        .flat_map(|axis| angles.iter().map(move |angle| axis * *angle));
    pairs.collect()
}

/// Returns the distance between two group elements: the length of the shortest tangent vector whose exponential maps one to the
/// other.
fn distance<const N: usize, G: LieGroup<N>>(a: &G, b: &G) -> f64 {
    a.inverse().compose(b).log().norm()
}

/// Computes the left Jacobian at a tangent vector `xi` by its definition, $\sum_k \mathrm{ad}_\xi^k/(k+1)!$.
fn jacobian_series<const N: usize, G: LieGroup<N>>(xi: &SVector<f64, N>) -> SMatrix<f64, N, N> {
    let ad = G::bracket(xi);
    let mut term = SMatrix::<f64, N, N>::identity();
    let mut sum = term;
    for k in 1..60 {
        term = ad * term / f64::from(k + 1);
        sum += term;
    }
    sum
}

/// Checks associativity, identity, inverse, exponential and logarithm, one-parameter subgroups, the
/// adjoint, the Jacobians (against their series and against difference quotients), and interpolation, for
/// pairs and triples of elements from `tangents` (rotation angles below half a turn).
pub(crate) fn check_group_axioms<const N: usize, G: LieGroup<N>>(tangents: &[SVector<f64, N>]) {
    // Rounding of three products of elements of norm up to 5.
    const TOLERANCE: f64 = 2e-14;
    let near = |a: &G, b: &G, what: &str| {
        let d = distance(a, b);
        assert!(d <= TOLERANCE, "{what}: {d:e}");
    };
    let e = G::identity();
    for (i, xi) in tangents.iter().enumerate() {
        let pick = |k: usize| &tangents[(i + k) % tangents.len()];
        let (a, b, c) = (G::exp(xi), G::exp(pick(4)), G::exp(pick(9)));
        near(
            &a.compose(&b).compose(&c),
            &a.compose(&b.compose(&c)),
            "associativity",
        );
        near(&a.compose(&e), &a, "identity");
        near(&e.compose(&a), &a, "identity");
        near(&a.compose(&a.inverse()), &e, "inverse");
        near(&a.inverse().compose(&a), &e, "inverse");
        near(&a.inverse(), &G::exp(&-xi), "inverse of the exponential");
        assert!((a.log() - xi).norm() <= TOLERANCE, "log exp {xi}");
        near(
            &G::exp(&(xi * 0.3)).compose(&G::exp(&(xi * 0.7))),
            &a,
            "one-parameter subgroup",
        );
        let eta = pick(7) * 0.1;
        let moved = a.compose(&G::exp(&eta)).compose(&a.inverse());
        near(&moved, &G::exp(&(a.adjoint() * eta)), "adjoint");
        let product = a.adjoint() * b.adjoint();
        assert!(
            (a.compose(&b).adjoint() - product).norm() <= 40.0 * TOLERANCE,
            "Ad(ab)"
        );

        let jacobian = G::left_jacobian(xi);
        let series = jacobian_series::<N, G>(xi);
        assert!(
            (jacobian - series).norm() <= TOLERANCE,
            "left Jacobian at {xi}"
        );
        let mirrored = jacobian_series::<N, G>(&-xi);
        assert!(
            (G::right_jacobian(xi) - mirrored).norm() <= TOLERANCE,
            "right Jacobian"
        );
        // Ad(exp) = J_l J_r^{-1}
        assert!((a.adjoint() * G::right_jacobian(xi) - jacobian).norm() <= 20.0 * TOLERANCE);
        // Central differences with step 1e-5: truncation error 1e-10, rounding error 1e-10.
        let delta = pick(5).map(|x| (x + 0.3).sin());
        let step = 1e-5;
        let change = G::exp(&(xi + delta * step)).compose(&G::exp(&(xi - delta * step)).inverse());
        let rate = change.log() / (2.0 * step);
        assert!(
            (rate - jacobian * delta).norm() <= 2e-8,
            "difference quotient at {xi}"
        );

        near(&a.interpolate(&b, 0.0), &a, "interpolation starts");
        near(&a.interpolate(&b, 1.0), &b, "interpolation ends");
        let half = a.interpolate(&b, 0.5);
        assert!(
            (distance(&a, &half) - distance(&half, &b)).abs() <= TOLERANCE,
            "middle"
        );
    }
}
