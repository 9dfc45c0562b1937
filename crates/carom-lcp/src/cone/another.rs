//! Another solution that was met during a solve: the answer is then not the only one.

use super::newton::{Scaled, magnitude};
use super::problem::WIDTH;
use super::residual::CONE_RESIDUAL;

/// Two solutions are equal if their velocities differ by less than this fraction of the velocities before the
/// impact.
pub(super) const SAME_VELOCITIES: f64 = 1e-7;

/// Residual up to which impulses count as a solution known roughly. Newton's method ends there if impulses are so large that they hide
/// the velocities: rounding decides between 1e-8 and 1e-15. Where it does not converge, residuals are near one.
const ROUGH_RESIDUAL: f64 = 1e-6;

/// A solution known roughly is another one if its velocities differ by more than this fraction of the velocities before the
/// impact: a thousand times its residual.
const CLEAR_DIFFERENCE: f64 = 1e-3;

/// First solution met that may differ from the answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Another {
    /// Velocities after its impulses; empty if none was met.
    after: Vec<f64>,
    is_rough: bool,
}

impl Another {
    pub(super) fn is_met(&self) -> bool {
        !self.after.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.after.clear();
    }

    /// Keeps a solution with the velocities `after` and the given residual, if none was kept before and the residual is small enough.
    pub(super) fn meet(&mut self, after: &[f64], residual: f64) {
        if !self.is_met() && residual <= ROUGH_RESIDUAL {
            self.after.extend_from_slice(after);
            self.is_rough = !(residual <= CONE_RESIDUAL);
        }
    }

    /// True if a solution was met whose velocities differ from those of the answer, `kept`. Tangential velocities are
    /// compared by their length, which does not depend on the tangent axes.
    pub(super) fn differs(&self, kept: &[f64], system: &Scaled) -> bool {
        let contacts = self
            .after
            .chunks_exact(WIDTH)
            .zip(kept.chunks_exact(WIDTH))
            .zip(system.factors.chunks_exact(WIDTH));
        let differences = contacts.map(|((met, kept), factors)| match (met, kept, factors) {
            (&[m0, m1, m2], &[k0, k1, k2], &[f0, f1, f2]) => {
                magnitude(&[(m0 - k0) * f0, (m1 - k1) * f1, (m2 - k2) * f2])
            }
            _ => 0.0,
        });
        let limit = if self.is_rough {
            CLEAR_DIFFERENCE
        } else {
            SAME_VELOCITIES
        };
        differences.fold(0.0, f64::max) > limit * system.speed()
    }
}
