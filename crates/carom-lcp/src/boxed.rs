//! Mixed linear complementarity problems: variables with lower and upper bounds, or without bounds.

use crate::backward::SOLVED_ERROR;
use crate::problem::{check_dim, check_finite};
use crate::{Lcp, LcpError, LcpStatus, Lemke};
use nalgebra::{DMatrix, DVector};

/// Mixed linear complementarity problem: find $l \le z \le u$ such that $w = Mz + q$ is $\ge 0$ where
/// $z_i = l_i$, $\le 0$ where $z_i = u_i$ and $0$ between the bounds.
///
/// Bounds may be infinite. With $l = 0$ and $u = \infty$ the problem is an [`Lcp`]. A variable without bounds
/// makes its row an equation.
///
/// # Examples
///
/// A force of at most 1 reduces the velocity as far as it can:
///
/// ```
/// use carom_lcp::{BoxedLcp, LcpStatus, Lemke};
/// use nalgebra::{dmatrix, dvector};
/// let capped = BoxedLcp::new(dmatrix![1.0], dvector![-3.0], dvector![0.0], dvector![1.0])?;
/// let solution = capped.solve(&Lemke::default())?;
/// assert_eq!(solution.status, LcpStatus::Solved);
/// assert_eq!((solution.z[0], solution.w[0]), (1.0, -2.0));
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BoxedLcp {
    matrix: DMatrix<f64>,
    vector: DVector<f64>,
    lower: DVector<f64>,
    upper: DVector<f64>,
}

/// Answer that [`BoxedLcp::solve`] gives to a linear complementarity problem with lower and upper bounds: the
/// variables $z$, the vector $w = Mz + q$ and the outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxedSolution {
    /// Outcome of the attempt.
    pub status: LcpStatus,
    /// Variables $z$ (n entries), within their bounds.
    pub z: DVector<f64>,
    /// $w = Mz + q$ (n entries).
    pub w: DVector<f64>,
    /// Largest violation of a condition on $w_i$, divided by the sum of the magnitudes of the terms of its row,
    /// $|q_i| + \sum_j |M_{ij}||z_j|$. A variable counts as at a bound if their relative difference is at most
    /// $10^{-12}$.
    pub backward_error: f64,
    /// Number of pivots.
    pub n_pivots: u64,
}

impl BoxedLcp {
    /// Creates a mixed linear complementarity problem from the matrix $M$ (n × n), the vector $q$, the lower
    /// bounds $l$ and the upper bounds $u$ of the variables (n entries each). Bounds may be infinite.
    ///
    /// # Errors
    ///
    /// The errors of [`Lcp::new`], [`LcpError::NonFinite`] for a bound that is NaN or infinite on the
    /// wrong side, and [`LcpError::EmptyBounds`].
    pub fn new(
        matrix: DMatrix<f64>,
        vector: DVector<f64>,
        lower: DVector<f64>,
        upper: DVector<f64>,
    ) -> Result<Self, LcpError> {
        let n = vector.len();
        check_dim(n)?;
        for (what, found) in [("lower bound", lower.len()), ("upper bound", upper.len())] {
            if found != n {
                return Err(LcpError::DimensionMismatch {
                    what,
                    expected: n,
                    found,
                });
            }
        }
        if matrix.nrows() != matrix.ncols() {
            return Err(LcpError::NotSquare {
                rows: matrix.nrows(),
                columns: matrix.ncols(),
            });
        }
        if matrix.nrows() != n {
            return Err(LcpError::DimensionMismatch {
                what: "matrix",
                expected: n * n,
                found: matrix.len(),
            });
        }
        check_finite("matrix", matrix.as_slice())?;
        check_finite("vector", vector.as_slice())?;
        for (index, (l, u)) in lower.iter().zip(upper.iter()).enumerate() {
            let wrong = |what, value| LcpError::NonFinite { what, index, value };
            if l.is_nan() || *l == f64::INFINITY {
                return Err(wrong("lower bound", *l));
            }
            if u.is_nan() || *u == f64::NEG_INFINITY {
                return Err(wrong("upper bound", *u));
            }
            if l > u {
                return Err(LcpError::EmptyBounds {
                    index,
                    lower: *l,
                    upper: *u,
                });
            }
        }
        Ok(Self {
            matrix,
            vector,
            lower,
            upper,
        })
    }

