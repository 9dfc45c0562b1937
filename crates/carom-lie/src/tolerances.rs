//! Tolerances of the crate, grouped by the decision that they control. Each is a constant with a unit or scale and a reason.
//! Constants of a single algorithm are defined in its file.

// ---- Functions that are 0/0 somewhere ----

/// Angle (rad) below which the second term of a series in the squared angle is smaller than rounding.
pub(crate) const SMALL_ANGLE: f64 = 1e-8;

/// Distance from a whole number of turns, divided by the angle, below which the inverse Jacobian counts as infinite.
pub(crate) const FULL_TURN: f64 = 1e-12;

// ---- Projection onto the rotations ----

/// Deviation of the balancing factor from 1 below which Newton's iteration converges quadratically without the factor.
pub(crate) const QUADRATIC_SCALE: f64 = 0.1;
