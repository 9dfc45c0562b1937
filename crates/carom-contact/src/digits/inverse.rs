//! Norm of the inverse of the system that an answer solves, weighted with the errors of its right-hand side.

use super::Flat;
use super::span::Span;
use crate::ContactSet;
use crate::numbers::Numbers;
use carom_metric::kernel;
use smallvec::{SmallVec, smallvec};

/// Largest number of unknowns for which all rows of the inverse are computed; above, its norm is estimated.
const FEW_UNKNOWNS: usize = 24;

/// Iterations of the estimate of the norm, with two solutions each.
const ITERATIONS: usize = 2;

/// Inverse of the system, up to the velocity in whitened coordinates: $W = ((I - TQ^T)L^{-1},\ TR^{-T})$, and the errors $f$ of its
/// right-hand side.
pub(super) struct Inverse<'p, 's> {
    pub(super) contacts: &'p ContactSet<'p>,
    pub(super) span: &'s Span,
    /// Transposed $T$: one row of n entries per direction.
    pub(super) turned: Flat,
    pub(super) momentum: &'s [f64],
    pub(super) rows: Numbers,
}

impl Inverse<'_, '_> {
    /// Bounds the error of each whitened coordinate of the velocity, n entries. `of` is the part to which each coordinate
    /// belongs; of many unknowns all coordinates of a part have its largest error.
    pub(super) fn errors(&self, of: &[usize]) -> Numbers {
        let n = self.span.n;
        if n + self.rows.len() > FEW_UNKNOWNS {
            let mut errors: Numbers = smallvec![0.0; n];
            for group in (0..n).filter(|group| of[*group] == *group) {
                let part: SmallVec<[bool; 8]> = of.iter().map(|g| *g == group).collect();
                let largest = self.estimated(&part);
                let own = errors.iter_mut().zip(&part).filter(|(_, is_own)| **is_own);
                own.for_each(|(error, _)| *error = largest);
            }
            return errors;
        }
        let mut axis: Numbers = smallvec![0.0; n];
        (0..n)
            .map(|k| {
                axis.fill(0.0);
                axis[k] = 1.0;
                let (momentum, rows) = self.transposed(&axis);
                let errors = self.momentum.iter().chain(self.rows.iter());
                let terms = momentum.iter().chain(&rows).zip(errors);
                terms.map(|(w, f)| w.abs() * f).sum()
            })
            .collect()
    }

    /// Computes $W^Tx$: the part of the momenta, and that of the rows.
    pub(super) fn transposed(&self, x: &[f64]) -> (Numbers, Numbers) {
        let n = self.span.n;
        let mut momentum: Numbers = x.into();
        let mut rows = Numbers::with_capacity(self.rows.len());
        let turned = self.turned.chunks_exact(n);
        for (turned, direction) in turned.zip(self.span.directions.chunks_exact(n)) {
            let along = kernel::dot(turned, x);
            kernel::add_scaled(&mut momentum, -along, direction);
            rows.push(along);
        }
        self.contacts
            .metric()
            .unwhiten_velocity_in_place(&mut momentum);
        self.span.solve(&mut rows);
        (momentum, rows)
    }

    /// Estimates the largest entry of $|W|f$ in the coordinates of `part`: the 1-norm of $(W \operatorname{diag} f)^T$ (Hager 1984,
    /// Higham, *Accuracy and Stability of Numerical Algorithms*, Algorithm 15.1).
    pub(super) fn estimated(&self, part: &[bool]) -> f64 {
        let n = self.span.n;
        let members = part.iter().filter(|is_own| **is_own).count().max(1);
        let mut x: Numbers = { part.iter() }
            .map(|is_own| f64::from(*is_own) / members as f64)
            .collect();
        let mut largest = 0.0;
        for _ in 0..ITERATIONS {
            let (mut momentum, mut rows) = self.transposed(&x);
            let mut norm = 0.0;
            let errors = self.momentum.iter().chain(self.rows.iter());
            for (value, error) in momentum.iter_mut().chain(&mut rows).zip(errors) {
                norm += value.abs() * error;
                *value = error.copysign(*value);
            }
            largest = kernel::larger(largest, norm);
            self.contacts.metric().whiten_in_place(&mut momentum);
            self.span.solve_transposed(&mut rows);
            for (row, direction) in rows.iter_mut().zip(self.span.directions.chunks_exact(n)) {
                *row -= kernel::dot(direction, &momentum);
            }
            for (row, turned) in rows.iter().zip(self.turned.chunks_exact(n)) {
                kernel::add_scaled(&mut momentum, *row, turned);
            }
            let own = (0..n).filter(|k| part[*k]);
            let Some(next) = own.max_by(|a, b| momentum[*a].abs().total_cmp(&momentum[*b].abs()))
            else {
                return largest;
            };
            x.fill(0.0);
            x[next] = 1.0;
        }
        let (momentum, rows) = self.transposed(&x);
        let errors = self.momentum.iter().chain(self.rows.iter());
        let last = momentum.iter().chain(&rows).zip(errors);
        kernel::larger(largest, last.map(|(w, f)| w.abs() * f).sum())
    }
}