    /// Solves the mixed problem (lower and upper bounds on the variables) as an equivalent [`Lcp`], by Lemke's
    /// method.
    ///
    /// Unbounded variables are eliminated with their own rows. A variable with a finite bound is replaced by
    /// its distance from that bound. A variable with two finite bounds adds an unknown, the multiplier $v$ of
    /// the upper bound: $w_i + v_i \ge 0 \perp z_i - l_i$ and $u_i - z_i \ge 0 \perp v_i$. Positive definite
    /// and positive semidefinite matrices keep that property.
    ///
    /// # Errors
    ///
    /// [`LcpError::SingularFreeBlock`], [`LcpError::TooLarge`], [`LcpError::NonFinite`] if the
    /// elimination overflows.
    pub fn solve(&self, lemke: &Lemke) -> Result<BoxedSolution, LcpError> {
        let n = self.vector.len();
        let is_free = |i: &usize| self.lower[*i].is_infinite() && self.upper[*i].is_infinite();
        let (free, bounded): (Vec<usize>, Vec<usize>) = (0..n).partition(is_free);
        // Substitution z_i = origin_i + sign_i x_i with x >= 0.
        let is_mirrored = |i: usize| self.lower[i].is_infinite();
        let origin = |i: usize| {
            if is_mirrored(i) {
                self.upper[i]
            } else {
                self.lower[i]
            }
        };
        let sign = |i: usize| if is_mirrored(i) { -1.0 } else { 1.0 };
        let two_sided = |i: &usize| self.lower[*i].is_finite() && self.upper[*i].is_finite();
        let capped: Vec<usize> = bounded.iter().copied().filter(two_sided).collect();

        let mut z0 = DVector::zeros(n);
        for i in &bounded {
            z0[*i] = origin(*i);
        }
        let q0 = &self.vector + &self.matrix * &z0;
        let block = |rows: &[usize], columns: &[usize]| {
            DMatrix::from_fn(rows.len(), columns.len(), |i, j| {
                self.matrix[(rows[i], columns[j])]
            })
        };
        let part = |rows: &[usize]| DVector::from_fn(rows.len(), |i, _| q0[rows[i]]);
        let mut reduced = block(&bounded, &bounded);
        let mut right = part(&bounded);
        let to_free = block(&free, &bounded);
        let singular = LcpError::SingularFreeBlock { n_free: free.len() };
        let eliminate = block(&free, &free);
        let eliminate = (!free.is_empty()).then(|| eliminate.full_piv_lu());
        if let Some(lu) = &eliminate {
            let from_free = block(&bounded, &free);
            let x = lu.solve(&to_free).ok_or(singular.clone())?;
            let y = lu.solve(&part(&free)).ok_or(singular)?;
            reduced -= &from_free * x;
            right -= from_free * y;
        }
        let (m, k) = (bounded.len(), capped.len());
        check_dim(m + k)?;
        let mut matrix = DMatrix::zeros(m + k, m + k);
        let mut vector = DVector::zeros(m + k);
        for (i, row) in bounded.iter().enumerate() {
            for (j, column) in bounded.iter().enumerate() {
                matrix[(i, j)] = sign(*row) * reduced[(i, j)] * sign(*column);
            }
            vector[i] = sign(*row) * right[i];
        }
        for (c, variable) in capped.iter().enumerate() {
            let Ok(i) = bounded.binary_search(variable) else {
                continue;
            };
            matrix[(i, m + c)] = 1.0;
            matrix[(m + c, i)] = -1.0;
            vector[m + c] = self.upper[*variable] - self.lower[*variable];
        }
        let solution = lemke.solve(&Lcp::new(matrix, vector)?)?;
        let mut z = z0;
        let mut shift = DVector::zeros(m);
        for (i, variable) in bounded.iter().enumerate() {
            shift[i] = sign(*variable) * solution.z[i];
            z[*variable] =
                (origin(*variable) + shift[i]).clamp(self.lower[*variable], self.upper[*variable]);
        }
        if let Some(lu) = &eliminate {
            let rhs = -(part(&free) + to_free * shift);
            if let Some(x) = lu.solve(&rhs) {
                for (variable, x) in free.iter().zip(x.iter()) {
                    z[*variable] = *x;
                }
            }
        }
        Ok(self.judged(z, solution.status, solution.n_pivots))
    }

    fn judged(&self, z: DVector<f64>, claimed: LcpStatus, n_pivots: u64) -> BoxedSolution {
        let w = &self.matrix * &z + &self.vector;
        let terms = self.matrix.abs() * z.abs() + self.vector.abs();
        let mut backward_error = 0.0f64;
        for (i, z) in z.iter().enumerate() {
            let is_at = |bound: f64| {
                let size = bound.abs().max(z.abs());
                bound.is_finite() && (z - bound).abs() <= SOLVED_ERROR * size
            };
            let mut violation = w[i].abs();
            if is_at(self.lower[i]) {
                violation = violation.min((-w[i]).max(0.0));
            }
            if is_at(self.upper[i]) {
                violation = violation.min(w[i].max(0.0));
            }
            let relative = if violation == 0.0 {
                0.0
            } else {
                violation / terms[i]
            };
            // If `relative` is NaN, the error becomes NaN.
            backward_error = if relative <= backward_error {
                backward_error
            } else {
                relative
            };
        }
        let status = match claimed {
            // The equivalent problem has already been checked.
            LcpStatus::Solved if backward_error <= SOLVED_ERROR => LcpStatus::Solved,
            LcpStatus::Solved => LcpStatus::Inaccurate,
            other => other,
        };
        BoxedSolution {
            status,
            z,
            w,
            backward_error,
            n_pivots,
        }
    }
}
