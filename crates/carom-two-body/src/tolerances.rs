//! Tolerances that several modules of the crate use, each with a unit or scale and a reason. Tolerances of a single
//! algorithm are defined in its module.

/// Relative asymmetry of an inertia above which the input is rejected: it cannot be rounding.
pub(crate) const INERTIA_ASYMMETRY: f64 = 1e-9;

/// Pivot of a Cholesky factor, relative to the largest pivot and in square roots of the machine epsilon, up to which it
/// counts as rounding: pivots are squared.
pub(crate) const PIVOT_ROUNDINGS: f64 = 4.0;

/// Largest Newton step towards an invariant direction (rad); after a longer one another direction may be nearer.
pub(crate) const LONGEST_NEWTON_TURN: f64 = 0.7;

/// Newton step of a direction (rad) that counts as rounding.
pub(crate) const TURN_ROUNDING: f64 = 1e-15;

/// Newton step, of a direction (rad) or relative, and force of a spring, relative to the largest, whose square is below rounding: the
/// next step, and the impulse that the force still gives.
pub(crate) const LAST_NEWTON_STEP: f64 = 1e-9;

/// Slope of the turning rate (scaled) below which an invariant direction counts as double and is not improved by Newton
/// steps.
pub(crate) const LEAST_SLOPE: f64 = 1e-6;

/// Cosine of 40 degrees: a sliding direction within this angle of an invariant direction belongs to its tail.
pub(crate) const NEAR_TAIL: f64 = 0.77;

/// Sliding speed, relative to the speed of the contact, and anisotropy of the inertia, relative to its isotropic part, that
/// count as rounding.
pub(crate) const ROUNDED: f64 = 1e-14;

/// Change of the sliding velocity along a line, relative to the sliding speed, below which the direction of friction
/// counts as constant.
pub(crate) const SHORT_LINE: f64 = 1e-12;

/// Terms of a series, as a fraction of the largest term, that do not change the sum: a thousandth of a rounding error.
pub(crate) const NEGLIGIBLE: f64 = 1e-17;

/// Rounding error of a polynomial whose first coefficient is one. A transverse rate below this fraction of the flow's rate
/// counts as zero: sliding is straight.
pub(crate) const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Largest number of steps of an impact: parts of the period of a spring, or arcs of curved sliding. The proved bound on the normal
/// impulse and capture by invariant directions keep the latter below a hundred.
pub(crate) const MAX_STEPS: usize = 100_000;
