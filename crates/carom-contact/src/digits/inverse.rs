//! Inverse of the system that an answer solves, up to the velocity, weighted with the errors of its right-hand side.

use super::system::System;
use super::{Flat, NEAR};
use crate::numbers::Numbers;
use carom_metric::kernel;
use carom_numeric::decisions::{RANK, Sum};
use carom_numeric::dense;
use smallvec::{SmallVec, smallvec};

/// Part of a squared length that may be left of a row without losing it to rounding.
const SHARP: f64 = 0.01;

/// Inverse of the system in whitened coordinates, $W = ((I - TP^T)L^{-1},\ TR^{-T})$, and the errors $f$ of its right-hand side.
pub(super) struct Inverse<'s, 'p> {
    system: &'s System<'p>,
    n: usize,
    /// Rows that are linearly independent of the others, in the order in which they were taken.
    chosen: SmallVec<[usize; 8]>,
    /// Rows of $P^T$: the directions $Q$ of the chosen rows, then those across the sliding of contacts, times their factors.
    directions: Flat,
    /// Columns of $R$: j + 1 entries of column j.
    triangle: Flat,
    /// Transposed $T$: one row of n entries per direction; empty if it is $Q^T$.
    turned: Flat,
    /// Errors of the rows.
    errors: Numbers,
}

impl<'s, 'p> Inverse<'s, 'p> {
    pub(super) fn new(system: &'s System<'p>) -> Self {
        Self {
            system,
            n: system.left.len(),
            chosen: SmallVec::new(),
            directions: Flat::new(),
            triangle: Flat::new(),
            turned: Flat::new(),
            errors: Numbers::new(),
        }
    }

    /// True if rows hold every velocity: they do so with any impulses, and with any error of the momentum.
    fn holds_all(&self) -> bool {
        self.spans_all() && self.system.stretch == 1.0
    }

    /// True if the held rows span all coordinates.
    pub(super) fn spans_all(&self) -> bool {
        self.chosen.len() == self.n
    }

    /// Factors the rows of the system, as if each impulse acted along its row: finds the directions of unit rows by Gram-Schmidt, with
    /// a second pass for short rests. A row waits while its rest is less than a tenth as long as the longest was in the round before.
    /// Rows that depend on others are left out.
    pub(super) fn factor_rows(&mut self) {
        let (n, held) = (self.n, self.system.held.as_slice());
        let most = n.min(held.len());
        self.directions = Flat::with_capacity(n * most);
        self.triangle = Flat::with_capacity(most * (most + 1) / 2);
        self.chosen.reserve(most);
        let mut waiting: SmallVec<[usize; 32]> = (0..held.len()).collect();
        let mut rest = Numbers::from_elem(0.0, n);
        let mut level = 1.0;
        while level > 0.0 {
            let mut longest = 0.0f64;
            waiting.retain(|own| {
                let (row, k) = (&held[*own], self.chosen.len());
                if k == most {
                    return false;
                }
                let first = self.triangle.len();
                rest.copy_from_slice(&row.unit);
                self.project(&mut rest);
                let size = kernel::dot(&rest, &rest);
                // Constraints are orthonormal and come first: contacts act on the motion that they leave.
                if size < SHARP * level && !row.is_constraint() {
                    self.triangle.truncate(first);
                    longest = longest.max(size);
                    return true;
                }
                if size <= NEAR * NEAR && !self.separates(*own, first, &mut rest) {
                    self.triangle.truncate(first);
                    return false;
                }
                // A long rest is orthogonal but for rounding.
                if size <= SHARP {
                    self.project(&mut rest);
                    let (entries, more) = self.triangle[first..].split_at_mut(k);
                    kernel::add_scaled(entries, 1.0, more);
                    self.triangle.truncate(first + k);
                }
                let length = kernel::norm(&rest);
                self.triangle.push(length);
                self.directions.extend(rest.iter().map(|x| x / length));
                self.chosen.push(*own);
                false
            });
            level = longest;
        }
        self.add_errors();
    }

    /// Subtracts from a row its parts along the directions, and adds the parts to the end of the triangle.
    fn project(&mut self, rest: &mut [f64]) {
        let (n, first) = (self.n, self.triangle.len());
        let directions = self.directions.chunks_exact(n);
        let along = directions
            .clone()
            .map(|direction| kernel::dot(direction, rest));
        self.triangle.extend(along);
        for (along, direction) in self.triangle[first..].iter().zip(directions) {
            kernel::add_scaled(rest, -along, direction);
        }
    }

