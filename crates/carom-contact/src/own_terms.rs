//! Scale of a contact's velocity: sizes on the terms of the row itself.
//!
//! The test of a velocity for rounding looks at the numbers that it is the sum of, never at the whole
//! system: a far body of any momentum changes no verdict.
//!
//! | size | of a row $a$ and a velocity $v$ |
//! | --- | --- |
//! | $\sigma(a, v)$ | $\sum_k \lvert a_k v_k\rvert$ |
//! | $S(a)$ | $\sum_k \lvert a_k\rvert\bigl(\lvert v_k^-\rvert + \lvert v_k^+\rvert + \sum_r \lvert(M^{-1}a_r^T)_k\lambda_r\rvert\bigr)$: with what the impulses of an event made and cancelled |
//! | $p_c$ | norm of the momentum of the components that the row touches: degrees of freedom connected through nonzero entries of the mass matrix |

use carom_metric::{KineticMetric, kernel};
use nalgebra::DMatrix;

/// A contact whose velocity is less than this fraction of its own terms $\sigma$ grazes.
///
/// Twenty thousand grazing velocities turned by random rotations leave up to $2\cdot10^{-13}\sigma$.
pub const GRAZING_TOLERANCE: f64 = 1e-12;

/// A contact velocity below this fraction of the momentum around it is rounding.
const ROUNDING_TOLERANCE: f64 = 1e-15;

/// A constraint velocity above this fraction of its own terms violates the constraint.
const CONSTRAINT_TOLERANCE: f64 = 1e-9;

/// A constraint velocity below this fraction of the momentum around it is rounding.
const CONSTRAINT_ROUNDING: f64 = 1e-12;

/// The sum of products $\sum_k a_kx_k$ and that of their sizes, $\sigma = \sum_k|a_kx_k|$.
#[inline]
pub fn dot_and_size(a: &[f64], x: &[f64]) -> (f64, f64) {
    let (mut sum, mut size) = (0.0, 0.0);
    for (a, x) in a.iter().zip(x) {
        let product = a * x;
        sum += product;
        size += product.abs();
    }
    (sum, size)
}

/// The largest of some residuals; NaN if one is.
pub fn worst(residuals: impl Iterator<Item = f64>) -> f64 {
    residuals.fold(0.0, |worst, x| if x <= worst { worst } else { x })
}

/// The divisor that makes a residual relative to the `size` of its terms: 1 where that is 0, so that 0/0 = 0.
pub fn divisor(size: f64) -> f64 {
    if size == 0.0 { 1.0 } else { size }
}

/// A row's velocity and the size of its terms, per kinetic length of the row.
#[derive(Clone, Copy, Debug)]
pub struct RowVelocity {
    /// $a\cdot v$ over the row's kinetic length.
    pub rate: f64,
    /// $\sigma(a, v)$ over the same length.
    pub size: f64,
}

/// The velocity of a row of kinetic length `norm`, times `scale`. Rows and velocities of any size:
/// neither factor meets the other unscaled.
#[inline]
pub fn row_velocity(row: &[f64], velocity: &[f64], norm: f64, scale: f64) -> RowVelocity {
    let row_scale = kernel::power_of_two_scale(norm);
    let (mut sum, mut size) = (0.0, 0.0);
    for (a, v) in row.iter().zip(velocity) {
        let product = (a * row_scale) * (v * scale);
        sum += product;
        size += product.abs();
    }
    let length = norm * row_scale;
    RowVelocity {
        rate: sum / length,
        size: size / length,
    }
}

/// True if a contact approaches: faster than its own terms can be rounded (`grazing`), and than the
/// momentum around it can. `around` gives $p_c$ and is asked only if `total`, the whole momentum,
/// cannot decide.
#[inline]
pub(crate) fn approaches(
    rate: f64,
    grazing: f64,
    total: f64,
    around: impl FnOnce() -> f64,
) -> bool {
    rate < -grazing && (-rate > ROUNDING_TOLERANCE * total || -rate > ROUNDING_TOLERANCE * around())
}

