//! Lemke's method in rational arithmetic.

use super::dictionary::Dictionary;
use super::integers::Integers;
use crate::work::Work;
use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// Outcome of the path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExactEnd {
    /// Variables of a solution (n entries), rounded to nearest.
    Solved(Vec<f64>),
    /// The path ended on a ray, which decides nothing.
    Ray,
    /// The budget was exhausted.
    Undecided,
}

/// Follows Lemke's path with a covering vector of ones in the scaled integer problem and the lexicographic
/// rule. The path never visits a basis twice, so it ends.
pub(crate) fn follow(integers: &Integers, work: &mut Work) -> ExactEnd {
    let n = integers.dim();
    let artificial = 2 * n;
    let mut dictionary = Dictionary::of_slacks(integers, true);
    if dictionary.is_feasible() {
        return ExactEnd::Solved(dictionary.variables(integers));
    }
    // The least value, and among equal values the last row: the lexicographically smallest of (q, e).
    let first = (0..n).rev().min_by_key(|i| dictionary.value(*i));
    let Some(mut row) = first else {
        return ExactEnd::Undecided;
    };
    let mut entering = artificial;
    loop {
        let Some(column) = dictionary.column_of(entering) else {
            return ExactEnd::Undecided;
        };
        let left = dictionary.basic[row];
        if !dictionary.pivot(row, column, work) {
            return ExactEnd::Undecided;
        }
        if left == artificial {
            return ExactEnd::Solved(dictionary.variables(integers));
        }
        entering = if left < n { left + n } else { left - n };
        let Some(column) = dictionary.column_of(entering) else {
            return ExactEnd::Undecided;
        };
        match blocking_row(&dictionary, column, n) {
            Some(blocking) => row = blocking,
            None => return ExactEnd::Ray,
        }
    }
}

/// Returns the row in which a column blocks: the lexicographically smallest quotient. The row of the artificial
/// variable has priority if it is among the smallest. `None` if no row blocks.
fn blocking_row(dictionary: &Dictionary, column: usize, n: usize) -> Option<usize> {
    let mut best: Option<usize> = None;
    let entry = |i: usize| dictionary.entry(i, column);
    for i in (0..n).filter(|i| entry(*i).sign() == Sign::Minus) {
        let Some(least) = best else {
            best = Some(i);
            continue;
        };
        let quotients = compare(
            dictionary.value(i),
            entry(i),
            dictionary.value(least),
            entry(least),
        );
        let order = quotients.then_with(|| {
            match (
                dictionary.basic[i] == 2 * n,
                dictionary.basic[least] == 2 * n,
            ) {
                (true, _) => Ordering::Less,
                (_, true) => Ordering::Greater,
                _ => lexicographic(dictionary, column, (i, least), n),
            }
        });
        if order == Ordering::Less {
            best = Some(i);
        }
    }
    best
}

/// Compares two rows of the basis inverse, divided by the entering column. The inverse consists of the
/// coefficients of the slack variables.
fn lexicographic(
    dictionary: &Dictionary,
    column: usize,
    (i, k): (usize, usize),
    n: usize,
) -> Ordering {
    let negated = |row: usize, slack: usize| match dictionary.column_of(slack) {
        Some(column) => -dictionary.entry(row, column),
        None if dictionary.basic[row] == slack => dictionary.denominator().clone(),
        None => BigInt::ZERO,
    };
    let entry = |row: usize| dictionary.entry(row, column);
    let orders =
        (0..n).map(|slack| compare(&negated(i, slack), entry(i), &negated(k, slack), entry(k)));
    orders.fold(Ordering::Equal, Ordering::then)
}

/// Compares $a/|x|$ with $b/|y|$ for negative x and y.
fn compare(a: &BigInt, x: &BigInt, b: &BigInt, y: &BigInt) -> Ordering {
    // a/-x < b/-y where a y > b x: both denominators are negative.
    (b * x).cmp(&(a * y))
}
