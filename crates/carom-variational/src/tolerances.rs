//! Tolerances of the crate, in groups by what they decide. Each is a constant with a unit or scale and a reason; those of
//! one algorithm alone stand beside it.

// ---- Steps of rotation ----

/// Half angle of a step (tangent) below which fixed-point steps are cheaper than a Newton step.
pub(crate) const FIXED_POINT_ANGLE: f64 = 0.1;

/// Fraction of a Newton step below which the increment is not found.
pub(crate) const LEAST_FRACTION: f64 = 1e-6;

/// Relative difference of two moments below which the bound of their difference divides by rounding.
pub(crate) const SYMMETRIC_MOMENTS: f64 = 1e-6;

// ---- Grids of time ----

/// Relative distance from a whole number of steps at which a duration has no shorter last step.
pub(crate) const WHOLE_STEPS: f64 = 1e-9;
