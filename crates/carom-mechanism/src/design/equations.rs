//! Underdetermined equations: fewer equations than unknowns.

use crate::DesignError;
use nalgebra::{DMatrix, DVector};

/// Linear inequality $\sum_j a_jz_j \ge l$ for the unknowns $z_j$ of a design problem, with coefficients $a_j$ and lower bound
/// $l$. The inequality must be satisfied up to rounding error.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Indices $j$ of unknowns, each with its coefficient $a_j$.
    pub coefficients: Vec<(usize, f64)>,
    /// Lower bound $l$.
    pub lower: f64,
}

impl Bound {
    /// Creates the inequality $z_j \ge l$ for one unknown $z_j$ of a design problem. `unknown` is its index $j$, `lower` is
    /// $l$.
    pub fn above(unknown: usize, lower: f64) -> Self {
        Self {
            coefficients: vec![(unknown, 1.0)],
            lower,
        }
    }

    /// Returns the left-hand side $\sum_j a_jx_j$ of this linear inequality at the point `x`, with the coefficients $a_j$ of the
    /// inequality. An unknown whose index exceeds the length of `x` counts as zero.
    fn apply(&self, x: &[f64]) -> f64 {
        let terms = self.coefficients.iter();
        terms
            .map(|&(j, a)| a * x.get(j).copied().unwrap_or_default())
            .sum()
    }

    /// Returns the slack $\sum_j a_jz_j - l$ of this linear inequality at the point $z$, with its coefficients $a_j$ and its
    /// lower bound $l$. The slack is positive if the inequality is satisfied strictly.
    pub(super) fn slack(&self, z: &[f64]) -> f64 {
        self.apply(z) - self.lower
    }

    /// Returns the largest fraction, at most 1, of the step `step` from the point `z` that decreases the slack of this linear
    /// inequality by at most nine tenths.
    pub(super) fn clip(&self, z: &[f64], step: &[f64]) -> f64 {
        let (slack, change) = (0.9 * self.slack(z), self.apply(step));
        if change < -slack {
            slack / -change
        } else {
            1.0
        }
    }
}

/// System of nonlinear equations $F(z) = 0$ for the unknowns $z$ of a design problem, with at least as many unknowns as
/// equations. An implementation computes $F$ with its Jacobian, and can bound the unknowns by linear inequalities.
pub trait Equations {
    /// Returns the number of design equations.
    fn count(&self) -> usize;

    /// Returns the number of unknowns of the design problem.
    fn unknowns(&self) -> usize;

    /// Computes the values $F(z)$ of the design equations (`residual`, one entry per equation) and their Jacobian (equations ×
    /// unknowns). An implementation must write every entry of both.
    ///
    /// # Errors
    ///
    /// [`DesignError`] if the equations are not defined at `z`.
    fn evaluate(
        &self,
        z: &[f64],
        residual: &mut DVector<f64>,
        jacobian: &mut DMatrix<f64>,
    ) -> Result<(), DesignError>;

    /// Returns the linear inequalities that the unknowns satisfy in every iteration of a search. By default there are no
    /// inequalities.
    fn bounds(&self) -> Vec<Bound> {
        Vec::new()
    }
}
