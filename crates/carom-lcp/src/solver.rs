//! The one door to all solvers.

use crate::{Lcp, LcpError, LcpRef, LcpSolution};

/// Solver of linear complementarity problems. All solvers of this crate are used by this trait: [`Lemke`](crate::Lemke),
/// [`Enumerate`](crate::Enumerate), which gives the first solution, and [`Auto`](crate::Auto).
///
/// # Examples
///
/// ```
/// use carom_lcp::{Auto, Enumerate, Lcp, LcpSolver, LcpStatus, Lemke};
/// use nalgebra::{dmatrix, dvector};
/// let lcp = Lcp::new(dmatrix![2.0, -1.0; -1.0, 2.0], dvector![-1.0, 0.0])?;
/// let (lemke, enumerate, auto) = (Lemke::default(), Enumerate::default(), Auto::default());
/// for solver in [&lemke as &dyn LcpSolver, &enumerate, &auto] {
///     let solution = solver.solve(&lcp)?;
///     assert_eq!(solution.status, LcpStatus::Solved, "{}", solver.name());
///     assert!((solution.z - dvector![2.0 / 3.0, 1.0 / 3.0]).amax() < 1e-15);
/// }
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
pub trait LcpSolver {
    /// Returns the identifier of the solver in records, for example `lemke`.
    fn name(&self) -> &'static str;

    /// Solves a problem whose matrix and vector are borrowed. Solvers of this crate check their answer before its status is
    /// [`Solved`](crate::LcpStatus::Solved).
    ///
    /// # Errors
    ///
    /// An option that is out of range or does not fit the problem, and a problem that the solver cannot take. That no solution was
    /// found is no error but a [`status`](LcpSolution::status).
    fn solve_view(&self, problem: LcpRef<'_>) -> Result<LcpSolution, LcpError>;

    /// Solves a problem.
    ///
    /// # Errors
    ///
    /// The errors of [`solve_view`](Self::solve_view).
    fn solve(&self, problem: &Lcp) -> Result<LcpSolution, LcpError> {
        self.solve_view(problem.view())
    }
}
