//! Numbers of small problems.

use smallvec::SmallVec;

/// Numbers of one small problem, without a heap allocation.
pub type Numbers = SmallVec<[f64; 8]>;
