//! No promise of stability: items that other crates of the workspace use, not users. They change without notice.

pub use crate::basis::{Basis, Missed, Opening, Targets};
pub use crate::breach::Breach;
pub use crate::candidate::Candidate;
pub use crate::margin::JAM_MARGIN;
pub use crate::momentum_change::{MomentumChange, separating};
pub use crate::residual_scale::{
    GRAZING_TOLERANCE, ROUNDING, RowVelocity, divisor, dot_and_size, groups, row_velocity, worst,
};
pub use crate::span::{orthonormal, part_in_span};
