//! Every constant of time stepping, with its reason.

/// Travel of a pair within a step, as a fraction of the smaller radius, up to which the pair gets rows without a search for the
/// first contact: the tangent plane then differs from the surface by less than half of this fraction of the travel.
pub(super) const SLOW: f64 = 0.05;

/// Height above the lowest feature of a pair, as a fraction of the smaller radius, up to which features become contact points.
/// Features that rotate farther within a step are found by later rounds.
pub(super) const PATCH: f64 = 0.1;

/// Closing of a gap by rotation within a step, as a fraction of the smaller radius, below which the contact is not solved again.
pub(super) const LEAST_NONLINEARITY: f64 = 1e-8;

/// Largest number of rounds that add rows for pairs that still close. Each round reaches one body farther into a heap that is
/// hit; pairs that need more rounds are found one step later.
pub(super) const ROUNDS: usize = 12;

/// Largest number of times that the set of restituting contacts may grow within a step.
pub(super) const GROWTHS: usize = 3;

/// Fraction of the approach speed of a contact below which the change of its normal velocity by its own normal impulse counts as
/// rounding error: such a contact does not restitute.
pub(super) const PRESSED: f64 = 1e-9;

/// Positive work of an impact that counts as rounding, as a fraction of the sum of the absolute values of its terms.
pub(super) const GAIN: f64 = 1e-12;

/// Accuracy of the factor in [0, 1] that reduces the expansion of an impact so that it gains no energy.
pub(super) const SCALE_ACCURACY: f64 = 1e-12;

/// Largest number of expansions solved in search of that factor: bisection to its accuracy takes 40.
pub(super) const SCALE_STEPS: usize = 45;

/// Energy loss of a reduced expansion, as a fraction of the terms of its work, below which the factor is not increased any more.
pub(super) const CAPPED: f64 = 1e-9;

/// Multiples of the best impulses found so far, from which a problem is solved again that missed its tolerance, in this order.
/// Measured on heaps of 50 balls, 120,000 problems: the first three leave one of them above the tolerance, all six none. The best
/// impulses themselves never helped.
pub(super) const RESTARTS: [f64; 6] = [0.0, 0.7, 1.5, 0.3, 1.2, 0.9];

/// Fractions of the tolerance to which a problem is solved whose impulses meet the tolerance, but gain energy: residuals are
/// relative to the largest impulse, and impulses that oppose each other in a jam can be $10^5$ times larger than those that move
/// the bodies.
pub(super) const TIGHTER: [f64; 3] = [1e-2, 1e-4, 1e-6];

/// Least tolerance of a problem: below it residuals consist of rounding errors.
pub(super) const LEAST_TOLERANCE: f64 = 1e-15;

/// Work with the wrong sign that counts as rounding, as a fraction of the sum of the absolute values of impulse times velocity. It
/// matters without gravity, where exact impulses gain nothing; a heap's residuals of 1e-9 reach some percent of it.
pub(super) const WRONG_WORK: f64 = 1e-7;

/// Largest residual with which the impulses of a step can still be used.
pub(super) const USABLE: f64 = 1e-6;

/// Relative deviation from the constant step length that counts as rounding.
pub(super) const SAME_TIME: f64 = 1e-9;

/// Share of an overlap that one step removes by moving the bodies.
pub(super) const PROJECTED: f64 = 0.1;

/// Number of Gauss-Seidel passes over the overlaps of a step.
pub(super) const PROJECTION_PASSES: usize = 4;

/// Overlap, as a fraction of the smaller radius, below which a pair counts as touching and is not moved apart.
pub(super) const SHALLOW: f64 = 1e-9;

/// Overlap of a pair, as a fraction of the smaller radius, from which on the deepest point of the pair becomes a contact point if
/// the overlap grows, even if rotation explains it: a quarter of [`DEEPEST`], so that fast rotation does not stop a run.
pub(super) const DEEP: f64 = 0.25 * DEEPEST;

/// Overlap of a pair, as a fraction of the smaller radius, at which a run stops: contact points are meaningless beyond it. If the
/// step length suits the motion, rotation causes a twentieth of this.
pub(super) const DEEPEST: f64 = 2e-2;
