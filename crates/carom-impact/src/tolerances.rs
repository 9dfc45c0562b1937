//! Tolerances of the crate, grouped by the decision that they control. Each is a constant with a unit or scale and a reason.
//! Constants of a single algorithm are defined in its file.

/// Number of rounding errors of the impulses below which a pulling normal impulse counts as zero.
pub(crate) const IMPULSE_ROUNDINGS: f64 = 10.0;

/// Rounding of the product of the plastic momentum with the change from plastic to elastic, as a fraction of its terms. The
/// exact product is not negative.
pub(crate) const WORK_ROUNDING: f64 = 1e-15;
