//! Decisions in rational arithmetic: the doubles of a problem are integers times powers of two, and
//! everything here is exact for them.

mod decide;
mod dictionary;
mod integers;
mod path;
mod sum;

pub(crate) use decide::{Decision, decide, feasibility};
pub(crate) use integers::{Integers, Residues};
pub(crate) use path::{ExactEnd, follow};
pub(crate) use sum::ProductSum;

use crate::work::Work;
use dictionary::Dictionary;

/// The largest dimension at which every problem is decided.
pub(crate) const DECISIVE_DIM: usize = 8;

/// The largest dimension at which Lemke's path is followed in rational arithmetic.
pub(crate) const EXACT_DIM: usize = 40;

/// What a complementary basis is, exactly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Support {
    /// Its system has one solution, which is nonnegative: the variables $z$ (n), rounded to
    /// nearest.
    Solution(Vec<f64>),
    /// Its system has one solution, which is not.
    NoSolution,
    /// Its system has no solution or many.
    Singular,
    /// Out of budget.
    Undecided,
}

/// Solves the system of a complementary basis, `true` where $z_i$ is basic.
pub(crate) fn solve_support(integers: &Integers, basis: &[bool], work: &mut Work) -> Support {
    let n = integers.dim();
    let mut dictionary = Dictionary::of_slacks(integers, false);
    let support: Vec<usize> = (0..n).filter(|i| basis.get(*i) == Some(&true)).collect();
    dictionary.retain_columns(|variable| variable >= n && basis.get(variable - n) == Some(&true));
    for row in support {
        // The leaving variables are zero: their columns are of no use.
        let Some(column) = dictionary.any_entry(row) else {
            return Support::Singular;
        };
        if !dictionary.pivot(row, column, work) {
            return Support::Undecided;
        }
        dictionary.drop_column(column);
    }
    if dictionary.is_feasible() {
        Support::Solution(dictionary.variables(integers))
    } else {
        Support::NoSolution
    }
}
