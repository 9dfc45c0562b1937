//! Every constant of time stepping, with its reason.

/// Gaps that can close within a step get rows without a search if the way is at most this fraction of the smaller
/// radius: the plane of a row then differs from the surface by less than half of it, relatively.
pub(super) const SLOW: f64 = 0.05;

/// Features of a pair count if they are no higher than the lowest by this fraction of the smaller radius; what tilts
/// farther within a step is found by the rounds.
pub(super) const PATCH: f64 = 0.1;

/// Gaps that turning closes within a step by less than this fraction of the smaller radius are not solved for again.
pub(super) const BENT: f64 = 1e-8;

/// Rounds that add rows of pairs found to close. Each reaches one body farther through a heap that is
/// hit; pairs that would need more are found one step later.
pub(super) const ROUNDS: usize = 12;

/// Times that the set of contacts that restitute may grow within a step.
pub(super) const GROWTHS: usize = 3;

/// Normal impulses below this fraction of the largest of an island, each times the mobility of its
/// contact, are rounding: their contacts do not restitute.
pub(super) const PRESSED: f64 = 1e-9;

/// Work of an impact above zero that counts as rounding, as a fraction of what its impulses do and undo.
pub(super) const GAIN: f64 = 1e-12;

/// Accuracy of the scale of a capped expansion, which lies in [0, 1].
pub(super) const SCALE_ACCURACY: f64 = 1e-12;

/// Solutions in search of that scale: bisection to its accuracy takes 40.
pub(super) const SCALE_STEPS: usize = 45;

/// A capped expansion whose work is within this fraction of zero, from below, needs no larger scale.
pub(super) const CAPPED: f64 = 1e-9;

/// Residual above which a step's impulses are no answer.
pub(super) const USABLE: f64 = 1e-6;

/// A step of the grid is as long as planned to this fraction.
pub(super) const SAME_TIME: f64 = 1e-9;

/// Share of an overlap that a step takes out of positions.
pub(super) const PROJECTED: f64 = 0.1;

/// Passes over the overlaps of a step.
pub(super) const PROJECTION_PASSES: usize = 4;

/// Overlaps below this fraction of the smaller radius are contact, and stay.
pub(super) const SHALLOW: f64 = 1e-9;

/// Overlap of a pair, as a fraction of the smaller radius, that ends a run: the places of contact points mean nothing beyond
/// it. Turning leaves a twentieth of this where the step suits the motion.
pub(super) const DEEPEST: f64 = 2e-2;
