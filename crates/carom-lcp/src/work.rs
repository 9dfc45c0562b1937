//! Budget of elementary operations. Operations are counted rather than timed, so that answers are reproducible.

/// Default budget of multiply-adds for all attempts at one linear complementarity problem together: about ten
/// seconds.
pub const DEFAULT_MAX_WORK: u64 = 20_000_000_000;

/// Cost of an operation in twice the precision, relative to a plain one.
pub(crate) const DOUBLE_COST: u64 = 16;

/// Remaining budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    left: u64,
    pivots_left: u64,
    pub n_pivots: u64,
}

impl Work {
    pub(crate) fn new(max_work: u64, max_pivots: Option<u64>) -> Self {
        Self {
            left: max_work,
            pivots_left: max_pivots.unwrap_or(u64::MAX),
            n_pivots: 0,
        }
    }

    /// Subtracts multiply-adds from the budget. Returns false if the budget is exhausted.
    pub(crate) fn spend(&mut self, operations: u64) -> bool {
        self.left = self.left.saturating_sub(operations);
        self.left > 0
    }

    /// Subtracts pivots that cost `each` multiply-adds. Returns false if the budget is exhausted.
    pub(crate) fn spend_pivots(&mut self, pivots: u64, each: u64) -> bool {
        self.n_pivots = self.n_pivots.saturating_add(pivots);
        self.pivots_left = self.pivots_left.saturating_sub(pivots);
        self.spend(pivots.saturating_mul(each)) && self.pivots_left > 0
    }

    /// Returns the number of pivots that the budget allows, at `each` multiply-adds.
    pub(crate) fn pivots(&self, each: u64) -> u64 {
        self.pivots_left.min(self.left / each.max(1))
    }

    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Returns the budget that is exhausted, if any.
    pub(crate) fn limit(&self) -> Option<Limit> {
        match (self.left, self.pivots_left) {
            (0, _) => Some(Limit::Work),
            (_, 0) => Some(Limit::Pivots),
            _ => None,
        }
    }

    /// Returns a part of this budget: at most `operations` multiply-adds.
    pub(crate) fn part(&self, operations: u64) -> Self {
        Self {
            left: self.left.min(operations),
            ..*self
        }
    }

    /// Charges the multiply-adds that a part of this budget has used; `given` is the size of that part.
    pub(crate) fn take_back(&mut self, part: &Self, given: u64) {
        self.left = self.left.saturating_sub(given - part.left.min(given));
    }

    /// Charges the multiply-adds and the pivots of a part of this budget.
    pub(crate) fn take_back_pivots(&mut self, part: &Self, given: u64) {
        self.take_back(part, given);
        self.pivots_left = part.pivots_left;
        self.n_pivots = part.n_pivots;
    }
}

/// Kind of budget (operations or pivots) whose exhaustion ended the search for a solution of a linear
/// complementarity problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Multiply-adds: [`LemkeOptions::max_work`](crate::LemkeOptions::max_work).
    Work,
    /// Pivots or sweeps: [`LemkeOptions::max_pivots`](crate::LemkeOptions::max_pivots).
    Pivots,
}

impl Limit {
    /// Returns the identifier of the budget in records: `work` or `pivots`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Pivots => "pivots",
        }
    }
}
