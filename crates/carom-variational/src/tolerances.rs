//! Tolerances of the crate, grouped by purpose. Each is a constant with a unit or scale and a reason. Tolerances of a single
//! algorithm are defined next to it.

// ---- Steps of rotation ----

/// Half angle of a step (tangent) below which fixed-point steps are cheaper than a Newton step.
pub(crate) const FIXED_POINT_ANGLE: f64 = 0.1;

/// Smallest fraction of a Newton step that is tried; below it the increment counts as not found.
pub(crate) const LEAST_FRACTION: f64 = 1e-6;

/// Relative difference of two moments below which it is rounding error: the bounds do not divide by it.
pub(crate) const SYMMETRIC_MOMENTS: f64 = 1e-6;

// ---- Grids of time ----

/// Relative distance from a whole number of steps at which a duration has no shorter last step.
pub(crate) const WHOLE_STEPS: f64 = 1e-9;
