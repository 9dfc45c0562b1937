//! Answers of a contact problem with circular friction cones, and the choice among several solutions.

use crate::LcpStatus;

/// Rule that selects one solution if a contact problem with circular friction cones has several solutions. The caller
/// passes this rule to the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum ConeSelection {
    /// Limit of the solutions for equally compliant contacts: the matrix is $G + \epsilon D$ with
    /// $D = \mathrm{diag}(c_i I_3)$, $c_i = \mathrm{tr}(G_{ii})/3$, and $\epsilon \to 0$. From a continuum of
    /// solutions this limit selects a member that does not depend on units, on the lengths of rows, on the
    /// tangent axes or on the order of the contacts.
    #[default]
    Even,
    /// First solution found.
    First,
}

impl ConeSelection {
    /// Returns the identifier of the selection rule in records: `even` or `first`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::First => "first",
        }
    }
}

/// Starting point of Newton's method from which the solver of a frictional contact problem found its answer. The
/// variants are in the order in which the solver tries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ConeStart {
    /// Closed-form solution of a problem with a single contact.
    ClosedForm,
    /// Impulses that the caller gave.
    Given,
    /// Zero impulses.
    Zero,
    /// Solutions for compliant contacts whose compliance is reduced step by step.
    Compliant,
    /// Impulses after a few Gauss-Seidel sweeps.
    GaussSeidel,
    /// Solution of the solver for sparse problems with many contacts (interior-point, then proximal-point method).
    Sparse,
    /// Solutions with friction polygons in place of the cones, which repeatedly get another vertex opposite to the sliding
    /// direction. Each polygonal problem has a solution, and these solutions converge to a solution with circular cones
    /// even for ill-conditioned matrices.
    Polygon,
}

/// Report of [`ConeWorkspace`](super::ConeWorkspace) about the solution of a contact problem with circular friction
/// cones: status, residual and work. The impulses and velocities themselves are stored in the workspace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConeAnswer {
    /// [`LcpStatus::Solved`] if the residual is at most [`CONE_RESIDUAL`](super::CONE_RESIDUAL), else
    /// [`LcpStatus::Inaccurate`].
    pub status: LcpStatus,
    /// [`contact_residual`](super::contact_residual) of the impulses.
    pub residual: f64,
    /// Starting point that led to the answer.
    pub start: ConeStart,
    /// Number of Newton steps, summed over all attempts.
    pub n_newton_steps: usize,
    /// Number of Lemke pivots, summed over all attempts.
    pub n_pivots: usize,
    /// Dimension of the continuum of solution velocities, to first order, with the closed contacts kept closed.
    /// 0 means that the velocities after the impact are isolated.
    pub family: usize,
    /// Rule by which the answer was selected: [`Even`](ConeSelection::Even) also if the solution was unique,
    /// [`First`](ConeSelection::First) if that was requested or the limit of compliant contacts was not found.
    pub selection: ConeSelection,
    /// True if another solution with different velocities was found during the solve. Members of another
    /// continuum need not count: rounding decides if one is found.
    pub met_others: bool,
}
