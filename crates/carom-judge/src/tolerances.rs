//! Tolerances of several modules of the crate; those of one algorithm alone stand beside it.

/// Difference of elastic and plastic outcome, over the motion of the case, without which there is no restitution to fit.
pub(crate) const NO_RESTITUTION: f64 = 1e-14;
