//! Worlds with `[[joints]]`.

mod config;
mod numbers;
mod playback;
mod report;
mod robot;
mod run;
mod setup;

pub(super) use config::JointConfig;
pub use robot::Robot;
pub(super) use run::run;
pub(super) use setup::Jointed;
