//! Bodies that joints connect, in time: steps from line to line of the grid, limits that hit by the laws of
//! `carom-impact`, dry friction that sticks and slides.
//!
//! The bodies touch nothing here; limits of coordinates are contacts without tangents. At an instant the velocities that
//! all joints allow are the coordinates of the problem, so that every law answers.

mod impact;
mod run;

pub use impact::{JointImpact, LimitContact, LimitHit, Reaction};
pub use run::{Control, JointEvent, JointSample, JointedEnd, JointedSpec, JointedWorld};
