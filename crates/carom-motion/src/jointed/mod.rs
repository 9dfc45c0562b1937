//! Bodies that joints connect, in time: steps from line to line of the grid, limits that hit by the laws of
//! `carom-impact`, dry friction that sticks and slides.
//!
//! Shapes of bodies may touch planes and each other: the certified search looks at the free flights between the kicks,
//! and steps that end at a touch confirm it. Limits of coordinates are contacts without tangents. At an instant the
//! velocities that all joints allow are the coordinates of the problem, so that every law answers. Contacts that last
//! push in the kicks of the steps, together with the joints.

mod contact;
mod crowding;
mod earliest;
mod energy;
mod events;
mod impact;
mod meet;
mod memory;
mod pressing;
mod release;
mod rubbing;
mod run;
mod single;
mod touch;
mod world;

pub use contact::{JointContact, JointImpact, LimitContact, LimitHit, Reaction, TouchHit};
pub use touch::TouchSpec;
pub use world::{Control, JointEvent, JointSample, JointedEnd, JointedSpec, JointedWorld};
