//! Decisions in rational arithmetic. The double-precision entries of a problem are integers times powers of
//! two; everything here is exact for them.

mod decide;
mod dictionary;
mod integers;
mod sum;
mod support;

pub(crate) use decide::{Decision, decide, feasibility};
pub(crate) use integers::{Integers, Residues};
pub(crate) use sum::ProductSum;
pub(crate) use support::{Rounded, Support, solve_support};

/// Largest dimension at which every problem is decided.
pub(crate) const DECISIVE_DIM: usize = 8;

/// Largest dimension at which feasibility is decided in rational arithmetic.
pub(crate) const EXACT_DIM: usize = 40;
