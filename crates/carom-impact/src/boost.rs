//! Impacts seen from a frame that moves along.
//!
//! A velocity that no contact and no constraint sees changes no impact: that of a train changes none in it. Where it is
//! most of the velocity given, laws are asked about the rest, so that no tolerance of theirs is relative to the speed of
//! the train. What rounding of the given velocity hides stays hidden: it is added to what counts as grazing.

use crate::problem::Numbers;
use crate::twice::dot_of_sum;
use crate::{ContactSet, ImpactProblem};
use carom_metric::{Tangent, kernel};
use carom_numeric::svd::Svd;
use nalgebra::DVector;

/// Momentum over the largest velocity of a unit normal, from which on the part that rows see is computed. Below it,
/// tolerances of laws, at most 1e-9 of the momentum, are less than 1e-6 of the motion that contacts see.
const FAST: f64 = 256.0;

/// Part of the momentum that rows see, above which the problem is solved in the frame given.
const SEEN: f64 = 1.0 / 64.0;

/// Singular values of unit rows below this fraction of the largest span no direction.
const RANK_TOLERANCE: f64 = 1e-12;

/// Singular values of unit rows above this fraction of the largest: along their directions the velocity is corrected to
/// what the rows as given see. Along others rounding of the rows would be amplified.
const WELL_SEEN: f64 = 1e-6;

/// Rounding of a row's velocity, over the sum of its terms as given: a few units in the last place of each number.
pub(crate) const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// The part of the velocity before (n) that contact rows see, if that is little of it.
pub(crate) fn seen_velocity(problem: &ImpactProblem<'_>) -> Option<Tangent> {
    let normals = problem.unit_velocity().iter();
    let fastest = normals.fold(0.0, |fastest, b| f64::max(fastest, b.abs()));
    if !(problem.norm() > FAST * fastest) || problem.unit_velocity().is_empty() {
        return None;
    }
    let contacts = problem.contacts();
    let n = contacts.metric().dim();
    let rows = 0..contacts.row(contacts.len());
    let columns: Vec<f64> = rows
        .flat_map(|row| contacts.unit_row(row).iter().copied())
        .collect();
    let svd = Svd::new(&columns, n);
    let sizes = svd.singular_values().iter().enumerate();
    let sizes = sizes.filter(|(_, size)| **size > RANK_TOLERANCE * svd.largest());
    let mut seen: Numbers = smallvec::smallvec![0.0; n];
    for (index, _) in sizes.clone() {
        let along = kernel::dot(svd.left(index), problem.momentum());
        kernel::add_scaled(&mut seen, along, svd.left(index));
    }
    if !(kernel::norm(&seen) < SEEN * problem.norm()) {
        return None;
    }
    // The velocity of every row as given is met: whitening has rounded the whole momentum.
    let missed = missed_rates(problem, &seen);
    for (index, size) in sizes.filter(|(_, size)| **size > WELL_SEEN * svd.largest()) {
        let along = kernel::dot(svd.right(index), &missed) / size;
        kernel::add_scaled(&mut seen, along, svd.left(index));
    }
    Some(velocity(problem, &seen))
}

/// Velocity (n) of a whitened momentum that is scaled like the problem's.
fn velocity(problem: &ImpactProblem<'_>, momentum: &[f64]) -> Tangent {
    let mut velocity = DVector::from_column_slice(momentum);
    let metric = problem.contacts().metric();
    metric.unwhiten_velocity_in_place(velocity.as_mut_slice());
    Tangent(velocity / problem.scale())
}

/// Scaled velocities of the unit rows that a whitened momentum lacks.
fn missed_rates(problem: &ImpactProblem<'_>, momentum: &[f64]) -> Numbers {
    let contacts = problem.contacts();
    let scale = problem.scale();
    let scaled = |velocity: &Tangent| -> Numbers { velocity.0.iter().map(|v| v * scale).collect() };
    let given = scaled(problem.velocity_minus());
    let made: Numbers = scaled(&velocity(problem, momentum))
        .iter()
        .map(|v| -v)
        .collect();
    rates(contacts, &given, &made)
}

/// Velocities of the unit rows for a velocity `x + y`, in twice the precision.
pub(crate) fn rates(contacts: &ContactSet<'_>, x: &[f64], y: &[f64]) -> Numbers {
    let rows = contacts.jacobian_rows().enumerate();
    rows.map(|(row, covector)| {
        let row_scale = contacts.row_scale(row);
        let entries: Numbers = covector.0.iter().map(|a| a * row_scale).collect();
        dot_of_sum(&entries, x, y) / (contacts.row_norm(row) * row_scale)
    })
    .collect()
}
