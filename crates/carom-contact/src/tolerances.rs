//! Tolerances of the crate, in groups by what they decide. Each is a constant with a unit or scale and a reason; those of
//! one algorithm alone stand beside it.

/// Weight of a contact in the jamming combination, of weights with sum 1, that is rounding.
pub(crate) const JAMMED_WEIGHT: f64 = 1e-9;

/// Diagonal entry of a QR factor, over the largest entry of the matrix, below which columns are dependent.
pub(crate) const DEPENDENT_COLUMN: f64 = 1e-11;
