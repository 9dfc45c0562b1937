//! Norm of the inverse of the system that an answer solves, weighted with the errors of its right-hand side.

use super::Flat;
use super::span::Span;
use super::system::System;
use crate::numbers::Numbers;
use carom_metric::{KineticMetric, kernel};
use carom_numeric::dense;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// Largest number of unknowns for which all rows of the inverse are computed; above, its norm is estimated.
const FEW_UNKNOWNS: usize = 24;

/// Iterations of the estimate of the norm, with two solutions each.
const ITERATIONS: usize = 2;

/// Inverse of the system, up to the velocity in whitened coordinates: $W = ((I - TP^T)L^{-1},\ TR^{-T})$, and the errors $f$ of its
/// right-hand side.
pub(super) struct Inverse<'s> {
    metric: &'s KineticMetric,
    span: &'s Span,
    n: usize,
    /// Rows of $P^T$: the directions of the span, then those across the sliding of contacts, times their factors.
    directions: Cow<'s, [f64]>,
    /// Transposed $T$: one row of n entries per direction.
    turned: Cow<'s, [f64]>,
    /// Errors of the momenta; empty if rows hold every velocity.
    momentum: &'s [f64],
    /// Errors of the rows.
    rows: Numbers,
}

impl<'s> Inverse<'s> {
    /// Factors the system of the independent rows; `None` if it is singular.
    pub(super) fn new(system: &'s System<'_>, span: &'s Span) -> Option<Self> {
        let n = span.n;
        let across = &system.across;
        let mut inverse = Self {
            metric: system.contacts.metric(),
            span,
            n,
            directions: Cow::Borrowed(&span.directions),
            turned: Cow::Borrowed(&span.directions),
            momentum: &system.left,
            rows: span.errors.clone(),
        };
        let chosen = || span.chosen.iter().map(|own| &system.held[*own]);
        let is_stretched = chosen().any(|row| row.stretch != 1.0);
        if span.chosen.len() == n && !is_stretched {
            // Rows that hold every velocity do so with any impulses.
            inverse.momentum = &[];
            return Some(inverse);
        }
        if !is_stretched && system.columns.is_empty() && across.rows.is_empty() {
            return Some(inverse);
        }
        let mut columns = Flat::new();
        for (row, own) in chosen().zip(&span.chosen) {
            columns.extend_from_slice(match row.column {
                Some(first) => &system.columns[first..first + n],
                None => &system.rows[n * own..n * (own + 1)],
            });
        }
        columns.extend_from_slice(&across.rows);
        let mut directions = span.directions.to_vec();
        let rows = across.rows.chunks_exact(n).zip(&across.errors);
        for ((row, error), stiffness) in rows.zip(&across.stiffness) {
            let factor = stiffness.min(1.0);
            directions.extend(row.iter().map(|x| x * factor));
            inverse.rows.push(error * factor);
        }
        // Rows of the transposed matrix $P^TU_B + D$, column by column.
        let k = inverse.rows.len();
        let mut matrix: Flat = smallvec![0.0; k * k];
        for (j, column) in columns.chunks_exact(n).enumerate() {
            for (i, direction) in directions.chunks_exact(n).enumerate() {
                matrix[i * k + j] = kernel::dot(direction, column);
            }
        }
        for (j, stiffness) in across.stiffness.iter().enumerate() {
            matrix[(span.chosen.len() + j) * (k + 1)] += (1.0 / stiffness).min(1.0);
        }
        let mut pivots: SmallVec<[usize; 8]> = smallvec![0; k];
        if !dense::lu(&mut matrix, k, &mut pivots) {
            return None;
        }
        let mut turned = vec![0.0; n * k];
        for (row, column) in chosen().zip(columns.chunks_exact_mut(n)) {
            column.iter_mut().for_each(|x| *x *= row.stretch);
        }
        let mut x: Numbers = smallvec![0.0; k];
        for c in 0..n {
            for (x, column) in x.iter_mut().zip(columns.chunks_exact(n)) {
                *x = column[c];
            }
            dense::lu_solve(&matrix, &pivots, &mut x);
            for (j, x) in x.iter().enumerate() {
                turned[j * n + c] = *x;
            }
        }
        (inverse.directions, inverse.turned) = (directions.into(), turned.into());
        Some(inverse)
    }

