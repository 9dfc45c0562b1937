//! Tolerances that several modules of the crate use. Tolerances of a single algorithm are defined in its module.

/// Distance between elastic and plastic outcome, relative to the motion of the case, up to which no restitution can be
/// fitted.
pub(crate) const NO_RESTITUTION: f64 = 1e-14;

/// Numbers that differ by less than this, relative to their size, count as equal: distances, restitutions, slopes, sort keys.
/// Velocities and impulses below this fraction of the motion count as zero. The tolerance of the gate, so that an outcome that
/// passes the gate has the modes of its law.
pub(crate) const EQUAL: f64 = 1e-9;

/// Differences below this, relative to unit rows, coefficients or terms of about one, are rounding errors.
pub(crate) const ROUNDED: f64 = 1e-12;

/// Fraction of the motion, or of unit rows, above which a difference is certainly neither rounding nor an error of a fit: the
/// smallest distance that is accepted as a proof.
pub(crate) const CERTAIN: f64 = 1e-6;
