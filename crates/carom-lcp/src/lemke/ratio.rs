//! Ratio test: quotients of the right-hand side and a column, ties, and the step.

use crate::scalar::{Scalar, larger, reduce, smaller};

/// Returns the smallest of the values `value(x, b)` over the rows, with $x$ the entry of `column` and $b$ that of
/// `rhs`. Both slices are padded to a multiple of four entries.
#[inline]
pub(super) fn smallest<T: Scalar>(column: &[T], rhs: &[T], value: impl Fn(T, T) -> T) -> T {
    let mut lanes = [T::INFINITY; 4];
    for (x, b) in column.as_chunks::<4>().0.iter().zip(rhs.as_chunks::<4>().0) {
        smallest_lanes(x, b, &value, &mut lanes);
    }
    reduce(lanes, smaller)
}

/// Computes `value(x, b)` for each of `N` rows, and replaces the entry of `least` at the same position if the value is
/// smaller than the entry.
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

/// Returns the tolerance within which two quotients of the ratio test count as equal (a tie), as a fraction of the
/// largest entry of the column. `n` is the number of rows.
pub(super) fn tie_rounding<T: Scalar>(n: usize) -> f64 {
    64.0 * T::ROUNDOFF * (n + 8) as f64
}

/// Finds among the rows `ties`, which tie in the ratio test, those with the smallest quotient `u`/`x`, up to the
/// tolerance `zero`. Moves the rows found to the front of `ties` and returns their number.
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

/// Returns the row among `rows` with the largest entry of `x`; among equal entries the first. `None` if `rows` is
/// empty.
pub(super) fn stablest<T: Scalar>(rows: &[usize], x: &[T]) -> Option<usize> {
    let larger = |a: usize, b: usize| if x[b] > x[a] { b } else { a };
    rows.iter().copied().reduce(larger)
}

/// Result of the ratio test in the entering column.
pub(super) struct Ratios<T> {
    /// Largest absolute entry of the column.
    pub(super) most: T,
    /// Threshold: rows with entries above it can block.
    pub(super) floor: T,
    /// Smallest quotient of a row that can block; infinity if there is no such row.
    pub(super) step: T,
}

/// Makes the ratio test of Lemke's method: finds the smallest quotient of `rhs` and `column` over the rows whose
/// column entry exceeds `pivot` times the largest one. This quotient is the step of the entering variable. Writes
/// into `excess` the values of the basic variables after that step; infinity in rows whose column entry is too
/// small. The slices are padded to a multiple of four entries.
#[inline]
pub(super) fn ratios<T: Scalar>(column: &[T], rhs: &[T], pivot: T, excess: &mut [T]) -> Ratios<T> {
    let most = largest(column);
    let floor = pivot * most;
    let step = smallest(column, rhs, |x, b| quotient(x, b, floor));
    let fours = column.as_chunks::<4>().0.iter().zip(rhs.as_chunks::<4>().0);
    for (excess, (x, b)) in excess.as_chunks_mut::<4>().0.iter_mut().zip(fours) {
        for k in 0..4 {
            excess[k] = remainder(x[k], b[k], floor, step);
        }
    }
    Ratios { most, floor, step }
}

/// Makes the ratio test of [`ratios`] for a number of rows known at compile time. Returns the values of the basic
/// variables after the step; infinity in rows whose column entry does not exceed `pivot` times the largest one.
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

/// Returns the value of the entering variable at which a basic variable reaches zero: `b`/`x`, with `b` its value
/// and `x` its entry in the entering column. Returns infinity if `x` does not exceed `floor`.
#[inline(always)]
fn quotient<T: Scalar>(x: T, b: T, floor: T) -> T {
    if x > floor { b / x } else { T::INFINITY }
}

/// Returns the value of a basic variable after the entering variable has grown by `step`. `b` is the value before,
/// and `x` is the entry in the entering column. Returns infinity if `x` does not exceed `floor`.
#[inline(always)]
fn remainder<T: Scalar>(x: T, b: T, floor: T, step: T) -> T {
    let value = b - step * x;
    if x > floor { value } else { T::INFINITY }
}

