//! How an attempt at a problem ended.

use std::fmt;

/// How an attempt at a linear complementarity problem ended.
///
/// [`Solved`](Self::Solved) is decided by the [`Certificate`](crate::Certificate) of the answer on
/// the problem as given, never by the method that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LcpStatus {
    /// The residual is at most [`SOLVED_RESIDUAL`](crate::SOLVED_RESIDUAL).
    Solved,
    /// Every path tried ended on a secondary ray: the method cannot decide this problem.
    ///
    /// For the classes in [`MatrixClass`](crate::MatrixClass) that Lemke's method processes it
    /// means that there is no solution.
    Ray,
    /// The limit on pivots or sweeps was reached.
    IterationLimit,
    /// No $z \ge 0$ has $Mz + q \ge 0$: proven by a certificate checked in exact arithmetic.
    Infeasible,
    /// A method claimed an answer that fails the certificate.
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
