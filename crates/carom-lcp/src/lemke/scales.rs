//! Scaling of a problem by powers of two, without rounding.

use super::room::reserve;
use crate::LcpRef;
use crate::scalar::{Scalar, exponent, power_of_two, scale_by_power};

/// Kind of scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scaling {
    /// One factor for the whole matrix.
    Uniform,
    /// One factor for every row and one for every column.
    Equilibrated,
}

/// Scale factors: $M' = RMC$, $q' = sRq$, $z = Cz'/s$ and $w = R^{-1}w'/s$ with positive diagonal matrices $R$,
/// $C$ and a positive number $s$. They keep signs and complementarity.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    scaling: Scaling,
    row: Vec<f64>,
    column: Vec<f64>,
    row_max: Vec<f64>,
    /// Factor $C$ of uniform scaling.
    matrix: f64,
    /// Factor $s$.
    vector: f64,
    /// Quotient $C/s$ of uniform scaling.
    ratio: f64,
}

/// Returns the power of two that scales `x` to an absolute value in \[1, 2).
pub(super) fn inverse_power(x: f64) -> f64 {
    power_of_two(-exponent(x))
}

impl Scales {
    pub(super) fn new() -> Self {
        Self {
            scaling: Scaling::Uniform,
            row: Vec::new(),
            column: Vec::new(),
            row_max: Vec::new(),
            ratio: 1.0,
            matrix: 1.0,
            vector: 1.0,
        }
    }

    /// Reserves memory for the scale factors of `n` rows and columns.
    pub(super) fn reserve(&mut self, n: usize) {
        for vector in [&mut self.row, &mut self.column, &mut self.row_max] {
            reserve(vector, n);
        }
    }

    pub(super) fn set(&mut self, problem: LcpRef<'_>, scaling: Scaling) {
        self.scaling = scaling;
        match scaling {
            Scaling::Uniform => {
                self.matrix = inverse_power(problem.matrix_max());
                self.vector = inverse_power(problem.vector_max());
                self.ratio = scale_by_power(1.0, exponent(self.matrix) - exponent(self.vector));
            }
            Scaling::Equilibrated => {
                self.equilibrate(problem);
                let rows = problem.vector().iter().zip(&self.row);
                let most = rows.fold(0.0f64, |m, (q, r)| m.max((q * r).abs()));
                self.vector = inverse_power(most);
            }
        }
    }

    /// Computes scale factors of rows and columns for the matrix of a problem. The diagonal entries are scaled to
    /// about one first. Then twice all rows, then all columns, are scaled to a largest entry in \[1, 2).
    fn equilibrate(&mut self, problem: LcpRef<'_>) {
        let n = problem.dim();
        let diagonal = problem.matrix().iter().step_by(n + 1);
        let half = diagonal.map(|m| power_of_two((-exponent(*m)).div_euclid(2)));
        self.row.clear();
        self.row.extend(half);
        self.column.clear();
        self.column.extend_from_slice(&self.row);
        for _ in 0..2 {
            self.row_max.clear();
            self.row_max.resize(n, 0.0);
            for (j, factor) in self.column.iter().enumerate() {
                for (most, m) in self.row_max.iter_mut().zip(problem.column(j)) {
                    *most = most.max((m * factor).abs());
                }
            }
            for (scale, most) in self.row.iter_mut().zip(&self.row_max) {
                *scale = inverse_power(*most);
            }
            for (j, scale) in self.column.iter_mut().enumerate() {
                let entries = problem.column(j).iter().zip(&self.row);
                let most = entries.fold(0.0f64, |most, (m, r)| most.max((m * r).abs()));
                *scale = inverse_power(most);
            }
        }
    }

    /// Writes minus column `j` of the scaled matrix into the first entries of `out`.
    #[inline]
    pub(super) fn negated_column<T: Scalar>(&self, problem: LcpRef<'_>, j: usize, out: &mut [T]) {
        let column = problem.column(j);
        match self.scaling {
            Scaling::Uniform => {
                let factor = -self.matrix;
                let (chunks, rest) = out.as_chunks_mut::<4>();
                let (column, column_rest) = column.as_chunks::<4>();
                for (x, m) in chunks.iter_mut().zip(column) {
                    *x = m.map(|m| T::from_f64(m * factor));
                }
                for (x, m) in rest.iter_mut().zip(column_rest) {
                    *x = T::from_f64(m * factor);
                }
            }
            Scaling::Equilibrated => {
                let factor = -self.column[j];
                for ((x, m), r) in out.iter_mut().zip(column).zip(&self.row) {
                    *x = T::from_f64(m * r * factor);
                }
            }
        }
    }

    /// Appends the scaled vector $q$ of the problem to `out`.
    #[inline]
    pub(super) fn extend_with_vector<T: Scalar>(&self, problem: LcpRef<'_>, out: &mut Vec<T>) {
        let s = self.vector;
        match self.scaling {
            Scaling::Uniform => out.extend(problem.vector().iter().map(|q| T::from_f64(q * s))),
            Scaling::Equilibrated => {
                let entries = problem.vector().iter().zip(&self.row);
                out.extend(entries.map(|(q, r)| T::from_f64(q * r * s)));
            }
        }
    }

    /// Returns entry `i` of the scaled covering vector of Lemke's method. `d` is the entry in the units of the
    /// problem without scaling.
    pub(super) fn cover(&self, i: usize, d: f64) -> f64 {
        match self.scaling {
            Scaling::Uniform => d,
            Scaling::Equilibrated => d * self.row[i],
        }
    }

    /// Converts the value `scaled` of the variable $z_j$ in the scaled problem to its value in the problem without
    /// scaling.
    #[inline]
    pub(super) fn variable(&self, j: usize, scaled: f64) -> f64 {
        match self.scaling {
            Scaling::Uniform => scaled * self.ratio,
            Scaling::Equilibrated => {
                scale_by_power(scaled, exponent(self.column[j]) - exponent(self.vector))
            }
        }
    }

    /// Converts entry `j` of a direction of the scaled variables $z$ to the problem without scaling, up to a factor
    /// common to all entries.
    pub(super) fn direction(&self, j: usize, scaled: f64) -> f64 {
        match self.scaling {
            Scaling::Uniform => scaled,
            Scaling::Equilibrated => scaled * self.column[j],
        }
    }
}
