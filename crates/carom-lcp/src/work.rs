//! Budget of elementary operations. Operations are counted rather than timed, so that answers are reproducible.

/// Default budget for the solution of one linear complementarity problem: largest number of multiply-adds of all
/// attempts together, which take about ten seconds.
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

    /// Subtracts `operations` multiply-adds from the budget. Returns false if the budget is exhausted.
    pub(crate) fn spend(&mut self, operations: u64) -> bool {
        self.left = self.left.saturating_sub(operations);
        self.left > 0
    }

    /// Subtracts a number of pivots from the budget, each of which costs `each` multiply-adds. Returns false if the
    /// budget is exhausted.
    pub(crate) fn spend_pivots(&mut self, pivots: u64, each: u64) -> bool {
        self.n_pivots = self.n_pivots.saturating_add(pivots);
        self.pivots_left = self.pivots_left.saturating_sub(pivots);
        self.spend(pivots.saturating_mul(each)) && self.pivots_left > 0
    }

    /// Returns the number of pivots that the remaining budget allows if each costs `each` multiply-adds.
    pub(crate) fn pivots(&self, each: u64) -> u64 {
        self.pivots_left.min(self.left / each.max(1))
    }

    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Returns the kind of budget that is exhausted, multiply-adds or pivots; `None` if both have something left.
    pub(crate) fn limit(&self) -> Option<Limit> {
        match (self.left, self.pivots_left) {
            (0, _) => Some(Limit::Work),
            (_, 0) => Some(Limit::Pivots),
            _ => None,
        }
    }

    /// Returns a part of this budget, with at most `operations` multiply-adds, to limit a subtask. The budget
    /// itself does not change before [`take_back`](Self::take_back).
    pub(crate) fn part(&self, operations: u64) -> Self {
        Self {
            left: self.left.min(operations),
            ..*self
        }
    }

    /// Subtracts from this budget the multiply-adds that a subtask has used. `part` is the budget left to the subtask
    /// at its end, and `given` is the number of multiply-adds that the subtask had at its start.
    pub(crate) fn take_back(&mut self, part: &Self, given: u64) {
        self.left = self.left.saturating_sub(given - part.left.min(given));
    }
}

/// Kind of budget (operations or pivots) whose exhaustion ended the search for a solution of a linear
/// complementarity problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
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