    /// Bounds the error of each whitened coordinate of the velocity, n entries. `of` is the part to which each coordinate
    /// belongs; of many unknowns all coordinates of a part have its largest error.
    pub(super) fn errors(&self, of: &[usize]) -> Numbers {
        let n = self.n;
        let mut errors: Numbers = smallvec![0.0; n];
        if n + self.rows.len() > FEW_UNKNOWNS {
            for group in (0..n).filter(|group| of[*group] == *group) {
                let part: SmallVec<[bool; 8]> = of.iter().map(|g| *g == group).collect();
                let largest = self.estimated(&part);
                let own = errors.iter_mut().zip(&part).filter(|(_, is_own)| **is_own);
                own.for_each(|(error, _)| *error = largest);
            }
            return errors;
        }
        let (mut momentum, mut rows): (Numbers, Numbers) =
            (smallvec![0.0; n], smallvec![0.0; self.rows.len()]);
        for (k, error) in errors.iter_mut().enumerate() {
            momentum.fill(0.0);
            momentum[k] = 1.0;
            for (row, turned) in rows.iter_mut().zip(self.turned.chunks_exact(n)) {
                *row = turned[k];
            }
            self.transpose(&mut momentum, &mut rows);
            *error = self.norm(&momentum, &rows);
        }
        errors
    }

    /// Sum of the errors, each times the magnitude of its entry.
    fn norm(&self, momentum: &[f64], rows: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (w, f) in momentum.iter().zip(self.momentum) {
            sum += w.abs() * f;
        }
        for (w, f) in rows.iter().zip(&self.rows) {
            sum += w.abs() * f;
        }
        sum
    }

    /// Computes $W^Tx$ in place: the part of the momenta from $x$, and that of the rows from $T^Tx$.
    fn transpose(&self, momentum: &mut [f64], rows: &mut [f64]) {
        if !self.momentum.is_empty() {
            for (along, direction) in rows.iter().zip(self.directions.chunks_exact(self.n)) {
                kernel::add_scaled(momentum, -along, direction);
            }
            self.metric.unwhiten_velocity_in_place(momentum);
        }
        self.span.solve(&mut rows[..self.span.chosen.len()]);
    }

    /// Estimates the largest entry of $|W|f$ in the coordinates of `part`: the 1-norm of $(W \operatorname{diag} f)^T$ (Hager 1984,
    /// Higham, *Accuracy and Stability of Numerical Algorithms*, Algorithm 15.1).
    fn estimated(&self, part: &[bool]) -> f64 {
        let n = self.n;
        let members = part.iter().filter(|is_own| **is_own).count().max(1);
        let mut x: Numbers = { part.iter() }
            .map(|is_own| f64::from(*is_own) / members as f64)
            .collect();
        let mut largest = 0.0;
        for round in 0..=ITERATIONS {
            let along = { self.turned.chunks_exact(n) }.map(|turned| kernel::dot(turned, &x));
            let mut rows: Numbers = along.collect();
            let mut momentum = x.clone();
            self.transpose(&mut momentum, &mut rows);
            largest = kernel::larger(largest, self.norm(&momentum, &rows));
            if round == ITERATIONS {
                break;
            }
            for (value, error) in rows.iter_mut().zip(&self.rows) {
                *value = error.copysign(*value);
            }
            self.span
                .solve_transposed(&mut rows[..self.span.chosen.len()]);
            if self.momentum.is_empty() {
                momentum.fill(0.0);
            } else {
                for (value, error) in momentum.iter_mut().zip(self.momentum) {
                    *value = error.copysign(*value);
                }
                self.metric.whiten_in_place(&mut momentum);
                for (row, direction) in rows.iter_mut().zip(self.directions.chunks_exact(n)) {
                    *row -= kernel::dot(direction, &momentum);
                }
            }
            for (row, turned) in rows.iter().zip(self.turned.chunks_exact(n)) {
                kernel::add_scaled(&mut momentum, *row, turned);
            }
            let own = (0..n).filter(|k| part[*k]);
            let Some(next) = own.max_by(|a, b| momentum[*a].abs().total_cmp(&momentum[*b].abs()))
            else {
                break;
            };
            x.fill(0.0);
            x[next] = 1.0;
        }
        largest
    }
}
