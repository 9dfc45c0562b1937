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
//! | $\rho$ | norm of the part of the momentum in the span of the whitened rows |
//!
//! The result of an impact does not depend on a uniform velocity orthogonal to all rows, such as that of the train in which an impact
//! happens. If it is most of the given velocity, laws solve the problem of the remaining velocity (`seen_velocity`), and the rounding
//! error of the given velocity is added to the grazing thresholds. Tolerances are relative to $\rho$, never to the momentum of the
//! whole system.

use crate::index::ContactIndex;
use crate::numbers::Numbers;
use crate::span::part_in_span;
use crate::{ContactSet, ImpactProblem};
use carom_metric::{KineticMetric, Tangent, kernel};
use nalgebra::DVector;

/// Largest normal velocity that counts as grazing, as a fraction of $\sigma = \sum_k|n_kv_k|$, the sum of the magnitudes of
/// the products of contact normal $n$ and velocity $v$.
///
/// The largest error seen among 20 000 grazing velocities turned by random rotations: rounding left a normal velocity of
/// $2\cdot10^{-13}\sigma$ instead of 0.
pub const GRAZING_TOLERANCE: f64 = 1e-12;

/// Fraction of the momentum of all bodies connected to a contact, directly or through other contacts, below which the contact
/// velocity is a rounding error. Seen from a fast frame, a contact at rest has at times more than $10^{-15}$.
pub(crate) const ROUNDING_TOLERANCE: f64 = 1e-14;

/// Fraction of the kinetic norm of a velocity that counts as rounding error of the input: four units in the last place.
pub const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Rounding error of a row's velocity, as a fraction of the terms of the sum: a few units in the last place of each number.
const ROW_ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Ratio of the momentum to the largest velocity of a unit normal above which the part in the span of the rows is
/// computed. Below it, tolerances of laws (at most 1e-9 of the momentum) are less than 1e-6 of the motion in the span
/// of the contact rows.
const FAST: f64 = 256.0;

/// Fraction of the momentum in the span of the rows above which the problem keeps its given velocity.
const SEEN: f64 = 1.0 / 64.0;

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
/// # use carom_contact::internal::worst;
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

/// Marks the degrees of freedom that are connected with `row` (n entries) through nonzero entries of the mass matrix and of
/// the rows `links` (n entries each). The result has n entries, true for connected ones.
///
/// The Cholesky factor of a mass matrix has no entry between unconnected bodies, so the whitened momentum of a body
/// depends on that body alone.
#[cold]
pub(crate) fn linked<'r>(
    metric: &'r KineticMetric,
    row: &[f64],
    links: impl Iterator<Item = &'r [f64]> + Clone,
) -> Vec<bool> {
    let n = metric.dim();
    let masses = metric.mass_matrix().as_slice().chunks_exact(n.max(1));
    let (of, _) = groups(n, masses.chain(links));
    let is_touched = |group: &usize| of.iter().zip(row).any(|(of, a)| of == group && *a != 0.0);
    of.iter().map(is_touched).collect()
}

/// Norm of the part of a momentum that belongs to the degrees of freedom marked true in `touched`. The momentum is whitened
/// (n entries), that is, in coordinates in which the kinetic metric is Euclidean.
pub(crate) fn momentum_of(touched: &[bool], momentum: &[f64]) -> f64 {
    let own = momentum.iter().zip(touched);
    let own: Numbers = own.map(|(p, t)| if *t { *p } else { 0.0 }).collect();
    kernel::norm(&own)
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

/// Computes the part of the velocity before the impact (n entries) in the span of the contact rows; only this part affects
/// the impact. `None` unless the norm of its momentum is less than 1/64 of that of the whole velocity.
pub(crate) fn seen_velocity(problem: &ImpactProblem) -> Option<Tangent> {
    let normals = problem.unit_velocity().iter();
    let fastest = normals.fold(0.0, |fastest, b| f64::max(fastest, b.abs()));
    if !(problem.norm() > FAST * fastest) || problem.unit_velocity().is_empty() {
        return None;
    }
    let contacts = problem.contacts();
    let rows = contacts.all_rows().map(|row| contacts.unit_row(row));
    let mut seen = part_in_span(rows, problem.momentum());
    if !(kernel::norm(&seen) < SEEN * problem.norm()) {
        return None;
    }
    contacts.metric().unwhiten_velocity_in_place(&mut seen);
    Some(Tangent(DVector::from_column_slice(&seen) / problem.scale()))
}

/// Returns for each contact the rounding error of its normal velocity if the generalized velocity `given` (n entries) was
/// reduced to its part `seen` in the span of the rows: the rounding of `given`, and the change of the normal velocity, which
/// would be zero without rounding. The results belong to the unit normals and are multiplied by `scale`.
pub(crate) fn rounding_of_normals(
    contacts: &ContactSet,
    given: &[f64],
    seen: &[f64],
    scale: f64,
) -> Numbers {
    let rounding = |contact: ContactIndex| {
        let given = contacts.normal_velocity(contact, given, scale);
        let change = given.rate - contacts.normal_velocity(contact, seen, scale).rate;
        // One change by the reduction, as much again by a law.
        ROW_ROUNDING * given.size + 2.0 * change.abs()
    };
    contacts.indices().map(rounding).collect()
}
