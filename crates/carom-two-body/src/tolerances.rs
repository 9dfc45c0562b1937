//! Tolerances of the crate, each with a unit or scale and a reason; those of one algorithm alone stand beside it.

/// Slope at an end up to which Hermite's cubic on the unit interval is monotone (Fritsch and Carlson).
pub(crate) const MONOTONE_SLOPE: f64 = 3.0;

/// Rate of turning (rad per unit impulse, scaled) below which a leg near an invariant direction is left to its series.
pub(crate) const TAIL_RATE: f64 = 1e-3;

/// Relative asymmetry of an inertia that is a fault of the input, not its rounding.
pub(crate) const INERTIA_ASYMMETRY: f64 = 1e-9;

/// Pivot of a Cholesky factor, in roots of the machine epsilon times the largest pivot, that is rounding: pivots are
/// squared.
pub(crate) const PIVOT_ROUNDINGS: f64 = 4.0;

/// Newton step towards an invariant direction (rad) beyond which another one is nearer.
pub(crate) const LONGEST_NEWTON_TURN: f64 = 0.7;

/// Newton step of a direction (rad) that is rounding.
pub(crate) const TURN_ROUNDING: f64 = 1e-15;

/// Newton step, of a direction (rad) or relative, after which the next, its square, is below rounding.
pub(crate) const LAST_NEWTON_STEP: f64 = 1e-9;

/// Slope of the turning rate (scaled) below which an invariant direction is double and is not polished.
pub(crate) const LEAST_SLOPE: f64 = 1e-6;

/// Cosine of 40 degrees: sliding within that angle of an invariant direction led to it.
pub(crate) const NEAR_TAIL: f64 = 0.77;

/// Sliding speed, over the speed of the contact, that is rounding.
pub(crate) const NO_SLIDING: f64 = 1e-14;

/// Change of the sliding velocity along a line, over the sliding speed, that turns no friction.
pub(crate) const SHORT_LINE: f64 = 1e-12;
