//! Decisions of a law about contact rows.

use super::TieKind;
use carom_contact::RowIndex;

/// Contact row about which a law decides, and the kind of the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) row: RowIndex,
    pub(super) kind: TieKind,
    /// True if the decision is about a round friction cone: the velocities on its sides are not bounded by a hyperplane.
    pub(super) is_round: bool,
}

impl Decision {
    /// Creates a decision whose sides are bounded by a hyperplane of velocities.
    pub(super) fn new(row: RowIndex, kind: TieKind) -> Self {
        Self {
            row,
            kind,
            is_round: false,
        }
    }
}
