//! Tolerances of the crate, in groups by what they decide. Each is a constant with a unit or scale and a reason; those of
//! one algorithm alone stand beside it.

// ---- Certificates and heavy answers ----

/// Share of the bound of heavy answers up to which the terms of a row are surely light, with room for the rounding of
/// their sums.
pub(crate) const LIGHT_TERMS: f64 = 0.4;

/// Weight of a Farkas certificate, at largest weight 1, that is taken for zero when the others are made whole numbers.
pub(crate) const VANISHING_WEIGHT: f64 = 1e-6;

/// Product above which an exact expansion of a sum could overflow.
pub(crate) const LARGEST_PRODUCT: f64 = 1e280;