    /// Adds the errors of the chosen rows. A row that depends on them, but misses their combination by more than rounding, is in
    /// conflict with them: the exact answer leaves one of them, whose velocity is off by this gap over its coefficient.
    fn add_errors(&mut self) {
        let (k, held) = (self.chosen.len(), &self.system.held);
        self.errors = { self.chosen.iter() }.map(|own| held[*own].error).collect();
        if k == held.len() {
            return;
        }
        // Velocity in the span of the chosen rows: its parts along the directions are the solution of $R^Tx = b$.
        let mut along: Numbers = self.chosen.iter().map(|own| held[*own].miss).collect();
        let mut velocity = Numbers::from_elem(0.0, self.n);
        for (j, direction) in self.directions.chunks_exact(self.n).enumerate() {
            let column = &self.triangle[j * (j + 1) / 2..];
            along[j] = (along[j] - kernel::dot(&column[..j], &along[..j])) / column[j];
            kernel::add_scaled(&mut velocity, along[j], direction);
        }
        for (j, row) in held.iter().enumerate() {
            let gap = (row.miss - kernel::dot(&row.unit, &velocity)).abs();
            if gap <= row.rounding || self.chosen.contains(&j) {
                continue;
            }
            let directions = self.directions.chunks_exact(self.n);
            let mut parts: Numbers = directions.map(|q| kernel::dot(q, &row.unit)).collect();
            self.solve(&mut parts);
            let others = parts.iter().zip(&self.chosen);
            let rounding = others.map(|(part, own)| part.abs() * held[*own].rounding);
            let rounding = row.rounding + rounding.sum::<f64>();
            let others = parts.iter().map(|part| part.abs()).enumerate();
            let leaves = { others.zip(&self.chosen) }
                .filter(|((_, part), own)| *part > RANK && !held[**own].is_constraint())
                .min_by(|a, b| a.0.1.total_cmp(&b.0.1));
            if let Some(((other, part), _)) = leaves.filter(|_| gap > rounding) {
                self.errors[other] = self.errors[other].max(gap / part);
            }
        }
    }

    /// Computes the part of a row orthogonal to the chosen ones, `rest`, from the rows in the caller's coordinates: whitening rounds
    /// the difference of rows that nearly agree. The parts of the row along the directions stand in the triangle
    /// from `first`. Returns false if the row
    /// depends on the chosen ones: if this part is below [`RANK`], and in the caller's coordinates the row differs from their
    /// combination in no entry by more than [`RANK`] of the terms and of the chosen rows there. Otherwise it is a condition of its
    /// own, however near: two walls that face each other leave no motion between them. Constraints may be told with rounding.
    #[cold]
    fn separates(&self, row: usize, first: usize, rest: &mut [f64]) -> bool {
        let (system, held) = (self.system, &self.system.held);
        if held[row].given.0.is_empty() {
            return kernel::norm(rest) > RANK;
        }
        let (n, metric) = (self.n, system.contacts.metric());
        let mut parts = Numbers::from_slice(&self.triangle[first..]);
        self.solve(&mut parts);
        let mut sums: SmallVec<[Sum; 16]> = SmallVec::new();
        // The first combination is as near as the directions tell, the second is corrected by what it left.
        for is_corrected in [false, true] {
            sums.clear();
            let (entries, factor) = held[row].given;
            sums.extend(
                entries
                    .iter()
                    .map(|a| [a * factor].into_iter().collect::<Sum>()),
            );
            for (part, other) in parts.iter().zip(&self.chosen) {
                let mut add = |factor: f64, entries: &[f64]| {
                    for (sum, a) in sums.iter_mut().zip(entries) {
                        sum.add(-part * (a * factor));
                        sum.size += (a * factor).abs();
                    }
                };
                match held[*other].given {
                    ([], _) => {
                        let mut entries = Numbers::from_slice(&held[*other].unit);
                        metric.unwhiten_in_place(&mut entries);
                        add(1.0, &entries);
                    }
                    (entries, factor) => add(factor, entries),
                }
            }
            let values = rest.iter_mut().zip(&sums);
            values.for_each(|(rest, sum)| *rest = sum.value);
            metric.whiten_in_place(rest);
            if kernel::norm(rest) <= RANK && sums.iter().all(|sum| sum.is_below(RANK)) {
                return false;
            }
            if is_corrected {
                break;
            }
            let along = self.directions.chunks_exact(n).take(parts.len());
            let mut more: Numbers = along.map(|q| kernel::dot(q, rest)).collect();
            self.solve(&mut more);
            for (part, more) in parts.iter_mut().zip(&more) {
                *part += more;
            }
        }
        true
    }

