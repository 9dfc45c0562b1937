//! Inverse of the system that an answer solves, up to the velocity, weighted with the errors of its right-hand side.

use super::system::System;
use super::{Flat, NEAR};
use crate::numbers::Numbers;
use carom_metric::kernel;
use carom_numeric::decisions::{RANK, Sum};
use carom_numeric::dense;
use smallvec::{SmallVec, smallvec};

/// Corrections of the coefficients of the combination of other rows that is nearest to a row.
const CORRECTIONS: usize = 2;

/// Part of a squared length that differences may leave without losing it to rounding.
const SHARP: f64 = 0.01;

/// Inverse of the system in whitened coordinates, $W = ((I - TP^T)L^{-1},\ TR^{-T})$, and the errors $f$ of its right-hand side.
pub(super) struct Inverse<'s, 'p> {
    system: &'s System<'p>,
    n: usize,
    /// Rows that are linearly independent of the others, in the order of their pivots.
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

    /// Factors the rows of the system, as if each impulse acted along its row: finds the directions of unit rows, by Gram-Schmidt
    /// with pivoting, and a second pass for short rests. Rows that depend on others are left out.
    pub(super) fn factor_rows(&mut self) {
        let (n, system) = (self.n, self.system);
        let held = system.held.as_slice();
        let m = held.len();
        let most = n.min(m);
        // Parts of each row along the directions, and squared length of the rest.
        let mut parts = Flat::from_elem(0.0, m * most);
        let mut sizes = Numbers::from_elem(1.0, m);
        let (parts, sizes) = (&mut parts[..], &mut sizes[..]);
        self.directions = Flat::from_elem(0.0, n * most);
        self.triangle = Flat::from_elem(0.0, most * (most + 1) / 2);
        let (mut k, mut rest) = (0, Numbers::from_elem(0.0, n));
        while k < most {
            // Constraints are orthonormal and come first: contacts act on the motion that they leave.
            let (own, size) = if held[k].is_constraint() {
                (k, 1.0)
            } else {
                longest(sizes)
            };
            if size == 0.0 {
                break;
            }
            sizes[own] = 0.0;
            let along = &parts[most * own..][..k];
            remainder(&held[own].unit, along, &self.directions, &mut rest);
            if size <= NEAR * NEAR && !self.separates(own, &mut rest) {
                continue;
            }
            let column = &mut self.triangle[k * (k + 1) / 2..][..=k];
            column[..k].copy_from_slice(along);
            // A long rest is orthogonal but for rounding.
            let again = if size > SHARP { 0 } else { k };
            for (earlier, entry) in self.directions.chunks_exact(n).zip(&mut column[..again]) {
                let along = kernel::dot(earlier, &rest);
                kernel::add_scaled(&mut rest, -along, earlier);
                *entry += along;
            }
            column[k] = kernel::norm(&rest);
            let direction = &mut self.directions[n * k..][..n];
            kernel::add_scaled(direction, 1.0 / column[k], &rest);
            self.chosen.push(own);
            k += 1;
            if k == most {
                break;
            }
            let direction = &self.directions[n * (k - 1)..][..n];
            let rows = held.iter().zip(parts.chunks_exact_mut(most));
            for ((row, parts), size) in rows.zip(&mut *sizes).filter(|(_, size)| **size > 0.0) {
                let along = kernel::dot(direction, &row.unit);
                parts[k - 1] = along;
                let left = *size - along * along;
                // A small difference of squares is rounding.
                *size = if left > SHARP * *size {
                    left
                } else {
                    remainder(&row.unit, &parts[..k], &self.directions, &mut rest);
                    kernel::dot(&rest, &rest)
                };
            }
        }
        self.directions.truncate(n * k);
        self.add_errors(parts, most);
    }

    /// Adds the errors of the chosen rows. A row that depends on them, but misses their combination by more than rounding, is in
    /// conflict with them: the exact answer leaves one of them, whose velocity is off by this gap over its coefficient. `parts` are
    /// those of each row along the directions, in rows of length `most`.
    fn add_errors(&mut self, parts: &[f64], most: usize) {
        let (k, held) = (self.chosen.len(), &self.system.held);
        self.errors = { self.chosen.iter() }.map(|own| held[*own].error).collect();
        if k == held.len() {
            return;
        }
        // Velocities along the directions, the solution of $R^Tx = b$.
        let mut along: Numbers = self.chosen.iter().map(|own| held[*own].miss).collect();
        for j in 0..k {
            let column = &self.triangle[j * (j + 1) / 2..];
            along[j] = (along[j] - kernel::dot(&column[..j], &along[..j])) / column[j];
        }
        for (j, row) in held.iter().enumerate() {
            let parts = &parts[most * j..most * j + k];
            let gap = (row.miss - kernel::dot(parts, &along)).abs();
            if gap <= row.rounding || self.chosen.contains(&j) {
                continue;
            }
            let mut parts: Numbers = parts.into();
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
    /// the difference of rows that nearly agree. Returns false if the row depends on the chosen ones: if this part is below [`RANK`],
    /// and in the caller's coordinates the row differs from their combination in no entry by more than [`RANK`] of the terms and
    /// of the chosen rows there. Otherwise it is a condition of its own, however near: two walls that face each other leave no motion between them.
    /// Constraints may be told with rounding.
    #[cold]
    fn separates(&self, row: usize, rest: &mut [f64]) -> bool {
        let (system, held) = (self.system, &self.system.held);
        if held[row].given.0.is_empty() {
            return kernel::norm(rest) > RANK;
        }
        let (n, metric) = (self.n, system.contacts.metric());
        let given = |row: usize| -> Vec<f64> {
            let (entries, factor) = held[row].given;
            if entries.is_empty() {
                let mut entries = held[row].unit.to_vec();
                metric.unwhiten_in_place(&mut entries);
                return entries;
            }
            entries.iter().map(|a| a * factor).collect()
        };
        let mut parts: Numbers = smallvec![0.0; self.chosen.len()];
        let mut sums: Vec<Sum> = Vec::new();
        for _ in 0..=CORRECTIONS {
            let own = given(row).into_iter();
            sums = own.map(|a| [a].into_iter().collect()).collect();
            for (part, other) in parts.iter().zip(&self.chosen) {
                for (sum, a) in sums.iter_mut().zip(given(*other)) {
                    sum.add(-part * a);
                    sum.size += a.abs();
                }
            }
            let values = rest.iter_mut().zip(&sums);
            values.for_each(|(rest, sum)| *rest = sum.value);
            metric.whiten_in_place(rest);
            let along = self.directions.chunks_exact(n).take(parts.len());
            let mut more: Numbers = along.map(|q| kernel::dot(q, rest)).collect();
            self.solve(&mut more);
            for (part, more) in parts.iter_mut().zip(&more) {
                *part += more;
            }
        }
        kernel::norm(rest) > RANK || !sums.iter().all(|sum| sum.is_below(RANK))
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

/// Returns the place of the largest number, the first of equals, and the number; 0 where none is positive.
fn longest(sizes: &[f64]) -> (usize, f64) {
    let mut longest = (0, 0.0);
    for (j, size) in sizes.iter().enumerate() {
        if *size > longest.1 {
            longest = (j, *size);
        }
    }
    longest
}

/// Computes what directions, of which a row has the given parts, leave of it.
fn remainder(row: &[f64], parts: &[f64], directions: &[f64], rest: &mut [f64]) {
    rest.copy_from_slice(row);
    for (part, direction) in parts.iter().zip(directions.chunks_exact(rest.len().max(1))) {
        kernel::add_scaled(rest, -part, direction);
    }
}
