//! The ratio test: quotients of a column and the right-hand side, ties, and the step.

use crate::scalar::{Scalar, larger, reduce, smaller};

/// The smallest value of a function of the entries of a column and of the right-hand side, of
/// padded length.
#[inline]
pub(super) fn smallest<T: Scalar>(column: &[T], rhs: &[T], value: impl Fn(T, T) -> T) -> T {
    let mut lanes = [T::INFINITY; 4];
    for (x, b) in column.as_chunks::<4>().0.iter().zip(rhs.as_chunks::<4>().0) {
        smallest_lanes(x, b, &value, &mut lanes);
    }
    reduce(lanes, smaller)
}

/// The smallest value so far in every lane.
#[inline(always)]
fn smallest_lanes<T: Scalar, const N: usize>(
    x: &[T; N],
    b: &[T; N],
    value: &impl Fn(T, T) -> T,
    least: &mut [T; N],
) {
    for k in 0..N {
        least[k] = smaller(value(x[k], b[k]), least[k]);
    }
}

/// Fraction of the largest entry of a column by which two of its quotients may differ and be equal.
pub(super) fn tie_rounding<T: Scalar>(n: usize) -> f64 {
    64.0 * T::ROUNDOFF * (n + 8) as f64
}

/// Moves those tied rows to the front in which the quotient `u`/`x` is smallest, up to `zero`; returns
/// how many they are.
pub(super) fn keep_smallest<T: Scalar>(ties: &mut [usize], x: &[T], u: &[T], zero: T) -> usize {
    let quotients = ties.iter().map(|i| u[*i] / x[*i]);
    let Some(smallest) = quotients.reduce(|a, b| if b < a { b } else { a }) else {
        return 0;
    };
    let mut kept = 0;
    for k in 0..ties.len() {
        let i = ties[k];
        if u[i] - smallest * x[i] <= zero {
            ties[kept] = i;
            kept += 1;
        }
    }
    kept
}

/// The first of the rows with the largest entry.
pub(super) fn stablest<T: Scalar>(rows: &[usize], x: &[T]) -> Option<usize> {
    let larger = |a: usize, b: usize| if x[b] > x[a] { b } else { a };
    rows.iter().copied().reduce(larger)
}

/// Ratios in the entering column.
pub(super) struct Ratios<T> {
    /// Its largest absolute entry.
    pub(super) most: T,
    /// Rows block whose entries are above this one.
    pub(super) floor: T,
    /// The smallest quotient of a row that blocks, or infinity.
    pub(super) step: T,
}

/// The ratio test on columns of padded length. Writes what stays of the basic variables in the rows
/// that block, infinity for the others.
pub(super) fn ratios<T: Scalar>(column: &[T], rhs: &[T], pivot: T, excess: &mut [T]) -> Ratios<T> {
    let most = largest(column);
    let floor = pivot * most;
    let step = smallest(column, rhs, |x, b| quotient(x, b, floor));
    for ((excess, x), b) in excess.iter_mut().zip(column).zip(rhs) {
        *excess = remainder(*x, *b, floor, step);
    }
    Ratios { most, floor, step }
}

/// [`ratios`] of a column whose length the compiler knows; returns what stays of the basic
/// variables.
#[inline(always)]
pub(super) fn ratios_fixed<const N: usize>(
    column: &[f64; N],
    rhs: &[f64; N],
    pivot: f64,
) -> [f64; N] {
    let floor = pivot * largest_fixed(column);
    let mut least = [f64::INFINITY; N];
    smallest_lanes(column, rhs, &|x, b| quotient(x, b, floor), &mut least);
    let step = reduce(least, smaller);
    std::array::from_fn(|k| remainder(column[k], rhs[k], floor, step))
}

/// Largest value of the entering variable until a row blocks.
#[inline(always)]
fn quotient<T: Scalar>(x: T, b: T, floor: T) -> T {
    if x > floor { b / x } else { T::INFINITY }
}

/// Rest of a basic variable at that value; infinity if its row does not block.
#[inline(always)]
fn remainder<T: Scalar>(x: T, b: T, floor: T, step: T) -> T {
    let value = b - step * x;
    if x > floor { value } else { T::INFINITY }
}

/// Subtracts `step` times the column from the right-hand side, without going below zero; returns
/// the largest entry.
#[inline]
pub(super) fn advance<T: Scalar>(rhs: &mut [T], column: &[T], step: T) -> T {
    let mut lanes = [T::ZERO; 4];
    let fours = rhs.as_chunks_mut::<4>().0.iter_mut();
    for (b, x) in fours.zip(column.as_chunks::<4>().0) {
        advance_lanes(b, x, step, &mut lanes);
    }
    reduce(lanes, larger)
}

/// [`advance`] of one chunk, with the largest entries so far.
#[inline(always)]
pub(super) fn advance_lanes<T: Scalar, const N: usize>(
    rhs: &mut [T; N],
    column: &[T; N],
    step: T,
    most: &mut [T; N],
) {
    for k in 0..N {
        let value = rhs[k] - step * column[k];
        // Negative only by rounding.
        rhs[k] = if value < T::ZERO { T::ZERO } else { value };
        most[k] = larger(rhs[k], most[k]);
    }
}

/// Largest absolute entry of a column of padded length, in independent lanes.
#[inline]
pub(super) fn largest<T: Scalar>(column: &[T]) -> T {
    let mut lanes = [T::ZERO; 4];
    for x in column.as_chunks::<4>().0 {
        largest_lanes(x, &mut lanes);
    }
    reduce(lanes, larger)
}

/// [`largest`] of a column whose length the compiler knows.
#[inline(always)]
pub(super) fn largest_fixed<const N: usize>(column: &[f64; N]) -> f64 {
    let mut most = [0.0; N];
    largest_lanes(column, &mut most);
    reduce(most, larger)
}

/// The largest absolute entry so far in every lane.
#[inline(always)]
fn largest_lanes<T: Scalar, const N: usize>(x: &[T; N], most: &mut [T; N]) {
    for k in 0..N {
        let size = if x[k] < T::ZERO { -x[k] } else { x[k] };
        most[k] = larger(size, most[k]);
    }
}
