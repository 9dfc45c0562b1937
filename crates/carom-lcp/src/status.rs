//! Outcome of an attempt at a problem.

use std::fmt;

/// Outcome of one attempt at a linear complementarity problem.
///
/// Decided on the problem as given after a method has finished, never by the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LcpStatus {
    /// The backward error is at most [`SOLVED_ERROR`](crate::SOLVED_ERROR), and an answer that is
    /// large against the data ([`LcpSolution::is_heavy`](crate::LcpSolution::is_heavy)) is proven.
    Solved,
    /// The path ended on a secondary ray, and no proof either way was reached.
    ///
    /// For the classes in [`MatrixClass`](crate::MatrixClass) that Lemke's method processes it
    /// means that there is no solution.
    Ray,
    /// A limit on pivots, sweeps or work was reached.
    IterationLimit,
    /// There is no solution: proven.
    Infeasible,
    /// There is a candidate that fails the certificate.
    Inaccurate,
}

impl LcpStatus {
    /// Stable kebab-case identifier.
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

/// Why a status is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Proof {
    /// Solved: the backward error.
    Residual,
    /// Solved: the system of the basis has one solution, and its signs are right in exact
    /// arithmetic; `z` is that solution, rounded.
    Exact,
    /// Infeasible: some $u \ge 0$ has $M^Tu \le 0$ and $q^Tu < 0$, exactly.
    Farkas,
    /// Infeasible: none of the $2^n$ complementary cones holds $q$, exactly.
    Bases,
}

impl Proof {
    /// Stable kebab-case identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Residual => "residual",
            Self::Exact => "exact",
            Self::Farkas => "farkas",
            Self::Bases => "bases",
        }
    }
}
