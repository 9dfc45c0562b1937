//! Tolerances of the crate, in groups by what they decide. Each is a constant with a unit or scale and a reason; those of
//! one algorithm alone stand beside it.

// ---- Functions that are 0/0 somewhere ----

/// Angle (rad) below which the next term of a series, its square, is below rounding.
pub(crate) const SMALL_ANGLE: f64 = 1e-8;

/// Distance from a whole number of turns, over the angle, at which the inverse Jacobian does not exist.
pub(crate) const FULL_TURN: f64 = 1e-12;

// ---- Projection onto the rotations ----

/// Deviation of the balancing factor from 1 below which the iteration converges quadratically without it.
pub(crate) const QUADRATIC_SCALE: f64 = 0.1;

/// Step after which the next, its square, is below rounding.
pub(crate) const LAST_STEP: f64 = 1e-8;
