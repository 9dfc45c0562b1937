//! Orthonormal basis of the rows that an answer holds, with an independent set of them.

use super::system::System;
use super::{Flat, NEAR};
use crate::numbers::Numbers;
use carom_metric::kernel;
use carom_numeric::decisions::{RANK, Sum};
use smallvec::{SmallVec, smallvec};

/// Corrections of the coefficients of the combination of other rows that is nearest to a row.
const CORRECTIONS: usize = 2;

/// Part of a squared length that a difference of squares may leave without losing it to rounding.
const SHARP: f64 = 0.01;

/// Orthonormal basis of rows, and the triangle of those that are linearly independent.
pub(super) struct Span {
    pub(super) n: usize,
    /// Directions $Q$, n entries each.
    pub(super) directions: Flat,
    /// Columns of $R$: j + 1 entries of column j.
    triangle: Flat,
    pub(super) chosen: SmallVec<[usize; 8]>,
    /// Error of the velocity of each chosen row.
    pub(super) errors: Numbers,
}

impl Span {
    /// Finds the directions of unit rows, by Gram-Schmidt with pivoting and a second pass. Rows that depend on others are left
    /// out.
    pub(super) fn new(system: &System<'_>) -> Self {
        let (n, m) = (system.left.len(), system.held.len());
        let mut span = Self {
            n,
            directions: Flat::new(),
            triangle: Flat::new(),
            chosen: SmallVec::new(),
            errors: Numbers::new(),
        };
        let most = n.min(m);
        let mut rest: Flat = system.rows.as_slice().into();
        // Parts of each row along the directions, and squared length of the rest.
        let mut parts: Flat = smallvec![0.0; m * most];
        let mut sizes: Numbers = smallvec![1.0; m];
        while span.chosen.len() < most {
            let (mut own, mut size) = (0, 0.0);
            for (j, other) in sizes.iter().enumerate() {
                if *other > size {
                    (own, size) = (j, *other);
                }
            }
            if size == 0.0 {
                break;
            }
            sizes[own] = 0.0;
            let mut direction: Numbers = rest[n * own..n * (own + 1)].into();
            if size <= NEAR * NEAR && !span.separates(system, own, &mut direction) {
                continue;
            }
            let k = span.chosen.len();
            let start = span.triangle.len();
            span.triangle
                .extend_from_slice(&parts[most * own..most * own + k]);
            for (j, earlier) in span.directions.chunks_exact(n).enumerate() {
                let along = kernel::dot(earlier, &direction);
                kernel::add_scaled(&mut direction, -along, earlier);
                span.triangle[start + j] += along;
            }
            let length = kernel::norm(&direction);
            direction.iter_mut().for_each(|x| *x /= length);
            span.triangle.push(length);
            span.directions.extend_from_slice(&direction);
            span.chosen.push(own);
            let is_last = k + 1 == most;
            for (j, row) in rest.chunks_exact_mut(n).enumerate() {
                if sizes[j] > 0.0 {
                    let along = kernel::dot(&direction, row);
                    parts[most * j + k] = along;
                    if !is_last {
                        kernel::add_scaled(row, -along, &direction);
                        let left = sizes[j] - along * along;
                        // A small difference is rounding.
                        let is_sharp = left > SHARP * sizes[j];
                        sizes[j] = if is_sharp {
                            left
                        } else {
                            kernel::dot(row, row)
                        };
                    }
                }
            }
        }
        span.add_errors(system, &parts, most);
        span
    }

    /// Adds the errors of the chosen rows. A row that depends on them, but misses their combination by more than rounding, is in
    /// conflict with them: the exact answer leaves one of them, whose velocity is off by this gap over its coefficient. `parts` are
    /// those of each row along the directions, in rows of length `most`.
    fn add_errors(&mut self, system: &System<'_>, parts: &[f64], most: usize) {
        let (k, held) = (self.chosen.len(), &system.held);
        self.errors = self.chosen.iter().map(|own| held[*own].error).collect();
        if k == held.len() {
            return;
        }
        let mut along: Numbers = self.chosen.iter().map(|own| held[*own].miss).collect();
        self.solve_transposed(&mut along);
        for (j, (row, parts)) in held.iter().zip(parts.chunks_exact(most.max(1))).enumerate() {
            let gap = (row.miss - kernel::dot(&parts[..k], &along)).abs();
            if gap <= row.rounding || self.chosen.contains(&j) {
                continue;
            }
            let mut parts: Numbers = parts[..k].into();
            self.solve(&mut parts);
            let others = || parts.iter().map(|part| part.abs()).zip(&self.chosen);
            let rounding = others().map(|(part, own)| part * held[*own].rounding);
            if gap <= row.rounding + rounding.sum::<f64>() {
                continue;
            }
            let leaves = { others().enumerate() }
                .filter(|(_, (part, own))| *part > RANK && held[**own].contact != usize::MAX)
                .min_by(|a, b| a.1.0.total_cmp(&b.1.0));
            if let Some((other, (part, _))) = leaves {
                self.errors[other] = self.errors[other].max(gap / part);
            }
        }
    }

    /// Computes the part of a row orthogonal to the chosen ones, `rest`, from the rows in the caller's coordinates: whitening rounds
    /// the difference of rows that nearly agree. Returns false if the row depends on the chosen ones: if this part is below [`RANK`],
    /// and in the caller's coordinates the row differs from their combination in no entry by more than [`RANK`] of the terms and
    /// of the chosen rows there. Otherwise it is a condition of its own, however near: two walls that face each other leave no motion between them.
    /// Constraints may be told with rounding.
    #[cold]
    fn separates(&self, system: &System<'_>, row: usize, rest: &mut Numbers) -> bool {
        let held = &system.held;
        if held[row].contact == usize::MAX || held[row].given.0.is_empty() {
            return kernel::norm(rest) > RANK;
        }
        let (n, metric) = (self.n, system.contacts.metric());
        let given = |row: usize| -> Vec<f64> {
            let (entries, factor) = held[row].given;
            if entries.is_empty() {
                let mut entries = system.rows[n * row..n * (row + 1)].to_vec();
                metric.unwhiten_in_place(&mut entries);
                return entries;
            }
            entries.iter().map(|a| a * factor).collect()
        };
        let mut parts: Numbers = smallvec![0.0; self.chosen.len()];
        let mut sums: Vec<Sum> = Vec::new();
        for _ in 0..=CORRECTIONS {
            sums = given(row)
                .into_iter()
                .map(|a| [a].into_iter().collect())
                .collect();
            for (part, other) in parts.iter().zip(&self.chosen) {
                for (sum, a) in sums.iter_mut().zip(given(*other)) {
                    sum.add(-part * a);
                    sum.size += a.abs();
                }
            }
            *rest = sums.iter().map(|sum| sum.value).collect();
            metric.whiten_in_place(rest);
            let along = self.directions.chunks_exact(n);
            let mut more: Numbers = along.map(|q| kernel::dot(q, rest)).collect();
            self.solve(&mut more);
            for (part, more) in parts.iter_mut().zip(&more) {
                *part += more;
            }
        }
        kernel::norm(rest) > RANK || !sums.iter().all(|sum| sum.is_below(RANK))
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
}