/// Sizes to which rounding errors of a ratio test are relative.
pub(super) struct Sizes<T> {
    /// Largest absolute entry of the column, and the smallest entry that can block.
    pub(super) most: T,
    pub(super) floor: T,
    /// Basic variables below this count as zero.
    pub(super) zero: T,
    /// Largest basic variable.
    pub(super) rhs_max: T,
}

/// Entries of the entering column below this fraction of its largest entry have inaccurate quotients.
const SMALL_ENTRY: f64 = 1.0 / 16.0;

/// Returns a second bound of the step: rows that can block and whose quotients are not larger tie, too. `None` unless a row of
/// `ties`, the rows found by [`ratios`], has a small entry in the entering column.
///
/// The quotient of such a row, the step, is inaccurate, and rows with larger entries that reach zero together with it would not
/// tie. The bound is the longest step after which no basic variable is below minus a tolerance (Harris 1973): `zero`, or the
/// rounding error of a column times the step if that is larger. `zero` is the tolerance of the basic variables `rhs`, the
/// largest of which is `rhs_max`; `most` is the largest entry of `column` and `floor` the smallest that can block.
#[inline]
pub(super) fn longest_step<T: Scalar>(
    column: &[T],
    rhs: &[T],
    Sizes {
        most,
        floor,
        zero,
        rhs_max,
    }: Sizes<T>,
    ties: &[usize],
) -> Option<T> {
    let small = most * T::from_f64(SMALL_ENTRY);
    let has_small = ties.iter().any(|i| column[*i] < small);
    has_small.then(|| {
        let quotients = ties.iter().map(|i| rhs[*i] / column[*i]);
        let step = quotients.fold(T::INFINITY, smaller);
        let zero = larger(zero, zero / rhs_max * (step * most));
        let rows = column.iter().zip(rhs);
        let steps = rows.map(|(x, b)| quotient(*x, *b + zero, floor));
        steps.fold(T::INFINITY, smaller)
    })
}

/// Subtracts `step` times `column` from the values of the basic variables, `rhs`, and sets negative results, which
/// are rounding errors, to zero. Returns the largest new value.
#[inline]
pub(super) fn advance<T: Scalar>(rhs: &mut [T], column: &[T], step: T) -> T {
    let mut lanes = [T::ZERO; 4];
    let fours = rhs.as_chunks_mut::<4>().0.iter_mut();
    for (b, x) in fours.zip(column.as_chunks::<4>().0) {
        advance_lanes(b, x, step, &mut lanes);
    }
    reduce(lanes, larger)
}

/// Subtracts `step` times `column` from `rhs` for a group of `N` rows, as [`advance`] does. Replaces each entry of
/// `most` by the new value at the same position if that is larger.
#[inline(always)]
pub(super) fn advance_lanes<T: Scalar, const N: usize>(
    rhs: &mut [T; N],
    column: &[T; N],
    step: T,
    most: &mut [T; N],
) {
    for k in 0..N {
        let value = rhs[k] - step * column[k];
        // A negative value is a rounding error.
        rhs[k] = if value < T::ZERO { T::ZERO } else { value };
        most[k] = larger(rhs[k], most[k]);
    }
}

/// Returns the largest absolute entry of a column whose length is padded to a multiple of four.
#[inline]
pub(super) fn largest<T: Scalar>(column: &[T]) -> T {
    let mut lanes = [T::ZERO; 4];
    for x in column.as_chunks::<4>().0 {
        largest_lanes(x, &mut lanes);
    }
    reduce(lanes, larger)
}

/// Returns the largest absolute entry of a column whose length is known at compile time.
#[inline(always)]
pub(super) fn largest_fixed<const N: usize>(column: &[f64; N]) -> f64 {
    let mut most = [0.0; N];
    largest_lanes(column, &mut most);
    reduce(most, larger)
}

/// Replaces each entry of `most` by the absolute value of the entry of `x` at the same position if that is larger.
#[inline(always)]
fn largest_lanes<T: Scalar, const N: usize>(x: &[T; N], most: &mut [T; N]) {
    for k in 0..N {
        let size = if x[k] < T::ZERO { -x[k] } else { x[k] };
        most[k] = larger(size, most[k]);
    }
}
