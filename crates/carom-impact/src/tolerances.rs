//! Tolerances of the crate, grouped by the decision that they control. Each is a constant with a unit or scale and a reason.
//! Constants of a single algorithm are defined in its file.

/// Number of rounding errors of the impulses below which a pulling normal impulse counts as zero.
pub(crate) const IMPULSE_ROUNDINGS: f64 = 10.0;

/// Rounding of the product of the plastic momentum with the change from plastic to elastic, as a fraction of its terms. The
/// exact product is not negative.
pub(crate) const WORK_ROUNDING: f64 = 1e-15;

/// Velocities and impulses below this fraction of the motion count as zero, and numbers that differ by less count as equal:
/// states of a tree, sort keys, contacts that tie, restitutions. The tolerance of the gate, so that an answer that passes the
/// gate has the modes in which it was found.
pub(crate) const EQUAL: f64 = 1e-9;

/// Ratio to the largest pivot, or singular value, below which a direction of the impulses is free: normal and tangent are
/// dependent, or the velocities do not determine the impulses.
pub(crate) const FREE: f64 = 1e-9;

/// Fraction of the terms of a sum below which the rest counts as rounding: of forces that balance, of a condition of a mode, of
/// an approach at the end of an impact, of a product of whitened unit rows. It covers the rounding of coordinates that mix all
/// bodies.
pub(crate) const BALANCED: f64 = 1e-10;

/// Fraction of the motion above which two outcomes are distinct, a set of outcomes has an extent, and a tangential vector has a
/// direction. Errors of solvers are far smaller.
pub(crate) const DISTINCT: f64 = 1e-6;
