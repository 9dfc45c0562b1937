//! Tolerances that several modules of the crate use. Tolerances of a single algorithm are defined in its module.

/// Part of a quantity, relative to its own terms or to the motion that contacts can change, that counts as zero: the tolerance
/// of the gate. It decides if two outcomes are equal, a contact or a guard is grazed, a gradient is constant, rows touch a
/// covector, a right-hand side lies in the range of dependent contacts, and unit rows have a cone with an interior.
pub(crate) const NEGLIGIBLE: f64 = 1e-9;

/// Slopes, coefficients of inequalities and pivots below this fraction of the largest count as zero: derivatives are products
/// of inverses, and carry more rounding than velocities.
pub(crate) const VANISHING: f64 = 1e-10;

/// Velocities and impulses below this fraction of the velocity count as zero if modes are compared: fifty times the rounding
/// that a solved step leaves. Laws treat smaller velocities as rounding, too, whatever they depend on: contacts that hinder
/// each other come to rest over ever smaller velocities.
pub(crate) const GRAZING: f64 = 1e-11;
