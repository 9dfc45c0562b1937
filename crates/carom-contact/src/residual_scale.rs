//! Rounding scale of the velocity of a contact row: the size of the terms of the sum that the velocity is.
//!
//! To decide if a velocity is a rounding error, it is compared with the numbers from which it was summed up, never with the
//! whole system. So a far body with any momentum cannot change the decision.
//!
//! | size | definition for a row $a$ and a velocity $v$ |
//! | --- | --- |
//! | $\sigma(a, v)$ | $\sum_k \lvert a_k v_k\rvert$ |
//! | $S(a)$ | $\sum_k \lvert a_k\rvert\bigl(\lvert v_k^-\rvert + \lvert v_k^+\rvert + \sum_r
//! \lvert(M^{-1}a_r^T)_k\lambda_r\rvert\bigr)$: includes the effect of impulses that cancel each other |
//! | $p_c$ | norm of the momentum of all degrees of freedom connected with the row through nonzero entries of the mass
//! matrix, of contact rows and of constraints |

use carom_metric::{KineticMetric, kernel};
use nalgebra::DMatrix;

/// Largest normal velocity that counts as grazing, as a fraction of $\sigma = \sum_k|n_kv_k|$, the sum of the magnitudes of
/// the products of contact normal $n$ and velocity $v$.
///
/// The largest error seen among 20 000 grazing velocities turned by random rotations: rounding left a normal velocity of
/// $2\cdot10^{-13}\sigma$ instead of 0.
pub const GRAZING_TOLERANCE: f64 = 1e-12;

/// Fraction of the momentum of all bodies connected to a contact, directly or through other contacts, below which the contact
/// velocity is a rounding error. Seen from a fast frame, a contact at rest has at times more than $10^{-15}$.
pub(crate) const ROUNDING_TOLERANCE: f64 = 1e-14;

/// Fraction of $\sigma$ above which a constraint velocity violates the constraint.
const CONSTRAINT_TOLERANCE: f64 = 1e-9;

/// Fraction of the momentum $p_c$ around a constraint below which the constraint velocity is a rounding error.
const CONSTRAINT_ROUNDING: f64 = 1e-12;

/// Returns the product $\sum_k a_kx_k$ of a row $a$ and a vector $x$, and the sum of the magnitudes of its terms, $\sigma =
/// \sum_k|a_kx_k|$, from which its rounding error follows.
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

/// Returns the largest of the given residuals, at least 0; 0 for an empty list. The result is NaN if any residual is NaN.
///
/// # Examples
///
/// ```
/// # use carom_contact::residual_scale::worst;
/// assert_eq!(worst([0.5, 2.0, 1.0].into_iter()), 2.0);
/// assert!(worst([1.0, f64::NAN, 0.5].into_iter()).is_nan());
/// ```
pub fn worst(residuals: impl Iterator<Item = f64>) -> f64 {
    residuals.fold(0.0, kernel::larger)
}

/// Returns `size`, or 1 if `size` is 0: a divisor for residuals relative to `size`, with which 0/0 becomes 0.
pub fn divisor(size: f64) -> f64 {
    if size == 0.0 { 1.0 } else { size }
}

/// Returns sizes of velocities, one for each row, so large that `hidden` velocities are at most the fraction `tolerance` of them.
pub(crate) fn above(sizes: &[f64], hidden: &[f64], tolerance: f64) -> Vec<f64> {
    let rows = sizes.iter().zip(hidden);
    rows.map(|(size, hidden)| f64::max(*size, hidden / tolerance))
        .collect()
}

/// Velocity of a contact row (a sum of products), and the sum of the magnitudes of these products. Both are divided by the
/// kinetic length of the row. The second number measures how large the rounding error of the velocity can be.
#[derive(Clone, Copy, Debug)]
pub struct RowVelocity {
    /// Velocity $a\cdot v$ divided by the kinetic length of the row $a$.
    pub rate: f64,
    /// Sum of the magnitudes of the products, $\sigma(a, v) = \sum_k|a_kv_k|$, divided by the kinetic length of the row $a$.
    pub size: f64,
}

/// Computes the velocity of a contact row: the product of `row` and `velocity` (n entries each), divided by the kinetic
/// length `norm` of the row and multiplied by `scale`. Row and velocity may have any size, since each is scaled before the
/// products are formed.
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

/// True if a contact approaches faster than rounding explains. Its normal velocity `rate` must be below minus the threshold
/// `grazing`, and its speed must exceed the rounding of the momentum of all bodies connected to the contact. The closure
/// `around` returns that momentum; it is called only if the larger momentum `total` of the whole system does not decide.
#[inline]
pub(crate) fn approaches(
    rate: f64,
    grazing: f64,
    total: f64,
    around: impl FnOnce() -> f64,
) -> bool {
    rate < -grazing && (-rate > ROUNDING_TOLERANCE * total || -rate > ROUNDING_TOLERANCE * around())
}

/// True if the velocity of a constraint is larger than rounding explains. The closure `around` returns the norm of the
/// momentum of the bodies that the constraint touches.
pub(crate) fn violates(velocity: RowVelocity, around: impl FnOnce() -> f64) -> bool {
    let RowVelocity { rate, size } = velocity;
    rate.abs() > CONSTRAINT_TOLERANCE * size && rate.abs() > CONSTRAINT_ROUNDING * around()
}

/// Marks the degrees of freedom that are connected with `row` (n entries) through nonzero entries of the mass matrix and of
/// the rows `links` (n entries each). The result has n entries, true for connected ones.
///
/// The Cholesky factor of a mass matrix has no entry between unconnected bodies, so the whitened momentum of a body
/// depends on that body alone.
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

/// Norm of the part of a momentum that belongs to the degrees of freedom marked true in `touched`. The momentum is whitened
/// (n entries), that is, in coordinates in which the kinetic metric is Euclidean.
pub fn momentum_of(touched: &[bool], momentum: &[f64]) -> f64 {
    let own: Vec<f64> = momentum
        .iter()
        .zip(touched)
        .map(|(p, is_touched)| if *is_touched { *p } else { 0.0 })
        .collect();
    kernel::norm(&own)
}

/// Marks all coordinates that the mass matrix connects with marked ones, directly or through others. `touched` has one
/// entry per coordinate.
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

/// Divides `n` whitened coordinates into the groups that `rows` (whitened, n entries each) connect: two coordinates are in
/// one group if a chain of rows with nonzero entries leads from one to the other. Returns the group of each coordinate (the
/// index of the group's first coordinate) and the group of each row.
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
