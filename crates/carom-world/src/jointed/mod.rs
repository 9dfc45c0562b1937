//! Time stepping of bodies connected by joints. Events within a step are located: joint limits that are hit (impacts by the laws
//! of `carom-impact`), dry joint friction that starts to stick or to slide.
//!
//! Bodies can have shapes that touch planes and each other. A certified search along the free flight between the two kicks of a
//! step finds candidate contacts; a contact counts when a step that ends there has a negative gap. Limits of coordinates are
//! contacts without tangents. Impact problems are posed in the velocities that all joints allow, so that every impact law can
//! solve them. Impulses of lasting contacts act in the kicks of the steps, together with those of the joints.

mod closing;
mod contact;
mod course;
mod crowding;
mod earliest;
mod energy;
mod events;
mod grid;
mod impact;
mod input;
mod leap;
mod meet;
mod memory;
mod near;
mod pressing;
mod release;
mod rest;
mod rubbing;
mod run;
mod scale;
mod session;
mod single;
mod touch;
mod trend;
mod world;

pub use contact::{JointContact, JointImpact, LimitContact, LimitHit, Reaction};
pub use session::{Jointed, JointedLasting, JointedSession};
pub use touch::TouchSpec;
pub use world::{
    Control, JointEvent, JointSample, JointedEnd, JointedEvent, JointedSpec, JointedState,
    JointedWorld,
};