    /// Computes $T = U_B(P^TU_B + D)^{-1}$ from the columns of the impulses; false if it is singular.
    pub(super) fn turn(&mut self) -> bool {
        let (n, system) = (self.n, self.system);
        let across = &system.across;
        if self.holds_all() || system.columns.is_empty() && across.rows.is_empty() {
            return true;
        }
        let mut columns = Flat::new();
        for own in &self.chosen {
            let row = &system.held[*own];
            let column = { row.column }.map(|first| &system.columns[first..first + n]);
            columns.extend_from_slice(column.unwrap_or(&row.unit));
        }
        columns.extend_from_slice(&across.rows);
        let rows = across.rows.chunks_exact(n).zip(&across.errors);
        for ((row, error), stiffness) in rows.zip(&across.stiffness) {
            let factor = stiffness.min(1.0);
            self.directions.extend(row.iter().map(|x| x * factor));
            self.errors.push(error * factor);
        }
        // Rows of the transposed matrix $P^TU_B + D$, column by column.
        let k = self.errors.len();
        let mut matrix: Flat = smallvec![0.0; k * k];
        for (j, column) in columns.chunks_exact(n).enumerate() {
            for (i, direction) in self.directions.chunks_exact(n).enumerate() {
                matrix[i * k + j] = kernel::dot(direction, column);
            }
        }
        for (j, stiffness) in across.stiffness.iter().enumerate() {
            matrix[(self.chosen.len() + j) * (k + 1)] += (1.0 / stiffness).min(1.0);
        }
        let mut pivots: SmallVec<[usize; 8]> = smallvec![0; k];
        if !dense::lu(&mut matrix, k, &mut pivots) {
            return false;
        }
        // Impulses that rounding chose have no digits, whatever the velocity has.
        let diagonal = matrix.iter().step_by(k + 1);
        if system.stretch != 1.0 && diagonal.fold(1.0, |least, d| d.abs().min(least)) <= RANK {
            return false;
        }
        self.turned = smallvec![0.0; n * k];
        let mut x: Numbers = smallvec![0.0; k];
        for c in 0..n {
            for (x, column) in x.iter_mut().zip(columns.chunks_exact(n)) {
                *x = column[c];
            }
            dense::lu_solve(&matrix, &pivots, &mut x);
            for (j, x) in x.iter().enumerate() {
                self.turned[j * n + c] = *x;
            }
        }
        true
    }

    /// Bounds the error of each whitened coordinate of the velocity, n entries: the sum of the errors of momenta and rows, each times
    /// the magnitude of its entry in $W$.
    pub(super) fn errors(&self) -> Numbers {
        let (n, stretch) = (self.n, self.system.stretch);
        let directions = self.directions.as_slice();
        let turned = match self.turned.as_slice() {
            [] => directions,
            turned => turned,
        };
        let mut turned = Flat::from_slice(turned);
        if stretch != 1.0 {
            turned.iter_mut().for_each(|x| *x *= stretch);
        }
        let mut errors = Numbers::from_elem(0.0, n);
        if !self.holds_all() {
            let metric = self.system.contacts.metric();
            let mut momentum = Numbers::from_elem(0.0, n);
            for (k, error) in errors.iter_mut().enumerate() {
                momentum.fill(0.0);
                momentum[k] = 1.0;
                let along = turned.chunks_exact(n).zip(directions.chunks_exact(n));
                for (row, direction) in along {
                    kernel::add_scaled(&mut momentum, -row[k], direction);
                }
                metric.unwhiten_velocity_in_place(&mut momentum);
                let entries = momentum.iter().zip(&self.system.left);
                *error = entries.map(|(w, f)| w.abs() * f).sum();
            }
        }
        // Each row of the transposed $TR^{-T}$.
        for j in (0..self.chosen.len()).rev() {
            let column = &self.triangle[j * (j + 1) / 2..][..=j];
            let (before, own) = turned[..n * (j + 1)].split_at_mut(n * j);
            own.iter_mut().for_each(|x| *x /= column[j]);
            for (row, entry) in before.chunks_exact_mut(n).zip(column) {
                kernel::add_scaled(row, -entry, own);
            }
        }
        let mut of_rows = Numbers::from_elem(0.0, n);
        for (row, f) in turned.chunks_exact(n).zip(&self.errors) {
            let entries = of_rows.iter_mut().zip(row);
            entries.for_each(|(sum, w)| *sum += w.abs() * f);
        }
        kernel::add_scaled(&mut errors, 1.0, &of_rows);
        errors
    }

    /// Returns the row with the smallest pivot, and the pivot.
    pub(super) fn nearest(&self) -> Option<(usize, f64)> {
        let pivots = (0..self.chosen.len())
            .map(|j| (self.chosen[j], self.triangle[(j + 1) * (j + 2) / 2 - 1]));
        pivots.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Solves $Rx = b$ in place.
    fn solve(&self, x: &mut [f64]) {
        let triangle = self.triangle.as_slice();
        for j in (0..x.len()).rev() {
            let column = &triangle[j * (j + 1) / 2..][..=j];
            let (before, own) = x[..=j].split_at_mut(j);
            own[0] /= column[j];
            kernel::add_scaled(before, -own[0], column);
        }
    }
}
