//! Tolerances of the crate, grouped by the decisions that use them. Each is a constant with a unit or scale and
//! a reason. A tolerance of one algorithm alone is defined in the file of that algorithm.

// ---- Iterations ----

/// Relative change at which iterations end: of the nonnegative weights in a sweep (relative to the target), of the sum of squares in
/// a Gauss-Newton step, of the square of the scale of the misfits, and of a robust mean.
pub(crate) const SETTLED: f64 = 1e-14;

/// Largest number of steps of an iteration. A handful is usual; more are needed if almost all misfits are zero.
pub(crate) const MAX_STEPS: usize = 10_000;

// ---- Decisions ----

/// A parameter lies at an end of its range if its distance from the end, relative to the range, is at most this. A search for an end
/// begins with this step.
pub(crate) const AT_END: f64 = 1e-6;

/// Smallest noise that is used for weights (m, rad); it keeps them finite.
pub(crate) const LEAST_NOISE: f64 = 1e-13;
