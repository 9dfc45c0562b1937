//! Tolerances of the crate, in groups by what they decide. Each is a constant with a unit or scale and a reason; those of
//! one algorithm alone stand beside it.

// ---- One contact in closed form (`two_body`) ----

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

// ---- Several contacts ----

/// Weight of a contact in the jamming combination, of weights with sum 1, that is rounding.
pub(crate) const JAMMED_WEIGHT: f64 = 1e-9;

/// Diagonal entry of a QR factor, over the largest entry of the matrix, below which columns are dependent.
pub(crate) const DEPENDENT_COLUMN: f64 = 1e-11;

/// Roundings of the impulses by which a normal impulse that is zero may pull.
pub(crate) const IMPULSE_ROUNDINGS: f64 = 10.0;

/// Product of the plastic momentum with the change from plastic to elastic, over its terms, that is rounding: it is
/// never negative.
pub(crate) const WORK_ROUNDING: f64 = 1e-15;

/// Difference of elastic and plastic outcome, over the motion of the case, without which there is no restitution to fit.
pub(crate) const NO_RESTITUTION: f64 = 1e-14;
