//! Tolerances of the crate, grouped by the decisions that use them. Each is a constant with a unit or scale and
//! a reason. A tolerance of one algorithm alone is defined in the file of that algorithm.

// ---- Newton steps and barriers of convex bodies ----

/// Sizes below this count as zero: a Newton step or a distance, relative to the size of the body, a principal moment, relative to
/// the largest, the angle (rad) between two faces. A few units in the last place.
pub(crate) const ZERO: f64 = 1e-15;

/// Amount by which the level of a point on the surface may exceed 1 because of rounding.
pub(crate) const LEVEL_ROUNDING: f64 = 1e-13;

/// Largest distance, relative to the size of the body, by which the refinement may move a point; a longer way
/// leads to another feature.
pub(crate) const POLISH_REACH: f64 = 1e-3;

/// Numbers that differ by less than this, relative to the size of the body, count as equal: offsets of planes, levels of vertices
/// and constraints, volumes, mirror entries of an inertia, sums of principal moments. Integrals are computed to this precision.
pub(crate) const EQUAL: f64 = 1e-12;

/// Newton decrement up to which a full step of a self-concordant barrier converges quadratically; steps with a
/// larger decrement are damped.
pub(crate) const FULL_STEP_DECREMENT: f64 = 0.25;

/// Newton decrement at which a barrier is centered: the next step would have its square, which is rounding
/// error.
pub(crate) const CENTERED_DECREMENT: f64 = 1e-7;

/// Largest number of iterations of one search: Newton steps of a barrier, support evaluations of a closest point. Some tens are usual.
pub(crate) const MAX_ITERATIONS: usize = 128;

// ---- Input that rounding spoils ----

/// Rounding error of a unit vector, of a turn of the normal (rad) and of a support value relative to the size of the simplex: a
/// normal whose length differs from 1 by at most this is used unchanged, and a search that gains no more has converged.
pub(crate) const ROUNDING: f64 = 4.0 * f64::EPSILON;

// ---- Closest points of two bodies ----

/// Turn of the normal (rad) after which the next turn, its square, is below rounding error; so is then the component of a difference
/// perpendicular to the right normal, as a fraction of the size.
pub(crate) const LAST_TURN: f64 = 1e-11;

// ---- Patches of touching points ----

/// Sine of an angle, and distance relative to the size of the body, below which directions count as parallel and features as
/// opposite each other: points on a line, parallel edges, surfaces that meet at a point. A search for the closest points that
/// used all its steps is accepted if the normal turned by less in the last one (rad, times the size in m if that is above 1).
pub(crate) const NEARLY_EQUAL: f64 = 1e-9;

/// Touching points closer than this multiple of the touching tolerance count as one: each may be off by the
/// tolerance on either body.
pub(crate) const SAME_POINT: f64 = 4.0;
