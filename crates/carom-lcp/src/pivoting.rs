//! Principal pivoting: one negative variable at a time, without an artificial variable.

use crate::gate::{decided, judged};
use crate::lemke::basic_solution;
use crate::scalar::larger;
use crate::size::max_abs;
use crate::work::{DEFAULT_MAX_WORK, Work};
use crate::{Lcp, LcpRef, LcpSolution, LcpStatus, LemkeWorkspace};
use nalgebra::DVector;

/// An entry below this fraction of the largest entry of the tableau counts as zero.
const ZERO: f64 = 1e-12;

/// A variable below this fraction of the largest $|q_i|$ counts as zero; its actual value is computed at the
/// end.
const NEGLIGIBLE: f64 = 1e-11;

/// Solves a linear complementarity problem by the principal pivoting method of Cottle and Dantzig, with 2 × 2
/// block pivots of Keller if a diagonal entry is zero. `max_pivots` is the largest number of pivots; `None`
/// means $50n + 1000$ for n variables.
///
/// The method is intended for P matrices and for positive semidefinite matrices. For P matrices every diagonal pivot
/// is positive. For positive semidefinite matrices a ray, along which a variable grows without limit, means that the
/// problem is infeasible. The method may also work for other matrices; the residuals in the returned answer tell if
/// the answer is accurate.
///
/// In each major cycle a negative basic variable is increased to zero: the nonbasic variable of its pair ($w_r$,
/// $z_r$) grows, while nonnegative basic variables stay nonnegative. If nothing limits this growth, the next negative
/// variable is tried. The solution of the final basis is computed from the original problem.
///
/// # Examples
///
/// ```
/// use carom_lcp::{Lcp, LcpStatus, principal_pivoting};
/// use nalgebra::{dmatrix, dvector};
/// let lcp = Lcp::new(dmatrix![0.0, -1.0; 1.0, 1.0], dvector![1.0, -3.0])?;
/// let solution = principal_pivoting(&lcp, None);
/// assert_eq!(solution.status, LcpStatus::Solved);
/// assert_eq!(solution.z.as_slice(), [2.0, 1.0]);
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
///
/// Cottle & Dantzig, *Complementary pivot theory of mathematical programming*, 1968; Keller, *The
/// general quadratic optimization problem*, 1973; Cottle, Pang & Stone 1992, Section 4.2.
pub fn principal_pivoting(problem: &Lcp, max_pivots: Option<u64>) -> LcpSolution {
    let mut work = Work::new(DEFAULT_MAX_WORK, max_pivots);
    solve(problem.view(), &mut work)
}

/// Solves a linear complementarity problem by [`principal_pivoting`] with the remaining budget `work`.
pub(crate) fn solve(problem: LcpRef<'_>, work: &mut Work) -> LcpSolution {
    let n = problem.dim();
    let each = 2 * (n * n) as u64;
    let mut tableau = Tableau::new(problem);
    let claimed = tableau.run(work.pivots(each).min(50 * n as u64 + 1000));
    work.spend_pivots(tableau.n_pivots, each);
    let basis = &tableau.is_flipped;
    let found = if claimed == LcpStatus::Solved {
        let mut workspace = LemkeWorkspace::new();
        let z = match basic_solution(problem, basis, &mut workspace) {
            Some(z) => DVector::from_column_slice(z),
            None => tableau.variables(),
        };
        judged(problem, z, basis, claimed, work)
    } else {
        judged(problem, DVector::zeros(n), &vec![false; n], claimed, work)
    };
    decided(problem, found, work)
}

/// Principal transform $y = \bar q + \bar M x$. `x` are the nonbasic variables: $w_i$ where `is_flipped`,
/// otherwise $z_i$. `y` are their partners.
struct Tableau {
    n: usize,
    /// Rows of $\bar M$ with n + 1 entries; the last entry is that of $\bar q$.
    entries: Vec<f64>,
    is_flipped: Vec<bool>,
    n_pivots: u64,
}

/// Event that ends the growth of the nonbasic variable that is increased (the driving variable).
enum Stop {
    /// The partner reaches zero, or the driving variable itself does.
    Own,
    /// Another basic variable would become negative.
    Other(usize),
    Nothing,
}

impl Tableau {
    fn new(problem: LcpRef<'_>) -> Self {
        let n = problem.dim();
        let mut entries = Vec::with_capacity(n * (n + 1));
        for (i, q) in problem.vector().iter().enumerate() {
            entries.extend((0..n).map(|j| problem.column(j)[i]));
            entries.push(*q);
        }
        Self {
            n,
            entries,
            is_flipped: vec![false; n],
            n_pivots: 0,
        }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.entries[i * (self.n + 1) + j]
    }

    fn right(&self, i: usize) -> f64 {
        self.at(i, self.n)
    }

    /// Returns the threshold below which the magnitude of a tableau entry counts as zero. With rank-deficient
    /// matrices whole columns consist of rounding errors.
    fn zero(&self) -> f64 {
        let rows = self.entries.chunks_exact(self.n + 1);
        let largest = rows.fold(0.0, |m: f64, row| m.max(max_abs(&row[..self.n])));
        ZERO * largest
    }

