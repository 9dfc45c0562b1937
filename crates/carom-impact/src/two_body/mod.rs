//! Two-body frictional impact in three dimensions.

mod arc;
mod bodies;
mod events;
mod flow;
mod impact;
mod inertia;
mod line;
mod options;
mod solve;
mod state;
mod tail;
mod trace;

pub use bodies::{BodyPair, RigidBody};
pub use events::{Event, EventPoint, Events};
pub use impact::{ContactImpact, ContactResponse, solve_impact};
pub use inertia::ContactInertia;
pub use options::{ImpactOptions, Recompression, RestitutionLaw};
pub use solve::FinalMode;
