//! Lemke's path in rational arithmetic.

use super::dictionary::Dictionary;
use super::integers::Integers;
use crate::work::Work;
use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// End of the path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExactEnd {
    /// Variables (n) of a solution, rounded to nearest.
    Solved(Vec<f64>),
    /// On a ray: this path decides nothing.
    Ray,
    /// Out of budget.
    Undecided,
}

/// Follows the path of the covering vector that is one in the coordinates of the integers, with the
/// lexicographic rule. It cannot come back, so that it ends.
pub(crate) fn follow(integers: &Integers, work: &mut Work) -> ExactEnd {
    let n = integers.dim();
    let artificial = 2 * n;
    let mut dictionary = Dictionary::of_slacks(integers, true);
    if dictionary.is_feasible() {
        return ExactEnd::Solved(dictionary.variables(integers));
    }
    // The least, and among equals the last: the smallest of (q, e).
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

/// The row in which a column blocks: the lexicographically smallest quotient, but that of the
/// artificial variable wherever it is among the smallest.
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

/// Compares the rows of the inverse of the basis, divided by the entering column: the
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
