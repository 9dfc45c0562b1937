//! Basis inverse in product form: a list of pivots.
//!
//! A pivot on row $r$ with column $c$ maps every column $x$ of the tableau to $t = x_r/c_r$ in row $r$ and
//! $x - t c$ in the other rows. The pivots are stored and applied to a column when it is needed. This makes the
//! operations of a full tableau update in the same order, but only for columns that enter the basis.

use super::room::reserve;
use crate::scalar::Scalar;

/// List of pivots in the order in which they were made, and memory for the next column.
#[derive(Clone, Debug)]
pub(super) struct Etas<T> {
    /// Padded length of a column: a multiple of four.
    stride: usize,
    /// Columns of the pivots, followed by the entering column.
    columns: Vec<T>,
    pivots: Vec<Pivot<T>>,
}

#[derive(Clone, Copy, Debug)]
struct Pivot<T> {
    row: usize,
    /// Reciprocal of the pivot element.
    inverse: T,
}

impl<T: Scalar> Etas<T> {
    pub(super) fn new() -> Self {
        Self {
            stride: 0,
            columns: Vec::new(),
            pivots: Vec::new(),
        }
    }

    /// Removes all stored pivots of Lemke's method and sets the length of columns, padded to a multiple of four, to
    /// `stride`.
    pub(super) fn reset(&mut self, stride: usize) {
        self.stride = stride;
        self.pivots.clear();
    }

    /// Reserves memory for `count` pivots of Lemke's method with columns of `stride` entries.
    pub(super) fn reserve(&mut self, count: usize, stride: usize) {
        reserve(&mut self.columns, (count + 1) * stride);
        reserve(&mut self.pivots, count);
    }

    /// Returns the number of stored pivots of Lemke's method.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.pivots.len()
    }

    /// Allocates memory for the column of the next entering variable, if necessary. The entries of the column are
    /// unspecified.
    #[inline]
    pub(super) fn make_room(&mut self) {
        let needed = (self.len() + 1) * self.stride;
        if self.columns.len() < needed {
            self.columns.resize(needed, T::ZERO);
        }
    }

    /// Returns the tableau column of the variable that enters the basis. This column is not yet part of the stored
    /// pivots.
    #[inline]
    pub(super) fn entering(&self) -> &[T] {
        let start = self.len() * self.stride;
        &self.columns[start..start + self.stride]
    }

    /// Returns the tableau column of the variable that enters the basis, for writing.
    #[inline]
    pub(super) fn entering_mut(&mut self) -> &mut [T] {
        let start = self.len() * self.stride;
        &mut self.columns[start..start + self.stride]
    }

    /// Stores the tableau column of the entering variable as a new pivot on `row`. `inverse` is the reciprocal of
    /// the column entry in that row.
    #[inline]
    pub(super) fn commit(&mut self, row: usize, inverse: T) {
        self.pivots.push(Pivot { row, inverse });
    }

    /// Applies all stored pivots to the column of the entering variable: the column of the problem becomes that of
    /// the current tableau.
    #[inline]
    pub(super) fn apply_to_entering(&mut self) {
        let (done, rest) = self.columns.split_at_mut(self.pivots.len() * self.stride);
        apply(done, &self.pivots, &mut rest[..self.stride]);
    }

    /// Applies the stored pivots of Lemke's method to a tableau column, beginning with pivot number `from`. The
    /// column is padded to a multiple of four entries.
    pub(super) fn apply(&self, column: &mut [T], from: usize) {
        let etas = &self.columns[from * self.stride..];
        apply(etas, &self.pivots[from..], column);
    }
}

#[inline]
fn apply<T: Scalar>(etas: &[T], pivots: &[Pivot<T>], x: &mut [T]) {
    match x.len() {
        4 => apply_fixed::<T, 4>(etas, pivots, x),
        8 => apply_fixed::<T, 8>(etas, pivots, x),
        _ => apply_long(etas, pivots, x),
    }
}

/// Applies stored pivots of Lemke's method one after the other to the tableau column `x`. `etas` holds the columns
/// of the pivots. The length `N` is so short that the loops are unrolled.
#[inline]
fn apply_fixed<T: Scalar, const N: usize>(etas: &[T], pivots: &[Pivot<T>], x: &mut [T]) {
    if let [x] = x.as_chunks_mut::<N>().0 {
        for (pivot, eta) in pivots.iter().zip(etas.as_chunks::<N>().0) {
            let t = x[pivot.row] * pivot.inverse;
            subtract(x, t, eta);
            x[pivot.row] = t;
        }
    }
}

/// Applies stored pivots of Lemke's method to the tableau column `x`, in groups of four. `etas` holds the columns
/// of the pivots.
fn apply_long<T: Scalar>(etas: &[T], pivots: &[Pivot<T>], x: &mut [T]) {
    let stride = x.len();
    let (fours, rest) = pivots.as_chunks::<4>();
    let (four_etas, etas) = etas.split_at(4 * stride * fours.len());
    for (four, eta) in fours.iter().zip(four_etas.chunks_exact(4 * stride)) {
        apply_four(eta, four, x);
    }
    for (pivot, eta) in rest.iter().zip(etas.chunks_exact(stride)) {
        let t = x[pivot.row] * pivot.inverse;
        if t != T::ZERO {
            subtract(x, t, eta);
        }
        x[pivot.row] = t;
    }
}

/// Subtracts `t` times the column `c` from the column `x`. Columns are padded to a multiple of four, so that there
/// is no remainder.
#[inline]
fn subtract<T: Scalar>(x: &mut [T], t: T, c: &[T]) {
    let fours = x.as_chunks_mut::<4>().0.iter_mut();
    for (x, c) in fours.zip(c.as_chunks::<4>().0) {
        for k in 0..4 {
            x[k] = x[k] - t * c[k];
        }
    }
}

/// Applies four stored pivots of Lemke's method to the tableau column `x` in one pass. `etas` holds the columns of
/// the pivots. The multipliers are computed first, with the operations that single pivots would make.
#[inline]
fn apply_four<T: Scalar>(etas: &[T], four: &[Pivot<T>; 4], x: &mut [T]) {
    let rows = four.map(|pivot| pivot.row);
    let n = x.len();
    let (a, rest) = etas.split_at(n);
    let (b, rest) = rest.split_at(n);
    let (c, rest) = rest.split_at(n);
    let etas = [a, b, c, &rest[..n]];
    let mut t = [T::ZERO; 4];
    for k in 0..4 {
        let mut value = x[rows[k]];
        for p in 0..k {
            value = if rows[p] == rows[k] {
                t[p]
            } else {
                value - t[p] * etas[p][rows[k]]
            };
        }
        t[k] = value * four[k].inverse;
    }
    if t.iter().all(|t| *t == T::ZERO) {
        return;
    }
    let mut pivots = t;
    for k in 0..4 {
        for p in k + 1..4 {
            pivots[k] = if rows[p] == rows[k] {
                t[p]
            } else {
                pivots[k] - t[p] * etas[p][rows[k]]
            };
        }
    }
    let [a, b, c, d] = etas.map(|eta| eta.as_chunks::<4>().0.iter());
    let fours = x.as_chunks_mut::<4>().0.iter_mut();
    for ((((x, a), b), c), d) in fours.zip(a).zip(b).zip(c).zip(d) {
        for k in 0..4 {
            x[k] = x[k] - t[0] * a[k] - t[1] * b[k] - t[2] * c[k] - t[3] * d[k];
        }
    }
    for k in 0..4 {
        x[rows[k]] = pivots[k];
    }
}
