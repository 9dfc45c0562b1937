//! Tolerances of the crate, in groups by what they decide. Each is a constant with a unit or scale and a reason; those of
//! one algorithm alone stand beside it.

// ---- Iterations ----

/// Squared length of a column of unit contact directions that can explain nothing.
pub(crate) const ZERO_COLUMN: f64 = 1e-24;

/// Largest change of a sweep, over the target, after which nonnegative weights are settled.
pub(crate) const SETTLED_WEIGHTS: f64 = 1e-14;

/// Relative change of the squared scale of the misfits after which it is settled.
pub(crate) const SETTLED_SCALE: f64 = 1e-12;

/// Relative gain of a Gauss-Newton step after which the impact is found.
pub(crate) const SETTLED_COST: f64 = 1e-14;

/// Relative step after which a robust mean is found.
pub(crate) const SETTLED_CENTER: f64 = 1e-13;

// ---- Decisions ----

/// Distance from an end of its range, over the range, at which a parameter is at that end.
pub(crate) const AT_END: f64 = 1e-6;

/// Part of a whitened direction that others leave, over its length, below which it adds nothing to their span.
pub(crate) const DEPENDENT_DIRECTION: f64 = 1e-10;

/// Relative difference of the principal moments below which the body is isotropic.
pub(crate) const EQUAL_MOMENTS: f64 = 1e-12;
