//! Worlds with `[[joints]]`.

mod config;
mod modelled;
mod numbers;
pub(super) mod playback;
pub(super) mod report;
mod robot;
mod run;
mod setup;

pub(super) use config::{ActuatorConfig, FrameConfig, JointConfig, LimitsConfig};
pub(super) use modelled::modelled;
pub(super) use numbers::{Bounds, Numbers};
pub use robot::Robot;
pub(super) use run::run;
pub(super) use setup::{Jointed, check_free};
