//! Tolerances of the crate, grouped by the decisions that use them. Each is a constant with a unit or scale and
//! a reason. A tolerance of one algorithm alone is defined in the file of that algorithm.

// ---- Newton steps and barriers of convex bodies ----

/// Newton step for active constraints, relative to the size of the body, below which the point has converged: a
/// few rounding errors.
pub(crate) const CONVERGED_STEP: f64 = 1e-15;

/// Amount by which the level of a point on the surface may exceed 1 because of rounding.
pub(crate) const LEVEL_ROUNDING: f64 = 1e-13;

/// Largest distance, relative to the size of the body, by which the refinement may move a point; a longer way
/// leads to another feature.
pub(crate) const POLISH_REACH: f64 = 1e-3;

/// Two planes are equal if their normals (relative) and offsets (m, at unit scale) differ by less than this.
pub(crate) const SAME_PLANE: f64 = 1e-12;

/// Newton decrement up to which a full step of a self-concordant barrier converges quadratically; steps with a
/// larger decrement are damped.
pub(crate) const FULL_STEP_DECREMENT: f64 = 0.25;

/// Newton decrement at which a barrier is centered: the next step would have its square, which is rounding
/// error.
pub(crate) const CENTERED_DECREMENT: f64 = 1e-7;

// ---- Input that rounding spoils ----

/// A normal whose length differs from 1 by at most this is used unchanged as a unit vector.
pub(crate) const UNIT_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// A principal moment below this fraction of the largest counts as zero: a few units in the last place.
pub(crate) const ZERO_MOMENT: f64 = 1e-15;

/// If the angle between two faces (rad) is below this, their common edge adds nothing to the volume of a
/// rounded body.
pub(crate) const FLAT_ANGLE: f64 = 1e-15;

/// A mesh volume below this fraction of the cube of its extent is only rounding error and has no sign.
pub(crate) const ZERO_VOLUME: f64 = 1e-14;

/// A mesh counts as convex if its volume differs from that of its hull by less than this fraction of the
/// latter.
pub(crate) const CONVEX_VOLUME: f64 = 1e-12;

// ---- Closest points of two bodies ----

/// A turn of the normal in a Newton step (rad) below this is rounding error.
pub(crate) const TURN_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Turn of the normal (rad) below which steps that no longer shrink end the search. A search that used all its
/// steps is also accepted if its last turn is below this (times the size in m, if that is above 1).
pub(crate) const SMALL_TURN: f64 = 1e-9;

/// Turn of the normal (rad) after which the next turn, its square, is below rounding error.
pub(crate) const LAST_TURN: f64 = 1e-11;

/// Distance from the supporting plane, relative to the sum of both body radii, within which a vertex belongs to
/// the closest feature.
pub(crate) const SUPPORT_LEVEL: f64 = 1e-12;

/// Distance of a simplex from the origin, relative to its size, below which the bodies touch or overlap.
pub(crate) const ORIGIN_REACHED: f64 = 1e-15;

/// If a new vertex gains less than this, relative to the size of the simplex, the gain is rounding error and
/// the simplex contains the closest point.
pub(crate) const GAIN_ROUNDING: f64 = 4.0 * f64::EPSILON;

// ---- Patches of touching points ----

/// Sine of the angle between two directions below which they count as parallel: points on a line, parallel
/// edges.
pub(crate) const PARALLEL: f64 = 1e-9;

/// Touching points closer than this multiple of the touching tolerance count as one: each may be off by the
/// tolerance on either body.
pub(crate) const SAME_POINT: f64 = 4.0;
