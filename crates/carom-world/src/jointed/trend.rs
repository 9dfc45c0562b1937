//! Forces at the ends of a step, from its mean force.
//!
//! The impulses of a step give the mean force $\bar F$ over its length $s$. The force at the end is $2\bar F-F_0+O(s^2)$ with the
//! force $F_0$ at the start, which the mean over a short first step shows. A limit that opened where the mean is zero would open
//! a fraction of a step too early or too late; dry friction that gives way has the same rule.

use super::run::Run;

/// The force at the end of a step is examined if its mean over the step is nearer to zero than this multiple of the change over
/// one step. A force that changes evenly falls by half of that change from the mean to the end.
const TREND: f64 = 1.0;

/// Returns the force at the start of a step of the length `long` (s) from the mean forces over a short first step and over the
/// whole step, by linear extrapolation. Each pair is the length of a step (s) and its mean force.
pub(super) fn force_at_start((short, early): (f64, f64), (long, mean): (f64, f64)) -> f64 {
    early - (mean - early) * short / (long - short)
}

impl Run<'_> {
    /// Returns true if the distance `left` of the force that holds joint coordinate `k` from its bound may become zero within a step
    /// of `length` (s), according to the change of the force since the step before (N m or N). `mean` is the mean force over the
    /// step.
    pub(super) fn may_fall(&self, k: usize, mean: f64, left: f64, length: f64) -> bool {
        let Some((_, before)) = &self.last else {
            return false;
        };
        let slope = (mean - self.holding[k]) / (0.5 * (length + before));
        left <= TREND * (slope * length).abs()
    }
}
