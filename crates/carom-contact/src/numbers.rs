//! Vector of numbers for small problems.

use smallvec::SmallVec;

/// Vector of numbers; up to eight entries need no heap allocation.
pub type Numbers = SmallVec<[f64; 8]>;
