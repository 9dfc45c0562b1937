//! Three questions that every algorithm asks: is a sum zero, are columns linearly dependent, is the work used up.

pub use crate::svd::RANK;
use crate::svd::Svd;

/// Sum of terms, with the sum of their magnitudes.
///
/// # Examples
///
/// ```
/// use carom_numeric::decisions::Sum;
/// let sum: Sum = [0.1, 0.2, -0.3].into_iter().collect();
/// assert!(sum.value != 0.0 && sum.is_zero());
/// assert!(!Sum { value: 1e-9, size: 1.0 }.is_zero());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// Sum of the terms, rounded.
    pub value: f64,
    /// Sum of the magnitudes of the terms, in the unit of the terms.
    pub size: f64,
}

impl Sum {
    /// Largest fraction of its size that rounding leaves of a sum which vanishes in exact arithmetic: $2^{-44}$, or 256 times
    /// the relative spacing of doubles. Terms that are sums over all bodies carry some tens of roundings each.
    pub const ROUNDING: f64 = 256.0 * f64::EPSILON;

    /// Adds a term.
    pub fn add(&mut self, term: f64) {
        self.value += term;
        self.size += term.abs();
    }

    /// True if the value is a rounding error of its terms: its magnitude is at most $2^{-44}$ of the size. False if it is not
    /// a number.
    pub fn is_zero(self) -> bool {
        self.is_below(Self::ROUNDING)
    }

    /// True if the magnitude of the value is at most the fraction `tolerance` of the size. False if one of them is not a number.
    pub fn is_below(self, tolerance: f64) -> bool {
        self.value.abs() <= tolerance * self.size
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<T: IntoIterator<Item = f64>>(terms: T) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

/// Returns the rank of a matrix (rows × n, column-major): the number of singular values above [`RANK`] times the largest.
/// Columns of very different lengths are normalized by the caller.
pub fn rank(columns: &[f64], rows: usize) -> usize {
    let svd = Svd::new(columns, rows);
    let least = svd.cutoff();
    let sizes = svd.singular_values().iter();
    sizes.filter(|size| **size > least).count()
}

/// Work that is left. One unit is about one multiply-add; work is counted, not timed, so that searches end at the same
/// point on every machine.
///
/// # Examples
///
/// ```
/// use carom_numeric::decisions::Budget;
/// let mut budget = Budget::new(100);
/// assert!(budget.spend(60));
/// assert_eq!(budget.left(), 40);
/// assert!(!budget.spend(60));
/// assert_eq!(budget.left(), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
    is_ended: bool,
}

impl Budget {
    /// Creates a budget of the given work (multiply-adds).
    pub fn new(work: u64) -> Self {
        Self {
            left: work,
            is_ended: false,
        }
    }

    /// Returns the work that is left (multiply-adds).
    pub fn left(&self) -> u64 {
        self.left
    }

    /// True if a task was skipped or cut short because it did not fit into the budget: see [`times`](Self::times).
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Marks the budget as ended.
    pub fn end(&mut self) {
        self.is_ended = true;
    }

    /// Subtracts `work` (multiply-adds). If less is left, nothing is left afterwards, and the result is `false`.
    pub fn spend(&mut self, work: u64) -> bool {
        let is_enough = work <= self.left;
        self.left = self.left.saturating_sub(work);
        is_enough
    }

    /// Returns the number of times that a task of `work` units (multiply-adds) fits into the remaining budget. If this
    /// number is smaller than `fewest`, marks the budget as ended and returns `None`.
    pub fn times(&mut self, work: u64, fewest: u64) -> Option<u64> {
        let times = self.left / work.max(1);
        if times < fewest {
            self.end();
            return None;
        }
        Some(times)
    }

    /// Runs `search` with an equal share of the remaining budget, and returns its result. `others` is the number of
    /// searches that still follow and get an equal share each.
    pub fn share<T>(&mut self, others: usize, search: impl FnOnce(&mut Self) -> T) -> T {
        let given = self.left / (others as u64 + 1);
        let mut part = Self::new(given);
        let found = search(&mut part);
        self.left -= given - part.left;
        self.is_ended |= part.is_ended;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_zero_and_numbers_are_not() {
        let sum: Sum = [1e8, 1.0, -1e8, -1.0].into_iter().collect();
        assert!(sum.is_zero());
        let sum: Sum = [1e8, 1.0, -1e8].into_iter().collect();
        assert!(!sum.is_zero() && sum.is_below(1e-8));
        assert!(Sum::default().is_zero());
        let no_number: Sum = [f64::NAN].into_iter().collect();
        assert!(!no_number.is_zero());
    }

    #[test]
    fn dependent_columns_do_not_count() {
        let (c, s) = (0.6, 0.8);
        assert_eq!(rank(&[1.0, 0.0, 0.0, 1.0, c, s], 2), 2);
        assert_eq!(rank(&[c, s, -c, -s], 2), 1);
        assert_eq!(rank(&[1.0, 0.0, 1.0, 1e-11], 2), 2);
        assert_eq!(rank(&[1.0, 0.0, 1.0, 1e-13], 2), 1);
        assert_eq!(rank(&[0.0, 0.0], 2), 0);
    }

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
