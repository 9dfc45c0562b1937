//! The variational collision integrator in generalized coordinates.

mod bond;
mod dense;
mod error;
mod event;
mod flight;
mod impact;
mod locate;
mod options;
mod path;
mod run;
mod step;
mod trajectory;

pub use bond::ContactMode;
pub use error::IntegratorError;
pub use event::{Event, Impact, Reaction, State};
pub use options::IntegratorOptions;
pub use run::{CollisionIntegrator, Ending, RunEnd};
pub use trajectory::{LogEntry, Trajectory};
