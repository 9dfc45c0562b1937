//! Every constant of time stepping, with its reason.

/// Travel of a pair within a step, as a fraction of the smaller radius, up to which the pair gets rows without a search for the
/// first contact: the tangent plane then differs from the surface by less than half of this fraction of the travel.
pub(super) const SLOW: f64 = 0.05;

/// Height above the lowest feature of a pair, as a fraction of the smaller radius, up to which features become contact points.
/// Features that rotate farther within a step are found by later rounds.
pub(super) const PATCH: f64 = 0.1;

/// Closing of a gap by rotation within a step, as a fraction of the smaller radius, below which the contact is not solved again.
pub(super) const LEAST_NONLINEARITY: f64 = 1e-8;

/// Growth of an overlap within a step, as a fraction of the smaller radius, that needs no further contact point: a fifth of what
/// contacts yield under their weight.
pub(super) const LEAST_GROWTH: f64 = 1e-6;

/// Largest number of rounds that add rows for pairs that still close. Each round reaches one body farther into a heap that is
/// hit; pairs that need more rounds are found one step later.
pub(super) const ROUNDS: usize = 12;

/// Largest number of times that the set of restituting contacts may grow within a step.
pub(super) const GROWTHS: usize = 3;

/// Fraction of the approach speed of a contact below which the change of its normal velocity by its own normal impulse counts as
/// rounding error: such a contact does not restitute.
pub(super) const PRESSED: f64 = 1e-9;

/// Positive work of an impact that counts as rounding, as a fraction of the sum of the absolute values of its terms.
pub(crate) const GAIN: f64 = 1e-12;

/// Largest number of expansions solved in search of the factor that reduces the expansion of an impact so that it gains no energy.
pub(crate) const SCALE_STEPS: usize = 45;

/// Energy loss of a reduced expansion, as a fraction of the terms of its work, below which the factor is not increased any more.
pub(super) const CAPPED: f64 = 1e-9;

/// Least and largest deflection of a contact under the weight of its bodies, as a fraction of the distance that they fall in a
/// step. The first keeps the problems of light contacts well conditioned, the second keeps contacts firm.
pub(super) const DEFLECTIONS: [f64; 2] = [2.5e-3, 0.1];

/// Largest compliance without gravity, as a fraction of the mobility of a contact.
pub(super) const UNLOADED: f64 = 0.01;

/// Share of the impulse that a contact held before by which its spring is stiffer: heavy bodies on light ones do not sink.
pub(super) const CARRIED: f64 = 0.1;

/// Deflection of a point within a step, as a fraction of the smaller radius, beyond which the step is solved again with the
/// impulses as pre-loads; and the largest number of these repetitions.
pub(super) const DEFLECTED: (f64, usize) = (5e-4, 4);

/// Factors by which the springs of a problem that missed its tolerance become softer, one after the other. The pre-load falls by
/// their square roots, so that the energy of the springs stays. Measured on heaps: the first solves each.
pub(crate) const SOFTER: [f64; 3] = [10.0; 3];

/// Residual at which a search ends, as a fraction of the largest accepted one: the last step of Newton's method gains more.
pub(super) const GOAL: f64 = 0.1;

/// Work with the wrong sign that counts as rounding, as a fraction of the impulses times the largest velocity of the island. It
/// matters without gravity, where exact impulses gain nothing; a heap's residuals of 1e-9 reach some percent of it.
pub(super) const WRONG_WORK: f64 = 1e-7;

/// Largest residual with which the impulses of a step can still be used.
pub(crate) const USABLE: f64 = 1e-6;

/// Relative deviation from the constant step length that counts as rounding.
pub(super) const SAME_TIME: f64 = 1e-9;

/// Share of an overlap that one step removes by moving the bodies.
pub(crate) const PROJECTED: f64 = 0.1;

/// Number of Gauss-Seidel passes over the overlaps of a step.
pub(super) const PROJECTION_PASSES: usize = 4;

/// Overlap, as a fraction of the smaller radius, beyond the deflection of its spring, below which a point is not moved apart.
/// Moving bodies works against the springs, so that heaps would not come to rest.
pub(super) const SHALLOW: f64 = 1e-3;

/// Overlap of a pair, as a fraction of the smaller radius, from which on the deepest point of the pair becomes a contact point if
/// the overlap grows, even if rotation explains it: a quarter of [`DEEPEST`], so that fast rotation does not stop a run.
pub(super) const DEEP: f64 = 0.25 * DEEPEST;

/// Overlap of a pair, as a fraction of the smaller radius, at which a run stops: contact points are meaningless beyond it. If the
/// step length suits the motion, rotation causes a twentieth of this.
pub(super) const DEEPEST: f64 = 2e-2;
