//! Motion around a contact row that its velocity is compared with.

use super::{CANCELLATION_TOLERANCE, REFINED};

/// Ratio of impulses to the reference velocity of their row above which the impulses count as huge.
const HUGE: f64 = 1e8;

/// Reference velocity of a row, and size of the impulses around the row; scaled.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    /// Velocity $\max\bigl(\sum_k|a_k|(|v_k^-| + |v_k^+|)/\lVert a\rVert,\ p\bigr)$, see the head of the gate.
    pub(crate) velocity: f64,
    /// Norm of the impulses of all pushing contacts that are connected with the row.
    pub(crate) impulses: f64,
}

impl Moved {
    /// Returns the rounding error of the impulses on the bodies that are connected with a contact row, as a fraction of the
    /// row's reference velocity (the size of the velocities of these bodies).
    pub(crate) fn rounding(&self) -> f64 {
        if self.impulses > 0.0 {
            f64::EPSILON * self.impulses / self.velocity
        } else {
            0.0
        }
    }

    /// True if the rounding error of the impulses on the bodies connected with a contact row is a large part of the row's
    /// reference velocity (the size of the velocities of these bodies). The answer then proves nothing.
    pub(crate) fn is_rounding(&self) -> bool {
        !(self.rounding() <= CANCELLATION_TOLERANCE)
    }

    /// Returns the largest velocity by which a contact row may miss its prescribed one, multiplied by the scale of the
    /// problem. It is a small fraction of the row's reference velocity, the size of the velocities of the connected bodies
    /// (rule 6 of the gate).
    pub(crate) fn limit(&self) -> f64 {
        let is_huge = self.impulses > HUGE * self.velocity;
        self.velocity
            * if is_huge {
                REFINED
            } else {
                CANCELLATION_TOLERANCE
            }
    }
}
