//! Outcome of an attempt to solve a problem.

use std::fmt;

/// Outcome of one attempt to solve a linear complementarity problem.
///
/// The status is determined from the original problem after a method has finished, not by the method itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LcpStatus {
    /// The backward error is at most [`SOLVED_ERROR`](crate::SOLVED_ERROR). An answer that is large compared
    /// with the data ([`LcpSolution::is_heavy`](crate::LcpSolution::is_heavy)) is also proven.
    Solved,
    /// The path ended on a secondary ray, and neither a solution nor infeasibility was proven.
    ///
    /// For the classes in [`MatrixClass`](crate::MatrixClass) for which Lemke's method finds every existing solution,
    /// a ray means that there is no solution.
    Ray,
    /// A limit on pivots, sweeps or work was reached before a solution was found.
    IterationLimit,
    /// The problem is proven to have no solution.
    Infeasible,
    /// An answer was found, but its residual is too large or a proof of its accuracy failed.
    Inaccurate,
}

impl LcpStatus {
    /// Returns the identifier of the status in records, in kebab case, for example `solved` or
    /// `iteration-limit`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Ray => "ray",
            Self::IterationLimit => "iteration-limit",
            Self::Infeasible => "infeasible",
            Self::Inaccurate => "inaccurate",
        }
    }
}

impl fmt::Display for LcpStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Kind of proof by which a solver has shown that a linear complementarity problem is solved, or that the problem has
/// no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Proof {
    /// Solved: the backward error is small enough.
    Residual,
    /// Solved: the system of the basis has one solution, whose signs are right in exact arithmetic. `z` is that
    /// solution, rounded.
    Exact,
    /// Infeasible: a certificate $u \ge 0$ satisfies $M^Tu \le 0$ and $q^Tu < 0$ exactly.
    Farkas,
    /// Infeasible: exact arithmetic shows that none of the $2^n$ complementary cones contains $q$.
    Bases,
}

impl Proof {
    /// Returns the identifier of the kind of proof in records: `residual`, `exact`, `farkas` or `bases`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Residual => "residual",
            Self::Exact => "exact",
            Self::Farkas => "farkas",
            Self::Bases => "bases",
        }
    }
}
