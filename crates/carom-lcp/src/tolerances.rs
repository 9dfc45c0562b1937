//! Tolerances of the crate, grouped by the decisions that use them. Each is a constant with a unit or scale and
//! a reason. A tolerance of one algorithm alone is defined in the file of that algorithm.

// ---- Certificates and heavy answers ----

/// Fraction of the bound of heavy answers below which the terms of a row are certainly light, with a margin for
/// the rounding errors of their sums.
pub(crate) const LIGHT_TERMS: f64 = 0.4;

/// Weight of a Farkas certificate (largest weight 1) that counts as zero when the others are rounded to
/// integers.
pub(crate) const VANISHING_WEIGHT: f64 = 1e-6;

/// Size below which a product may lose the lower half of its exact value, and a scaled entry may have been rounded.
pub(crate) const SMALLEST: f64 = 1e-280;
