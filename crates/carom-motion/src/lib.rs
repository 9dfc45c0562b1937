//! Many rigid bodies in time.
mod body;
mod error;
mod pair;
mod search;
pub use body::{BodySpec, FlightRule, PlaneSpec};
pub use error::MotionError;
