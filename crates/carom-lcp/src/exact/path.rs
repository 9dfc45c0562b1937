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

/// Runs Lemke's method in exact integer arithmetic, with a covering vector of ones. Ties are broken by the
/// lexicographic rule, so that no basis is visited twice and the path ends. `work` is the budget of multiply-adds.
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

/// Makes the ratio test of Lemke's method: returns the row whose basic variable reaches zero first when the
/// nonbasic variable of `column` increases. Ties are broken lexicographically, but the row of the artificial
/// variable has priority. `n` is the number of rows. `None` if no basic variable decreases.
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

/// Compares the rows `i` and `k` of the basis inverse, each divided by its entry in the entering column, in
/// lexicographic order. The inverse consists of the coefficients of the slack variables $w$; `n` is the number of
/// rows.
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

/// Compares the quotients $a/|x|$ and $b/|y|$ for negative $x$ and $y$, without rounding.
fn compare(a: &BigInt, x: &BigInt, b: &BigInt, y: &BigInt) -> Ordering {
    // a/-x < b/-y where a y > b x: both denominators are negative.
    (b * x).cmp(&(a * y))
}
