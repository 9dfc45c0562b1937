//! Dense linear systems of few contacts: rows of constant length, so that loops over them are unrolled.

use super::checks::WIDTH;
use super::law::{Square, Triple};
use super::system::System;

/// LU factors, with partial pivoting, of a matrix with at most `N` rows: three for each contact.
///
/// Rows stay at their places. Unknown rows are eliminated; the impulses on the others stand in equations of their own, which the
/// right-hand side solves.
#[derive(Clone, Debug, Default)]
pub(super) struct Few<const N: usize> {
    /// Unknown rows, and the rows in the order in which they are pivots.
    unknown: Vec<u8>,
    order: Vec<u8>,
    /// Upper factor by rows, and the reciprocals of its pivots. Rows live on the heap, so that a work space is small to move.
    upper: Vec<[f64; N]>,
    reciprocals: Vec<f64>,
    /// Columns of the lower factor, in the order of the pivots, without its diagonal.
    lower: Vec<[f64; N]>,
}

impl<const N: usize> Few<N> {
    /// Factors $A + B(G + R)$ for the contacts of a system; `soft` holds the compliances $R$. Returns the number of unknown rows
    /// and the least pivot; zero if the matrix is singular.
    pub(super) fn factor(
        &mut self,
        system: &System,
        (a, b): (&[Square], &[Square]),
        soft: &[f64],
    ) -> (usize, f64) {
        self.unknown.clear();
        self.upper.resize(N, [0.0; N]);
        let rows = system.rows::<N>();
        for (i, ((a, b), soft)) in a.iter().zip(b).zip(soft).enumerate() {
            let first = WIDTH * i;
            for k in 0..WIDTH {
                let (a, b) = (&a[k], &b[k]);
                let is_alone = (0..WIDTH).all(|j| j == k || a[j] == 0.0);
                if is_alone && *b == [0.0; WIDTH] {
                    continue;
                }
                self.unknown.push((first + k) as u8);
                let mut equation = [0.0; N];
                for (b, row) in b.iter().zip(&rows[first..]) {
                    if *b != 0.0 {
                        for (x, g) in equation.iter_mut().zip(row) {
                            *x += b * g;
                        }
                    }
                }
                for (x, (a, b)) in equation[first..].iter_mut().zip(a.iter().zip(b)) {
                    *x += a + soft * b;
                }
                self.upper[first + k] = equation;
            }
        }
        (self.unknown.len(), self.eliminate())
    }

    /// Eliminates the unknown rows. Returns the least pivot; zero if the matrix is singular.
    fn eliminate(&mut self) -> f64 {
        let mut least = f64::INFINITY;
        self.order.clone_from(&self.unknown);
        self.reciprocals.clear();
        self.lower.clear();
        for (k, column) in self.unknown.iter().enumerate() {
            let column = usize::from(*column);
            let (mut best, mut size) = (k, 0.0);
            for (at, row) in self.order.iter().enumerate().skip(k) {
                let x = self.upper[usize::from(*row)][column].abs();
                if x > size {
                    (best, size) = (at, x);
                }
            }
            // Rows have entries of about one.
            if !(size > f64::EPSILON && size.is_finite()) {
                return 0.0;
            }
            least = f64::min(least, size);
            self.order.swap(k, best);
            let pivot = self.upper[usize::from(self.order[k])];
            let reciprocal = 1.0 / pivot[column];
            self.reciprocals.push(reciprocal);
            let mut factors = [0.0; N];
            for row in &self.order[k + 1..] {
                let at = usize::from(*row);
                let row = &mut self.upper[at];
                if row[column] != 0.0 {
                    let factor = row[column] * reciprocal;
                    for (x, p) in row.iter_mut().zip(&pivot) {
                        *x -= factor * p;
                    }
                    row[column] = 0.0;
                    factors[at] = factor;
                }
            }
            self.lower.push(factors);
        }
        least
    }

    /// Overwrites `x` = $y$ by the solution of the system that was factored last.
    pub(super) fn solve(&self, x: &mut [Triple]) {
        let (mut y, mut known) = ([0.0; N], [0.0; N]);
        let x = x.as_flattened_mut();
        known[..x.len()].copy_from_slice(x);
        for row in &self.unknown {
            let row = usize::from(*row);
            (y[row], known[row]) = (known[row], 0.0);
        }
        for (row, column) in self.order.iter().zip(&self.lower) {
            let factor = y[usize::from(*row)];
            for (y, l) in y.iter_mut().zip(column) {
                *y -= factor * l;
            }
        }
        let pivots = self.unknown.iter().zip(&self.order).zip(&self.reciprocals);
        for ((column, row), reciprocal) in pivots.rev() {
            let row = usize::from(*row);
            let mut sums = [0.0; 4];
            let terms = self.upper[row]
                .as_chunks()
                .0
                .iter()
                .zip(known.as_chunks().0);
            for (u, x) in terms {
                let (u, x): (&[f64; 4], &[f64; 4]) = (u, x);
                for (sum, (u, x)) in sums.iter_mut().zip(u.iter().zip(x)) {
                    *sum += u * x;
                }
            }
            let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            known[usize::from(*column)] = (y[row] - sum) * reciprocal;
        }
        for (x, known) in x.iter_mut().zip(known) {
            *x = known;
        }
    }
}
