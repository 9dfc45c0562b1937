//! Refinement of the variables of a complementary basis in twice the precision.

use super::{NONE, Tableau, reserve};
use crate::LcpRef;
use crate::enclosure::DATA_ROUNDING;
use crate::scalar::{Double, Scalar, larger};

/// Largest number of corrections. Each one adds as many correct digits as the factorization has.
const MAX_CORRECTIONS: usize = 20;

/// A change below this fraction of the largest variable, $2^{-60}$, does not alter rounded variables.
const ROUNDED: f64 = 8.673_617_379_884_035e-19;

/// Work space of the corrections.
#[derive(Clone, Debug)]
pub(super) struct Correction<T> {
    /// Values of the basic variables, row by row.
    values: Vec<Double>,
    residual: Vec<Double>,
    /// Sums of the magnitudes of the terms of each row.
    terms: Vec<f64>,
    correction: Vec<T>,
    column: Vec<f64>,
    vector: Vec<f64>,
}

impl<T> Correction<T> {
    pub(super) fn new() -> Self {
        Self {
            values: Vec::new(),
            residual: Vec::new(),
            terms: Vec::new(),
            correction: Vec::new(),
            column: Vec::new(),
            vector: Vec::new(),
        }
    }

    pub(super) fn reserve(&mut self, stride: usize) {
        reserve(&mut self.values, stride);
        reserve(&mut self.residual, stride);
        reserve(&mut self.terms, stride);
        reserve(&mut self.correction, stride);
        reserve(&mut self.column, stride);
        reserve(&mut self.vector, stride);
    }
}

impl<T: Scalar> Tableau<T> {
    /// Solves the equations of the final basis again, with a new factorization and corrections from residuals in twice
    /// the precision. Writes $z$ (n entries), with negative entries set to zero.
    ///
    /// Returns false if the matrix of the basis is singular to working precision.
    pub(in super::super) fn refine(&mut self, problem: LcpRef<'_>, z: &mut [f64]) -> bool {
        if !self.solve_signed(problem, z) {
            return false;
        }
        for z in z {
            // NaN is kept.
            *z = larger(0.0, *z);
        }
        true
    }

    /// Solves the equations of the current basis accurately like [`refine`](Self::refine), but keeps negative
    /// entries of `z`. Returns false if the basis is singular to working precision.
    pub(in super::super) fn solve_signed(&mut self, problem: LcpRef<'_>, z: &mut [f64]) -> bool {
        if !self.refactor(problem) {
            return false;
        }
        self.correct(problem, ROUNDED);
        let values = &self.correction.values;
        for (j, z) in z.iter_mut().enumerate() {
            *z = match values.get(self.row_of[self.n + j]) {
                Some(value) => self.scales.variable(j, value.to_f64()),
                None => 0.0,
            };
        }
        true
    }

    /// True if a basic $w_i = (Mz + q)_i$ may be negative by more than half of the rounding error of the data. The
    /// values are computed with twice the precision. The result is also true if these values are not accurate enough
    /// to decide.
    ///
    /// The stored pivots are used, so that no factorization is needed.
    pub(in super::super) fn may_be_negative(&mut self, problem: LcpRef<'_>) -> bool {
        // If the last change is below the roundoff of the largest variable, the result is more accurate than its rounding to a
        // double. If it is NaN, it is not accurate enough.
        let is_told = self.correct(problem, ROUNDED) <= f64::ROUNDOFF;
        if !is_told {
            return true;
        }
        self.load_residual(problem);
        let rows = self.correction.residual.iter().zip(&self.correction.terms);
        let mut slacks = self
            .row_of
            .iter()
            .zip(rows)
            .filter(|(row, _)| **row != NONE);
        slacks.any(|(_, (w, terms))| w.to_f64() < -0.5 * DATA_ROUNDING * terms)
    }

    /// Corrects the values of the basic variables by iterative refinement with residuals in twice the precision.
    /// The refinement stops when a change falls to `digits` times the largest value, or is not less than half of
    /// the change before. Returns the last change divided by the largest value.
    fn correct(&mut self, problem: LcpRef<'_>, digits: f64) -> f64 {
        let n = self.n;
        self.correction.values.clear();
        let values = self.rhs.iter().map(|b| widen(*b));
        self.correction.values.extend(values);
        let (mut last, mut reached) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..MAX_CORRECTIONS {
            self.load_residual(problem);
            let Correction {
                values,
                residual,
                correction,
                ..
            } = &mut self.correction;
            correction.clear();
            correction.resize(self.stride, T::ZERO);
            // Rows with a basic w are satisfied by the choice of that w.
            for (i, (c, r)) in correction.iter_mut().zip(residual.iter()).enumerate() {
                let is_slack = self.row_of[i] != NONE;
                *c = T::from_f64(if is_slack { 0.0 } else { r.to_f64() });
            }
            self.etas.apply(correction, 0);
            let (mut change, mut size) = (0.0f64, 0.0f64);
            for row in &self.row_of[n..2 * n] {
                if let (Some(value), Some(c)) = (values.get(*row), correction.get(*row)) {
                    change = change.max(c.to_f64().abs());
                    size = size.max(value.to_f64().abs());
                }
            }
            let is_worth_it = change.is_finite() && change < 0.5 * last;
            if !is_worth_it {
                break;
            }
            last = change;
            for row in &self.row_of[n..2 * n] {
                if let (Some(value), Some(c)) = (values.get_mut(*row), correction.get(*row)) {
                    *value = *value + widen(*c);
                }
            }
            reached = if change == 0.0 { 0.0 } else { change / size };
            if change <= size * digits {
                break;
            }
        }
        reached
    }

    /// Computes $q + Mz$ at the current values $z$, and the sums of the magnitudes of its terms, in the scaled
    /// problem.
    fn load_residual(&mut self, problem: LcpRef<'_>) {
        let n = self.n;
        let Correction {
            values,
            residual,
            terms,
            column,
            vector,
            ..
        } = &mut self.correction;
        column.resize(n, 0.0);
        vector.clear();
        self.scales.extend_with_vector(problem, vector);
        residual.clear();
        residual.extend(vector.iter().map(|q| Double::from_f64(*q)));
        terms.clear();
        terms.extend(vector.iter().map(|q| q.abs()));
        for j in 0..n {
            let Some(value) = values.get(self.row_of[n + j]) else {
                continue;
            };
            self.scales.negated_column(problem, j, column);
            for ((r, t), m) in residual.iter_mut().zip(&mut *terms).zip(column.iter()) {
                let term = Double::from_f64(*m) * *value;
                *r = *r - term;
                *t += term.to_f64().abs();
            }
        }
    }
}

fn widen<T: Scalar>(x: T) -> Double {
    let high = x.to_f64();
    let low = (x - T::from_f64(high)).to_f64();
    Double::from_f64(high) + Double::from_f64(low)
}
