//! Rows of which a law prescribes the velocity after the impact: how far an answer misses them, and impulses that reach them.

use crate::ContactSet;
use crate::index::RowIndex;
use crate::residual_scale::{divisor, worst};
use crate::tolerances::DEPENDENT_COLUMN;
use carom_metric::kernel;
use carom_numeric::svd::Svd;
use smallvec::SmallVec;

/// Singular values of unit rows below this fraction of the largest are left out of a distance: along them the rounding of the
/// rows, $10^{-16}$, makes more than $10^{-9}$ of the velocities.
const NEARLY_FLAT: f64 = 1e-7;

/// Contact rows and the velocities by which they miss the prescribed ones, scaled, for rows of unit kinetic length.
pub type Missed = SmallVec<[(RowIndex, f64); 8]>;

/// Returns the largest velocity that a row misses, divided by the row's entry of `sizes`.
pub(crate) fn largest_missed(missed: &[(RowIndex, f64)], sizes: &[f64]) -> f64 {
    let missed = missed.iter();
    worst(missed.map(|(row, missed)| missed.abs() / divisor(sizes[row.index()])))
}

/// Computes the kinetic length of the least change of the velocity that gives all rows in `missed` their prescribed
/// velocities: $\lVert(U^T)^+m\rVert$ for the rows of unit kinetic length as columns of $U$ and the missed velocities $m$.
#[cold]
pub(crate) fn distance(contacts: &ContactSet<'_>, missed: &[(RowIndex, f64)]) -> f64 {
    let columns: Vec<f64> = missed
        .iter()
        .flat_map(|&(row, _)| contacts.unit_row(row).iter().copied())
        .collect();
    let missed: Vec<f64> = missed.iter().map(|(_, missed)| *missed).collect();
    let rows = Svd::new(&columns, contacts.metric().dim());
    let impulses = rows.least_norm_gram(&missed, NEARLY_FLAT);
    kernel::dot(&impulses, &missed).max(0.0).sqrt()
}

/// Decomposes the matrix whose columns are those contact rows of unit kinetic length that are listed in `wanted`.
pub(crate) fn decompose(contacts: &ContactSet<'_>, wanted: &[(RowIndex, f64)]) -> Svd {
    let rows = wanted.iter();
    let columns: Vec<f64> = rows
        .flat_map(|&(row, _)| contacts.unit_row(row).iter().copied())
        .collect();
    Svd::new(&columns, contacts.metric().dim())
}

/// Adds impulses of least norm that bring some contact rows of unit kinetic length to prescribed velocities. `wanted` lists
/// the index of each row and its velocity, `rows` is the [decomposition](decompose) of these rows, and `after` are the
/// present velocities of all rows.
pub(crate) fn reach(rows: &Svd, wanted: &[(RowIndex, f64)], after: &[f64], impulse: &mut [f64]) {
    if wanted.is_empty() {
        return;
    }
    let missing = wanted
        .iter()
        .map(|&(row, target)| target - after[row.index()]);
    let missing: Vec<f64> = missing.collect();
    let correction = rows.least_norm_gram(&missing, DEPENDENT_COLUMN);
    for (&(row, _), l) in wanted.iter().zip(&correction) {
        impulse[row.index()] += l;
    }
}
