//! Parts of a measured impact that no rigid-body law explains.

use crate::law::Parameters;
use crate::predict::{Case, orthonormal};
use crate::tolerances::SETTLED;
use carom_numeric::decisions::RANK;
use nalgebra::Vector6;

/// An unexplained part above this is more than impulses at the touching vertices can explain.
pub(crate) const UNEXPLAINED: f64 = 0.1;
/// An energy ratio above this cannot result from an impact.
pub(crate) const ENERGY_RATIO: f64 = 1.02;

/// Two properties of a measured impact that show if any rigid-body impact law with impulses at the touching vertices can
/// explain the impact: the unexplained part of the velocity change, and the energy ratio.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct OuterBound {
    /// Distance (kinetic norm) of the velocity change from those that impulses with nonnegative normal parts
    /// can make, divided by the kinetic norm of the velocity before the impact.
    pub unexplained: f64,
    /// Ratio of the kinetic energies after and before the impact, with the configured inertia.
    pub energy_ratio: f64,
}

impl OuterBound {
    /// True if no rigid-body impact law explains the measured impact, because the unexplained part of the velocity change is
    /// above 0.1 or the energy ratio is above 1.02.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.unexplained > UNEXPLAINED || self.energy_ratio > ENERGY_RATIO
    }
}

/// Computes two quantities that decide if any rigid-body impact law can explain a measured impact: the unexplained
/// part of its velocity change and its energy ratio. The kinetic norm has the fitted inertia from `parameters`, the
/// energy ratio the configured inertia.
pub(crate) fn outer_bound(case: &Case, parameters: &Parameters) -> OuterBound {
    let energy_ratio = case.energy(&case.after) / case.energy(&case.before);
    let unexplained = unexplained(case, parameters.inertia).unwrap_or(f64::INFINITY);
    OuterBound {
        unexplained,
        energy_ratio,
    }
}

/// Computes the part of a measured velocity change that no contact impulses explain, relative to the velocity before the impact
/// (kinetic norm). Tangential impulses are unrestricted, so that their effects are projected out. The result is the distance of
/// the remaining vector from the cone of nonnegative combinations of the projected normals. `None` if the mass matrix, whose
/// inertia is multiplied by `inertia_factor`, is not positive definite.
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

/// Returns the distance of the vector `target` from the cone of all nonnegative combinations of `columns`.
///
/// Cyclic coordinate steps (Dykstra) converge linearly, which is enough for a few short columns.
fn nearest_in_cone(columns: &[Vector6<f64>], target: Vector6<f64>) -> f64 {
    let scale = target.norm();
    let mut weights = vec![0.0_f64; columns.len()];
    let mut residual = target;
    for _ in 0..10_000 {
        let mut moved = 0.0_f64;
        for (weight, column) in weights.iter_mut().zip(columns) {
            let square = column.norm_squared();
            if square <= RANK * RANK {
                continue;
            }
            let next = (*weight + column.dot(&residual) / square).max(0.0);
            let step = next - *weight;
            residual -= column * step;
            *weight = next;
            moved = moved.max(step.abs() * square.sqrt());
        }
        if moved <= SETTLED * scale {
            break;
        }
    }
    residual.norm()
}
