//! Tolerances of the crate, in groups by what they decide. Each is a constant with a unit or scale and a reason; those of
//! one algorithm alone stand beside it.

// ---- Newton steps and barriers of convex bodies ----

/// Newton step for touching constraints, over the size of the body, below which the point no longer moves: a few
/// roundings.
pub(crate) const CONVERGED_STEP: f64 = 1e-15;

/// Level above 1 that a point on the surface may have by rounding.
pub(crate) const LEVEL_ROUNDING: f64 = 1e-13;

/// Distance, over the size of the body, by which polishing may move a point; a longer way has left for another feature.
pub(crate) const POLISH_REACH: f64 = 1e-3;

/// Difference of normals (relative) and of offsets (m, at unit scale) below which two planes are one.
pub(crate) const SAME_PLANE: f64 = 1e-12;

/// Newton decrement up to which a full step of a self-concordant barrier converges quadratically; longer ones are damped.
pub(crate) const FULL_STEP_DECREMENT: f64 = 0.25;

/// Newton decrement at which a barrier is centered: the next step would gain its square, which is rounding.
pub(crate) const CENTERED_DECREMENT: f64 = 1e-7;

// ---- Input that rounding spoils ----

/// Deviation from 1 of the length of a normal that is taken for a unit vector as it is given.
pub(crate) const UNIT_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Principal moment, over the largest, that is zero but for a few units in the last place.
pub(crate) const ZERO_MOMENT: f64 = 1e-15;

/// Angle between faces (rad) whose common edge adds nothing to the volume of a rounded body.
pub(crate) const FLAT_ANGLE: f64 = 1e-15;

/// Volume of a mesh, over the cube of its extent, that is all rounding and has no sign.
pub(crate) const ZERO_VOLUME: f64 = 1e-14;

/// Difference of the volumes of a mesh and of its hull, over the latter, below which the mesh is its hull.
pub(crate) const CONVEX_VOLUME: f64 = 1e-12;

// ---- Closest points of two bodies ----

/// Turn of the normal in a Newton step (rad) that is rounding.
pub(crate) const TURN_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Turn of the normal (rad) from which steps that no longer shrink end the search, and the last turn of a search that ran
/// out of steps and still counts (times the size in m, if that is above 1).
pub(crate) const SMALL_TURN: f64 = 1e-9;

/// Turn of the normal (rad) after which the next, its square, is below rounding.
pub(crate) const LAST_TURN: f64 = 1e-11;

/// Distance from the supporting plane, over the radii of both bodies, within which a vertex is on the closest feature.
pub(crate) const SUPPORT_LEVEL: f64 = 1e-12;

/// Distance of a simplex from the origin, over its size, at which the bodies touch or overlap.
pub(crate) const ORIGIN_REACHED: f64 = 1e-15;

/// Gain of a vertex, over the size of the simplex, that is rounding: the simplex holds the closest point.
pub(crate) const GAIN_ROUNDING: f64 = 4.0 * f64::EPSILON;

// ---- Patches of touching points ----

/// Sine of the angle between two directions below which they are parallel: points on a line, edges side by side.
pub(crate) const PARALLEL: f64 = 1e-9;

/// Distance of touching points, over the tolerance of touching, up to which they are one: each may be off by the
/// tolerance on either body.
pub(crate) const SAME_POINT: f64 = 4.0;