    fn variables(&self) -> DVector<f64> {
        DVector::from_fn(self.n, |i, _| {
            if self.is_flipped[i] {
                // NaN is kept.
                larger(0.0, self.right(i))
            } else {
                0.0
            }
        })
    }

    fn run(&mut self, limit: u64) -> LcpStatus {
        let n = self.n;
        let scale = (0..n).fold(0.0f64, |m, i| m.max(self.right(i).abs()));
        // Pairs that nothing has stopped since the last progress.
        let mut refused = vec![false; n];
        loop {
            let is_negative = |r: &usize| self.right(*r) < -NEGLIGIBLE * scale;
            let negative = (0..n).filter(is_negative);
            let open = negative.clone().filter(|r| !refused[*r]);
            let Some(r) = open.min_by(|a, b| self.right(*a).total_cmp(&self.right(*b))) else {
                return match negative.count() {
                    0 => LcpStatus::Solved,
                    _ => LcpStatus::Ray,
                };
            };
            // Value of the driving variable, which is the nonbasic variable of pair r.
            let mut value = 0.0;
            let mut is_dual = false;
            loop {
                if self.n_pivots >= limit {
                    return LcpStatus::IterationLimit;
                }
                let (stop, new_value) = self.stop(r, value, is_dual, scale);
                match stop {
                    Stop::Nothing => {
                        refused[r] = true;
                        break;
                    }
                    Stop::Own => {
                        refused.fill(false);
                        if !is_dual {
                            self.pivot(r, r);
                            self.is_flipped[r] = !self.is_flipped[r];
                        }
                        break;
                    }
                    Stop::Other(i) => {
                        if self.at(i, i).abs() > self.zero() {
                            self.pivot(i, i);
                            self.is_flipped[i] = !self.is_flipped[i];
                            value = new_value;
                        } else {
                            // Both pairs are exchanged; the partner of the driving variable becomes the driving
                            // variable.
                            value = self.right(r) + self.at(r, r) * new_value;
                            self.block_pivot(i, r);
                            self.is_flipped[i] = !self.is_flipped[i];
                            self.is_flipped[r] = !self.is_flipped[r];
                            is_dual = !is_dual;
                        }
                    }
                }
            }
        }
    }

    /// Finds the first event that ends the growth of the nonbasic variable of the pair ($w_r$, $z_r$), which grows
    /// from `value` on. Returns the event and the value of the variable there. If `is_dual` is true, the variable
    /// grows from a negative value to zero. `scale` is the magnitude of the vector $q$, to which rounding errors are
    /// compared.
    fn stop(&self, r: usize, value: f64, is_dual: bool, scale: f64) -> (Stop, f64) {
        let n = self.n;
        let zero = self.zero();
        let basic = |i: usize| self.right(i) + self.at(i, r) * value;
        let (mut stop, mut step) = (Stop::Nothing, f64::INFINITY);
        if is_dual {
            (stop, step) = (Stop::Own, -value);
        } else if self.at(r, r) > zero {
            (stop, step) = (Stop::Own, -basic(r) / self.at(r, r));
        }
        for i in (0..n).filter(|i| *i != r) {
            let (m, y) = (self.at(i, r), basic(i));
            if m < -zero && y >= -NEGLIGIBLE * scale && y.max(0.0) / -m < step {
                (stop, step) = (Stop::Other(i), y.max(0.0) / -m);
            }
        }
        (stop, value + step.max(0.0))
    }

    /// Updates the tableau for the exchange of the basic variable of row `i` with the nonbasic variable of column
    /// `j`.
    fn pivot(&mut self, i: usize, j: usize) {
        let width = self.n + 1;
        let inverse = 1.0 / self.at(i, j);
        let row: Vec<f64> = self.entries[i * width..(i + 1) * width].to_vec();
        for (k, target) in self.entries.chunks_exact_mut(width).enumerate() {
            if k == i {
                for (x, r) in target.iter_mut().zip(&row) {
                    *x = -r * inverse;
                }
                target[j] = inverse;
            } else {
                let factor = target[j] * inverse;
                if factor != 0.0 {
                    for (x, r) in target.iter_mut().zip(&row) {
                        *x -= factor * r;
                    }
                    target[j] = factor;
                } else {
                    target[j] = 0.0;
                }
            }
        }
        self.n_pivots += 1;
    }

    /// Exchanges the basic and nonbasic variables of the pairs `i` and `r` at once, by two off-diagonal pivots.
    /// Then rows and columns are swapped so that each pair keeps its own row and column.
    fn block_pivot(&mut self, i: usize, r: usize) {
        self.pivot(i, r);
        self.pivot(r, i);
        let width = self.n + 1;
        for k in 0..width {
            self.entries.swap(i * width + k, r * width + k);
        }
        for row in self.entries.chunks_exact_mut(width) {
            row.swap(i, r);
        }
    }
}
