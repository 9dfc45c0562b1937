//! Problems with several isolated answers, none of which is preferred.

use carom_contact::{ConeSelection, ImpactError, ImpactOutcome};

/// Most outcomes that are told: as many as combinations of the modes of five planar contacts.
const MAX_OUTCOMES: usize = 1024;

/// Choice of one answer to each ambiguous problem of an impact. The answers to a problem are the digits of a number, whose last
/// digit belongs to the first problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    code: usize,
    /// Number of combinations of the answers so far.
    total: usize,
}

impl Default for Pick {
    fn default() -> Self {
        Self { code: 0, total: 1 }
    }
}

impl Pick {
    /// Returns which of the `n` answers to the next ambiguous problem is taken.
    pub(super) fn choose(&mut self, n: usize) -> usize {
        let digit = self.code / self.total % n;
        self.total = self.total.saturating_mul(n);
        digit
    }

    /// True if some problem had several isolated answers.
    pub(super) fn is_ambiguous(self) -> bool {
        self.total > 1
    }
}

/// Resolves an impact by `solve`. If problems in it are ambiguous, the first answers are those of the least energy: they are the
/// outcome if `selection` takes the first one. Otherwise all outcomes are told in an error.
pub(super) fn decided(
    selection: ConeSelection,
    mut solve: impl FnMut(&mut Pick) -> Result<ImpactOutcome, ImpactError>,
) -> Result<ImpactOutcome, ImpactError> {
    let mut pick = Pick::default();
    let first = solve(&mut pick)?;
    if !pick.is_ambiguous() || selection == ConeSelection::First {
        return Ok(first);
    }
    let mut outcomes = vec![first];
    for code in 1..pick.total.min(MAX_OUTCOMES) {
        outcomes.push(solve(&mut Pick { code, total: 1 })?);
    }
    outcomes.sort_by(|a, b| a.audit.energy_plus_j.total_cmp(&b.audit.energy_plus_j));
    Err(ImpactError::Ambiguous { outcomes })
}
