//! Motion through impacts.
//!
//! Between impacts a system flows or steps; at an impact a law answers; where a contact presses it lasts.
//! All systems here run on one driver, [`hybrid`], which says when a run ends and what it reports:
//!
//! | module | moves | meets |
//! | --- | --- | --- |
//! | [`world`] | rigid bodies and planes | any law of `carom-impact`, friction, rest |
//! | [`jointed`] | bodies that joints connect | limits of joints, any law |
//! | [`flying`] | one rigid body above a plane | Newton's restitution, the discrete energy |
//! | [`generalized`] | mechanisms | any law, lasting contact with friction in the plane |
//! | [`billiard`] | nonholonomic systems, the penny first of all | any law with constraints |
//! | [`hybrid`] | a system of one's own | |
//!
//! Impacts are the business of `carom-impact`, motion between impacts that of
//! [`carom_variational`]. First contacts of bodies and impacts of billiards are isolated with a guarantee.

pub mod billiard;
pub mod flying;
pub mod generalized;
pub mod hybrid;
pub mod jointed;
mod tolerances;
pub mod world;

pub use carom_geometry as geometry;
pub use carom_impact as impact;
pub use carom_impact::sensitivity;
pub use carom_joints as joints;
pub use carom_lie as lie;
pub use carom_mechanism as mechanism;
pub use carom_metric as metric;
pub use carom_variational as variational;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