/// True if a velocity violates a constraint, by these two tests.
pub(crate) fn violates(velocity: RowVelocity, around: impl FnOnce() -> f64) -> bool {
    let RowVelocity { rate, size } = velocity;
    rate.abs() > CONSTRAINT_TOLERANCE * size && rate.abs() > CONSTRAINT_ROUNDING * around()
}

/// Norm of the momentum (whitened, n) of the components that a row touches: $p_c$.
///
/// The Cholesky factor of a mass matrix has no entry between components, so a component's whitened
/// momentum is its own.
#[cold]
pub(crate) fn momentum_around(metric: &KineticMetric, row: &[f64], momentum: &[f64]) -> f64 {
    momentum_of(&linked(metric, row, std::iter::empty()), momentum)
}

/// Degrees of freedom that a row touches, through nonzero entries of the mass matrix and of `links` (rows of
/// length n).
#[cold]
pub fn linked<'r>(
    metric: &KineticMetric,
    row: &[f64],
    links: impl Iterator<Item = &'r [f64]> + Clone,
) -> Vec<bool> {
    let mut touched: Vec<bool> = row.iter().map(|a| *a != 0.0).collect();
    loop {
        let before = touched.clone();
        spread(metric.mass_matrix(), &mut touched);
        for link in links.clone() {
            let mut entries = link.iter().zip(&touched);
            if entries.any(|(a, is_touched)| *a != 0.0 && *is_touched) {
                let entries = touched.iter_mut().zip(link);
                entries.for_each(|(is_touched, a)| *is_touched |= *a != 0.0);
            }
        }
        if touched == before {
            return touched;
        }
    }
}

/// Norm of the part of a whitened momentum (n) that belongs to some degrees of freedom.
pub fn momentum_of(touched: &[bool], momentum: &[f64]) -> f64 {
    let own: Vec<f64> = momentum
        .iter()
        .zip(touched)
        .map(|(p, is_touched)| if *is_touched { *p } else { 0.0 })
        .collect();
    kernel::norm(&own)
}

/// Touches what the mass matrix connects with what is touched.
fn spread(mass: &DMatrix<f64>, touched: &mut [bool]) {
    let n = mass.nrows();
    let mut open: Vec<usize> = (0..touched.len()).filter(|k| touched[*k]).collect();
    while let Some(k) = open.pop() {
        let Some(column) = mass.as_slice().get(k * n..(k + 1) * n) else {
            continue;
        };
        for (j, (entry, is_touched)) in column.iter().zip(touched.iter_mut()).enumerate() {
            if *entry != 0.0 && !*is_touched {
                *is_touched = true;
                open.push(j);
            }
        }
    }
}

/// Groups the whitened coordinates that `rows` (whitened) connect: two coordinates are in one group
/// if a chain of rows with nonzero entries leads from one to the other. Returns the group of each
/// coordinate, numbered by its first, and the group of each row.
pub fn groups<'r>(
    n: usize,
    rows: impl Iterator<Item = &'r [f64]> + Clone,
) -> (Vec<usize>, Vec<usize>) {
    let mut parent: Vec<usize> = (0..n).collect();
    let root = |parent: &mut Vec<usize>, mut k: usize| {
        while parent[k] != k {
            parent[k] = parent[parent[k]];
            k = parent[k];
        }
        k
    };
    for row in rows.clone() {
        let mut first = None;
        for k in (0..n).filter(|k| row[*k] != 0.0) {
            let here = root(&mut parent, k);
            let there = *first.get_or_insert(here);
            let (low, high) = (here.min(there), here.max(there));
            parent[high] = low;
            first = Some(low);
        }
    }
    let of: Vec<usize> = (0..n).map(|k| root(&mut parent, k)).collect();
    let of_row = |row: &[f64]| row.iter().position(|a| *a != 0.0).map_or(0, |k| of[k]);
    let rows = rows.map(of_row).collect();
    (of, rows)
}
