//! Projected Gauss-Seidel method: cheap sweeps for large problems or low accuracy.

use crate::gate::{decided, judged};
use crate::lemke::basic_solution;
use crate::work::{DEFAULT_MAX_WORK, Work};
use crate::{Lcp, LcpError, LcpSolution, LcpStatus, LemkeWorkspace};
use nalgebra::DVector;

/// Number of sweeps between two evaluations of the residual.
const SWEEPS_PER_CHECK: usize = 8;

/// Projected Gauss-Seidel method with relaxation for linear complementarity problems: find $z \ge 0$ with
/// $w = Mz + q \ge 0$ and $z^Tw = 0$.
///
/// Each sweep replaces every variable in turn, with $w = Mz + q$ and the relaxation factor $\omega$, by
///
/// $$ z_i \leftarrow \max\left(0, z_i - \omega \frac{w_i}{M_{ii}}\right). $$
///
/// The method converges for symmetric positive semidefinite matrices with positive diagonal if the problem has a
/// solution and $0 < \omega < 2$. The method also converges for strictly diagonally dominant matrices if
/// $\omega \le 1$. Convergence is linear, so that Lemke's method is faster except for large problems and low accuracy.
///
/// # Examples
///
/// ```
/// use carom_lcp::{GaussSeidel, Lcp, LcpStatus};
/// use nalgebra::{dmatrix, dvector};
/// let lcp = Lcp::new(dmatrix![2.0, 1.0; 1.0, 2.0], dvector![-5.0, -6.0])?;
/// let solution = GaussSeidel::default().solve(&lcp, None)?;
/// assert_eq!(solution.status, LcpStatus::Solved);
/// assert!((solution.z[0] - 4.0 / 3.0).abs() < 1e-9);
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
///
/// Cottle, Pang & Stone 1992, Algorithm 5.2.1; Cryer 1971.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussSeidel {
    /// Largest number of sweeps. A larger value takes more time, but reaches smaller residuals.
    pub max_sweeps: usize,
    /// Relaxation $\omega$, in (0, 2).
    pub relaxation: f64,
    /// [Residual](crate::Certificate::residual) at which the sweeps end. The linear system of the positive variables
    /// is then solved directly, and the resulting answer is checked.
    pub residual: f64,
}

impl Default for GaussSeidel {
    fn default() -> Self {
        Self {
            max_sweeps: 10_000,
            relaxation: 1.0,
            residual: 1e-10,
        }
    }
}

impl GaussSeidel {
    /// Solves a linear complementarity problem by projected Gauss-Seidel sweeps, starting from the variables
    /// `start` (n entries), or from zero if `start` is `None`.
    ///
    /// # Errors
    ///
    /// [`LcpError::NonPositiveDiagonal`], [`LcpError::OutOfRange`] for the relaxation,
    /// [`LcpError::DimensionMismatch`] for the start.
    pub fn solve(
        &self,
        problem: &Lcp,
        start: Option<&DVector<f64>>,
    ) -> Result<LcpSolution, LcpError> {
        let n = problem.dim();
        let is_allowed = self.relaxation > 0.0 && self.relaxation < 2.0;
        if !is_allowed {
            return Err(LcpError::OutOfRange {
                what: "relaxation",
                value: self.relaxation,
                allowed: "in (0, 2)",
            });
        }
        let diagonal = problem.matrix().diagonal();
        if let Some(index) = diagonal.iter().position(|m| *m <= 0.0) {
            return Err(LcpError::NonPositiveDiagonal {
                index,
                value: diagonal[index],
            });
        }
        let mut z = match start {
            Some(start) if start.len() != n => {
                return Err(LcpError::DimensionMismatch {
                    what: "start",
                    expected: n,
                    found: start.len(),
                });
            }
            Some(start) => start.map(|z| z.max(0.0)),
            None => DVector::zeros(n),
        };
        let mut n_sweeps = 0;
        loop {
            // Recomputed from the matrix, so that rounding errors do not accumulate over the sweeps.
            let (certificate, mut w) = problem.certify(&z)?;
            if certificate.residual <= self.residual || n_sweeps >= self.max_sweeps {
                return Ok(finish(problem, z, &w, n_sweeps as u64));
            }
            for _ in 0..SWEEPS_PER_CHECK.min(self.max_sweeps - n_sweeps) {
                for (i, column) in problem.matrix().column_iter().enumerate() {
                    let new = (z[i] - self.relaxation * w[i] / diagonal[i]).max(0.0);
                    let change = new - z[i];
                    if change != 0.0 {
                        w.axpy(change, &column, 1.0);
                        z[i] = new;
                    }
                }
                n_sweeps += 1;
            }
        }
    }
}

/// Finishes a solution by Gauss-Seidel sweeps, from the last iterate `z` and $w = Mz + q$. The indices with
/// $M_{ii}z_i > w_i$ define a complementary basis, in which $z_i$ is basic for these indices. Returns the accurate
/// solution of that basis if it solves the problem, and the last iterate otherwise. With at most eight rows, rational
/// arithmetic decides instead.
fn finish(problem: &Lcp, z: DVector<f64>, w: &DVector<f64>, n_sweeps: u64) -> LcpSolution {
    let diagonal = problem.matrix().diagonal();
    let rows = z.iter().zip(w.iter()).zip(diagonal.iter());
    let basis: Vec<bool> = rows.map(|((z, w), m)| m * z > *w).collect();
    let mut workspace = LemkeWorkspace::new();
    let mut work = Work::new(DEFAULT_MAX_WORK, None);
    work.n_pivots = n_sweeps;
    if let Some(refined) = basic_solution(problem.view(), &basis, &mut workspace) {
        let refined = DVector::from_column_slice(refined);
        let claimed = LcpStatus::IterationLimit;
        let found = judged(problem.view(), refined, &basis, claimed, &mut work);
        if found.status == LcpStatus::Solved {
            return found;
        }
    }
    let support: Vec<bool> = z.iter().map(|z| *z > 0.0).collect();
    let claimed = LcpStatus::IterationLimit;
    let found = judged(problem.view(), z, &support, claimed, &mut work);
    decided(problem.view(), found, &mut work)
}
