//! Work budget of the search for proofs.

/// Work that is left. One unit is about one multiply-add; work is counted, not timed, so that searches end at the same
/// point on every machine.
pub(super) struct Budget {
    left: u64,
    is_ended: bool,
}

impl Budget {
    pub(super) fn new(work: u64) -> Self {
        Self {
            left: work,
            is_ended: false,
        }
    }

    /// True if a search for proofs was skipped or cut short because the work budget was used up.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    pub(super) fn end(&mut self) {
        self.is_ended = true;
    }

    pub(super) fn spend(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
    }

    /// Returns the number of times that a task of `work` units (multiply-adds) fits into the remaining budget. If this
    /// number is smaller than `fewest`, marks the budget as ended and returns `None`.
    pub(super) fn times(&mut self, work: u64, fewest: u64) -> Option<u64> {
        let times = self.left / work.max(1);
        if times < fewest {
            self.end();
            return None;
        }
        Some(times)
    }

    /// Runs `search` with an equal share of the remaining budget, and returns its result. `others` is the number of
    /// searches that still follow and get an equal share each.
    pub(super) fn share<T>(&mut self, others: usize, search: impl FnOnce(&mut Self) -> T) -> T {
        let given = self.left / (others as u64 + 1);
        let mut part = Self::new(given);
        let found = search(&mut part);
        self.spend(given - part.left);
        self.is_ended |= part.is_ended;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches share the work that one leaves of its part.
    #[test]
    fn parts_are_equal_and_what_is_left_of_one_is_shared() {
        let mut budget = Budget::new(90);
        let parts = [(2, 10), (1, 40), (0, 5)].map(|(others, work)| {
            budget.share(others, |part| {
                let given = part.left;
                part.spend(work);
                given
            })
        });
        assert_eq!(parts, [30, 40, 40]);
        assert_eq!(budget.left, 35);
        assert!(!budget.is_ended());
        assert_eq!(budget.times(7, 5), Some(5));
        assert_eq!(budget.times(8, 5), None);
        assert!(budget.is_ended());
    }
}
