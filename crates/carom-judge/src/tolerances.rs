//! Tolerances that several modules of the crate use. Tolerances of a single algorithm are defined in its module.

/// Distance between elastic and plastic outcome, relative to the motion of the case, up to which no restitution can be
/// fitted.
pub(crate) const NO_RESTITUTION: f64 = 1e-14;
