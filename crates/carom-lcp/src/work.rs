//! A budget of elementary operations, counted and not timed: answers stay reproducible.

/// Multiply-adds that all attempts at one problem may spend together, unless told otherwise: of
/// the order of ten seconds.
pub const DEFAULT_MAX_WORK: u64 = 20_000_000_000;

/// Cost of a number of twice the precision next to a plain one.
pub(crate) const DOUBLE_COST: u64 = 16;

/// Spent part of a budget.
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

    /// Spends multiply-adds. False when the budget is used up.
    pub(crate) fn spend(&mut self, operations: u64) -> bool {
        self.left = self.left.saturating_sub(operations);
        self.left > 0
    }

    /// Spends pivots that cost `each` multiply-adds. False when the budget is used up.
    pub(crate) fn spend_pivots(&mut self, pivots: u64, each: u64) -> bool {
        self.n_pivots = self.n_pivots.saturating_add(pivots);
        self.pivots_left = self.pivots_left.saturating_sub(pivots);
        self.spend(pivots.saturating_mul(each)) && self.pivots_left > 0
    }

    /// Pivots that can be paid, at `each` multiply-adds.
    pub(crate) fn pivots(&self, each: u64) -> u64 {
        self.pivots_left.min(self.left / each.max(1))
    }

    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// The budget that is used up, if any.
    pub(crate) fn limit(&self) -> Option<Limit> {
        match (self.left, self.pivots_left) {
            (0, _) => Some(Limit::Work),
            (_, 0) => Some(Limit::Pivots),
            _ => None,
        }
    }

    /// A part of this budget: at most `operations` multiply-adds.
    pub(crate) fn part(&self, operations: u64) -> Self {
        Self {
            left: self.left.min(operations),
            ..*self
        }
    }

    /// Takes over the multiply-adds that a part of this budget has spent, which had `given`.
    pub(crate) fn take_back(&mut self, part: &Self, given: u64) {
        self.left = self.left.saturating_sub(given - part.left.min(given));
    }

    /// Takes back work and its pivots.
    pub(crate) fn take_back_pivots(&mut self, part: &Self, given: u64) {
        self.take_back(part, given);
        self.pivots_left = part.pivots_left;
        self.n_pivots = part.n_pivots;
    }
}

/// Budget that ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Multiply-adds: [`LemkeOptions::max_work`](crate::LemkeOptions::max_work).
    Work,
    /// Pivots or sweeps: [`LemkeOptions::max_pivots`](crate::LemkeOptions::max_pivots).
    Pivots,
}

impl Limit {
    /// Stable kebab-case identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Pivots => "pivots",
        }
    }
}
