//! The inverse of a basis as a product of pivots.
//!
//! A pivot on row $r$ with column $c$ maps every column $x$ of the tableau to
//! $x - t c$ outside row $r$ and to $t = x_r/c_r$ in it. Keeping the pivots and applying them to a
//! column when it is needed does the same operations in the same order as updating the whole
//! tableau at every pivot, but only for the columns that ever enter.

use crate::scalar::Scalar;

/// From this padded length on four pivots are applied in one pass.
const FUSED_FROM: usize = 12;

/// Pivots in the order in which they were made, and room for the next column.
#[derive(Clone, Debug)]
pub(super) struct Etas<T> {
    /// Padded length of a column, a multiple of four.
    stride: usize,
    /// Columns of the pivots, then the entering column.
    columns: Vec<T>,
    rows: Vec<usize>,
    /// Reciprocals of the pivot elements.
    inverses: Vec<T>,
}

impl<T: Scalar> Etas<T> {
    pub(super) fn new() -> Self {
        Self {
            stride: 0,
            columns: Vec::new(),
            rows: Vec::new(),
            inverses: Vec::new(),
        }
    }

    /// Forgets all pivots; columns have `stride` entries from now on.
    pub(super) fn reset(&mut self, stride: usize) {
        self.stride = stride;
        self.rows.clear();
        self.inverses.clear();
    }

    /// Number of pivots.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Makes room for the entering column, with unspecified entries.
    #[inline]
    pub(super) fn make_room(&mut self) {
        let needed = (self.len() + 1) * self.stride;
        if self.columns.len() < needed {
            self.columns.resize(needed, T::ZERO);
        }
    }

    /// The entering column.
    #[inline]
    pub(super) fn entering(&self) -> &[T] {
        let start = self.len() * self.stride;
        &self.columns[start..start + self.stride]
    }

    /// The entering column, to be filled.
    #[inline]
    pub(super) fn entering_mut(&mut self) -> &mut [T] {
        let start = self.len() * self.stride;
        &mut self.columns[start..start + self.stride]
    }

    /// Makes the entering column the next pivot, on row `row` with the reciprocal of its element.
    #[inline]
    pub(super) fn commit(&mut self, row: usize, inverse: T) {
        self.rows.push(row);
        self.inverses.push(inverse);
    }

    /// Applies all pivots to the entering column.
    #[inline]
    pub(super) fn apply_to_entering(&mut self) {
        let (done, rest) = self.columns.split_at_mut(self.rows.len() * self.stride);
        apply(done, &self.rows, &self.inverses, &mut rest[..self.stride]);
    }

    /// Applies all pivots to a column of padded length.
    pub(super) fn apply(&self, column: &mut [T]) {
        apply(&self.columns, &self.rows, &self.inverses, column);
    }
}

#[inline]
fn apply<T: Scalar>(etas: &[T], rows: &[usize], inverses: &[T], x: &mut [T]) {
    let stride = x.len();
    let mut from = 0;
    if stride >= FUSED_FROM {
        let (fours, _) = rows.as_chunks::<4>();
        let (inverse_fours, _) = inverses.as_chunks::<4>();
        for (rows, inverses) in fours.iter().zip(inverse_fours) {
            apply_four(
                &etas[from * stride..(from + 4) * stride],
                *rows,
                *inverses,
                x,
            );
            from += 4;
        }
    }
    let rest = rows.iter().zip(inverses).skip(from);
    for ((row, inverse), eta) in rest.zip(etas[from * stride..].chunks_exact(stride)) {
        if x[*row] != T::ZERO {
            let t = x[*row] * *inverse;
            // Columns are padded to fours, so that no loop has a remainder.
            let (x_fours, eta_fours) = (x.as_chunks_mut::<4>().0, eta.as_chunks::<4>().0);
            for (x, c) in x_fours.iter_mut().zip(eta_fours) {
                for k in 0..4 {
                    x[k] = x[k] - t * c[k];
                }
            }
            x[*row] = t;
        }
    }
}

/// Four pivots in one pass over the column: the multipliers first, by the same operations that
/// one pivot after the other would make.
#[inline]
fn apply_four<T: Scalar>(etas: &[T], rows: [usize; 4], inverses: [T; 4], x: &mut [T]) {
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
        t[k] = value * inverses[k];
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
