//! Orthonormal basis of the rows that an answer holds, with an independent set of them.

use super::{Flat, System};
use crate::numbers::Numbers;
use carom_metric::kernel;
use carom_numeric::decisions::RANK;
use smallvec::{SmallVec, smallvec};

/// Orthonormal basis of rows, and the triangle of those that are linearly independent.
#[derive(Clone)]
pub(super) struct Span {
    pub(super) n: usize,
    /// Directions $Q$, n entries each.
    pub(super) directions: Flat,
    /// Columns of $R$: j + 1 entries of column j.
    pub(super) triangle: Flat,
    pub(super) chosen: SmallVec<[usize; 8]>,
}

impl Span {
    pub(super) fn new(n: usize) -> Self {
        Self {
            n,
            directions: Flat::new(),
            triangle: Flat::new(),
            chosen: SmallVec::new(),
        }
    }

    /// Adds the directions of unit rows, by Gram-Schmidt with pivoting and a second pass. Rows within [`RANK`] of the span are
    /// left out if `depends` says so.
    pub(super) fn extend(&mut self, rows: &[f64], depends: impl Fn(&Self, usize, &[f64]) -> bool) {
        let n = self.n;
        let mut rest: Flat = rows.into();
        for direction in self.directions.chunks_exact(n) {
            remove(direction, &mut rest);
        }
        while self.chosen.len() < n {
            let sizes = rest.chunks_exact(n).map(|row| kernel::dot(row, row));
            let largest = sizes.enumerate().fold((0, 0.0), |largest, (j, size)| {
                if size > largest.1 { (j, size) } else { largest }
            });
            let (own, size) = largest;
            if size == 0.0 {
                return;
            }
            if size <= RANK * RANK && depends(self, own, &rest[n * own..n * (own + 1)]) {
                rest[n * own..n * (own + 1)].fill(0.0);
                continue;
            }
            let mut direction: Numbers = rows[n * own..n * (own + 1)].into();
            let start = self.triangle.len();
            self.triangle.resize(start + self.chosen.len(), 0.0);
            for _ in 0..2 {
                for (j, earlier) in self.directions.chunks_exact(n).enumerate() {
                    let along = kernel::dot(earlier, &direction);
                    kernel::add_scaled(&mut direction, -along, earlier);
                    self.triangle[start + j] += along;
                }
            }
            let length = kernel::norm(&direction);
            direction.iter_mut().for_each(|x| *x /= length);
            self.triangle.push(length);
            self.directions.extend_from_slice(&direction);
            self.chosen.push(own);
            remove(&direction, &mut rest);
            rest[n * own..n * (own + 1)].fill(0.0);
        }
    }

    /// True if a row depends on the chosen ones: it differs from their combination in no coordinate by more than [`RANK`] of the
    /// terms there. Otherwise it is a condition of its own, however near: two walls that face each other leave no motion between
    /// them. Constraints may be told with rounding. `rest` is the part of the row orthogonal to the chosen ones.
    pub(super) fn depends(&self, system: &System<'_>, row: usize, rest: &[f64]) -> bool {
        let n = self.n;
        if system.contact[row] == usize::MAX {
            return true;
        }
        let unit = &system.rows[n * row..n * (row + 1)];
        let directions = self.directions.chunks_exact(n);
        let mut parts: Numbers = directions
            .map(|direction| kernel::dot(direction, unit))
            .collect();
        self.solve(&mut parts);
        let metric = system.contacts.metric();
        let mut terms: Numbers = smallvec![0.0; n];
        let own = std::iter::once((&1.0, &row));
        for (part, row) in own.chain(parts.iter().zip(&self.chosen)) {
            let mut given: Numbers = system.rows[n * row..n * (row + 1)].into();
            metric.unwhiten_in_place(&mut given);
            for (terms, a) in terms.iter_mut().zip(&given) {
                *terms += (part * a).abs();
            }
        }
        let (mut sizes, mut axis): (Numbers, Numbers) = (smallvec![0.0; n], smallvec![0.0; n]);
        for (k, terms) in terms.iter().enumerate() {
            axis.fill(0.0);
            axis[k] = *terms;
            metric.whiten_in_place(&mut axis);
            for (size, x) in sizes.iter_mut().zip(&axis) {
                *size += x.abs();
            }
        }
        for direction in self.directions.chunks_exact(n) {
            for (size, x) in sizes.iter_mut().zip(direction) {
                *size += x.abs();
            }
        }
        rest.iter()
            .zip(&sizes)
            .all(|(x, size)| x.abs() <= RANK * size)
    }

    /// Returns the row with the smallest pivot, and the pivot.
    pub(super) fn nearest(&self) -> Option<(usize, f64)> {
        let pivots = (0..self.chosen.len())
            .map(|j| (self.chosen[j], self.triangle[(j + 1) * (j + 2) / 2 - 1]));
        pivots.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Solves $R^Tx = b$ in place.
    pub(super) fn solve_transposed(&self, x: &mut [f64]) {
        for j in 0..x.len() {
            let column = &self.triangle[j * (j + 1) / 2..];
            let known = kernel::dot(&column[..j], &x[..j]);
            x[j] = (x[j] - known) / column[j];
        }
    }

    /// Solves $Rx = b$ in place.
    pub(super) fn solve(&self, x: &mut [f64]) {
        for j in (0..x.len()).rev() {
            let column = &self.triangle[j * (j + 1) / 2..];
            x[j] /= column[j];
            let own = x[j];
            kernel::add_scaled(&mut x[..j], -own, &column[..j]);
        }
    }

    /// Projects a vector onto the span.
    pub(super) fn part(&self, x: &[f64]) -> Numbers {
        let mut part: Numbers = smallvec![0.0; self.n];
        for direction in self.directions.chunks_exact(self.n) {
            kernel::add_scaled(&mut part, kernel::dot(direction, x), direction);
        }
        part
    }
}

/// Removes the component along a unit vector from every row.
fn remove(direction: &[f64], rows: &mut [f64]) {
    for row in rows.chunks_exact_mut(direction.len()) {
        let along = kernel::dot(direction, row);
        if along != 0.0 {
            kernel::add_scaled(row, -along, direction);
        }
    }
}
