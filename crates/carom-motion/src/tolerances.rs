//! Tolerances of the crate, in groups by what they decide. Each is a constant with a unit or scale and a reason; those of
//! one algorithm alone stand beside it.

// ---- Billiards ----

/// Value of a guard at the start that is rounding, not penetration.
pub(crate) const GUARD_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Step of a march, over the time, that is rounding.
pub(crate) const TIME_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Exponent up to which a whole power is multiplied out.
pub(crate) const LARGEST_WHOLE_EXPONENT: f64 = 64.0;

/// Argument of $\sin z/z$ and $\arctan z/z$ below which two terms of the series are exact to rounding.
pub(crate) const SMALL_ARGUMENT: f64 = 1e-4;

/// Argument of the derivative of $\sin z/z$ below which four terms of the series are exact to rounding.
pub(crate) const SMALL_DERIVATIVE_ARGUMENT: f64 = 1e-2;

// ---- A flying body ----

/// Height of a fall, in bands of the rounding of the gap, up to which a body that rests on the plane is only pressed
/// against it.
pub(crate) const RESTING_FALL: f64 = 4.0;

/// Interval of a bisection, over its length, that is rounding.
pub(crate) const BISECTED_TIME: f64 = 1e-15;

/// Time that is left of accumulating impacts, over the step, at which they are over.
pub(crate) const ZENO_REST: f64 = 1e-9;

// ---- Generalized coordinates ----

/// Part of a contact row that the others leave, over its norm, below which it depends on them.
pub(crate) const DEPENDENT_ROW: f64 = 1e-8;
