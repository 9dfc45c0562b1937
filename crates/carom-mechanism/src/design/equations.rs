//! Fewer equations than unknowns.

use crate::DesignError;
use nalgebra::{DMatrix, DVector};

/// A linear bound $\sum_j a_jz_j \ge l$ on the unknowns, kept to rounding.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Pairs of an unknown and its coefficient $a_j$.
    pub coefficients: Vec<(usize, f64)>,
    /// The bound $l$.
    pub lower: f64,
}

impl Bound {
    /// The bound $z_j \ge l$ on one unknown.
    pub fn above(unknown: usize, lower: f64) -> Self {
        Self {
            coefficients: vec![(unknown, 1.0)],
            lower,
        }
    }

    /// $\sum_j a_jx_j$; unknowns that are not there count as zero.
    fn apply(&self, x: &[f64]) -> f64 {
        let terms = self.coefficients.iter();
        terms
            .map(|&(j, a)| a * x.get(j).copied().unwrap_or_default())
            .sum()
    }

    /// Distance of a point from the bound, positive inside.
    pub(super) fn slack(&self, z: &[f64]) -> f64 {
        self.apply(z) - self.lower
    }

    /// The longest part of a step from `z`, at most 1, that keeps a tenth of the slack.
    pub(super) fn clip(&self, z: &[f64], step: &[f64]) -> f64 {
        let (slack, change) = (0.9 * self.slack(z), self.apply(step));
        if change < -slack {
            slack / -change
        } else {
            1.0
        }
    }
}

/// Equations $F(z) = 0$ in at least as many unknowns, with bounds.
pub trait Equations {
    /// Number of equations.
    fn count(&self) -> usize;

    /// Number of unknowns.
    fn unknowns(&self) -> usize;

    /// Writes $F(z)$ (count) and its Jacobian (count × unknowns); every entry.
    ///
    /// # Errors
    ///
    /// [`DesignError`] where the equations are not defined.
    fn evaluate(
        &self,
        z: &[f64],
        residual: &mut DVector<f64>,
        jacobian: &mut DMatrix<f64>,
    ) -> Result<(), DesignError>;

    /// Bounds that no iterate leaves. None by default.
    fn bounds(&self) -> Vec<Bound> {
        Vec::new()
    }
}
