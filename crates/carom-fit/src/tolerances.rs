//! Tolerances of the crate, grouped by the decisions that use them. Each is a constant with a unit or scale and
//! a reason. A tolerance of one algorithm alone is defined in the file of that algorithm.

// ---- Iterations ----

/// Least-squares iterations end when a sweep over the nonnegative weights changes them by at most this, relative to the target,
/// or a Gauss-Newton step reduces the sum of squares by at most this (relative).
pub(crate) const SETTLED: f64 = 1e-14;

/// The iteration for the scale of the misfits ends when its square changes by at most this (relative).
pub(crate) const SETTLED_SCALE: f64 = 1e-12;

/// The iteration for a robust mean ends when a step is at most this (relative).
pub(crate) const SETTLED_CENTER: f64 = 1e-13;

// ---- Decisions ----

/// A parameter lies at an end of its range if its distance from the end, relative to the range, is at most this. A search for an end
/// begins with this step.
pub(crate) const AT_END: f64 = 1e-6;

/// Smallest noise that is used for weights (m, rad); it keeps them finite.
pub(crate) const LEAST_NOISE: f64 = 1e-13;
