//! Tolerances of the crate, in groups by what they decide. Each is a constant with a unit or scale and a reason; those of
//! one algorithm alone stand beside it.

/// Roundings of the impulses by which a normal impulse that is zero may pull.
pub(crate) const IMPULSE_ROUNDINGS: f64 = 10.0;

/// Product of the plastic momentum with the change from plastic to elastic, over its terms, that is rounding: it is
/// never negative.
pub(crate) const WORK_ROUNDING: f64 = 1e-15;
