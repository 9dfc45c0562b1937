//! Tran & Leok: a rigid body that bounces on a plane, and the closest points of body and plane.

pub(crate) mod bouncing;
pub(crate) mod closest_points;
