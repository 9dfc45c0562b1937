//! Two-body frictional impact in three dimensions.

mod arc;
mod baselines;
mod bodies;
mod events;
mod flow;
mod impact;
mod inertia;
mod invariant;
mod line;
mod options;
mod predict;
mod prepared;
mod solve;
mod state;
mod tail;
mod trace;

pub use baselines::{EulerImpact, EulerScheme, PAPER_LINE_TOLERANCE, euler_impact};
pub use bodies::{BodyPair, RigidBody};
pub use events::{Event, EventPoint, Events};
pub use impact::{ContactImpact, ContactResponse, solve_impact};
pub use inertia::ContactInertia;
pub use invariant::{InvariantDirection, InvariantDirections, invariant_directions};
pub use options::{ImpactOptions, Recompression, RestitutionLaw};
pub use predict::{SlipForecast, predict};
pub use prepared::PreparedContact;
pub use solve::FinalMode;
pub use trace::{Trace, TracePoint, trace_impact};
