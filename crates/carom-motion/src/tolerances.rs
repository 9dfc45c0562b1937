//! Tolerances of the crate, grouped by purpose. Each is a constant with a unit or scale and a reason. Tolerances of a single
//! algorithm are defined next to it.

// ---- Billiards ----

/// Largest value of a wall function at the start that counts as rounding error, not as penetration.
pub(crate) const GUARD_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Step of `march`, as a fraction of the time, that counts as rounding error.
pub(crate) const TIME_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Largest integer exponent for which a power is computed by multiplication.
pub(crate) const LARGEST_WHOLE_EXPONENT: f64 = 64.0;

/// Argument of $\sin z/z$ and $\arctan z/z$ below which two terms of the series are exact to rounding.
pub(crate) const SMALL_ARGUMENT: f64 = 1e-4;

/// Argument of the derivative of $\sin z/z$ below which four terms of the series are exact to rounding.
pub(crate) const SMALL_DERIVATIVE_ARGUMENT: f64 = 1e-2;

// ---- A flying body ----

/// Height of a fall, as a multiple of the rounding error of the gap, up to which a body that began at rest on the plane is only
/// pressed against it.
pub(crate) const RESTING_FALL: f64 = 4.0;

/// Width of a bisection interval, as a fraction of the step, that counts as rounding error.
pub(crate) const BISECTED_TIME: f64 = 1e-15;

/// Remaining time of accumulating impacts, as a fraction of the step, at which the accumulation point counts as reached.
pub(crate) const ZENO_REST: f64 = 1e-9;

// ---- Generalized coordinates ----

/// Part of a contact row that is independent of the other rows, as a fraction of its norm, below which the row counts as
/// dependent.
pub(crate) const DEPENDENT_ROW: f64 = 1e-8;
