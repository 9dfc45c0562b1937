//! Parts of a measured impact that no rigid law explains.

use crate::law::Parameters;
use crate::predict::{Case, orthonormal};
use crate::tolerances::{SETTLED_WEIGHTS, ZERO_COLUMN};
use nalgebra::Vector6;

/// A misfit above this is outside of what impulses at the touching vertices can do.
pub(crate) const UNEXPLAINED: f64 = 0.1;
/// An energy ratio above this is outside of what an impact can do.
pub(crate) const ENERGY_RATIO: f64 = 1.02;

/// Bounds that hold for every law of impulses at the touching vertices.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct OuterBound {
    /// Kinetic distance of the velocity change from those that impulses with pushing normal parts can make,
    /// over the kinetic norm of the velocity before.
    pub unexplained: f64,
    /// Kinetic energy after over that before, with the configured inertia.
    pub energy_ratio: f64,
}

impl OuterBound {
    /// True if no rigid law explains the impact.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.unexplained > UNEXPLAINED || self.energy_ratio > ENERGY_RATIO
    }
}

/// The outer bounds of a measured impact in the metric of a fitted inertia.
pub(crate) fn outer_bound(case: &Case, parameters: &Parameters) -> OuterBound {
    let energy_ratio = case.energy(&case.after) / case.energy(&case.before);
    let unexplained = unexplained(case, parameters.inertia).unwrap_or(f64::INFINITY);
    OuterBound {
        unexplained,
        energy_ratio,
    }
}

/// Tangential impulses are free: what they can make is projected out. What is left is a nonnegative
/// combination of normals, found by [`nearest_in_cone`].
fn unexplained(case: &Case, inertia_factor: f64) -> Option<f64> {
    let lower = case.mass_matrix(inertia_factor).cholesky()?.l();
    let upper = lower.transpose();
    let (normals, slides) = case.rows();
    let basis = orthonormal(&lower, slides.into_iter());
    let project = |mut vector: Vector6<f64>| {
        for axis in &basis {
            vector -= axis * axis.dot(&vector);
        }
        vector
    };
    let target = project(upper * (case.after - case.before));
    let columns: Vec<Vector6<f64>> = normals
        .iter()
        .filter_map(|row| lower.solve_lower_triangular(row))
        .map(project)
        .collect();
    Some(nearest_in_cone(&columns, target) / (upper * case.before).norm())
}

/// Distance of a vector from the cone of nonnegative combinations of others.
///
/// Dykstra's cyclic coordinate steps converge linearly; columns are few and short.
fn nearest_in_cone(columns: &[Vector6<f64>], target: Vector6<f64>) -> f64 {
    let scale = target.norm();
    let mut weights = vec![0.0_f64; columns.len()];
    let mut residual = target;
    for _ in 0..10_000 {
        let mut moved = 0.0_f64;
        for (weight, column) in weights.iter_mut().zip(columns) {
            let square = column.norm_squared();
            if square <= ZERO_COLUMN {
                continue;
            }
            let next = (*weight + column.dot(&residual) / square).max(0.0);
            let step = next - *weight;
            residual -= column * step;
            *weight = next;
            moved = moved.max(step.abs() * square.sqrt());
        }
        if moved <= SETTLED_WEIGHTS * scale {
            break;
        }
    }
    residual.norm()
}
