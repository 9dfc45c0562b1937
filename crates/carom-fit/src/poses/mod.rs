//! Measured impacts from the poses of a tracked body that hits a plane.

pub(crate) mod config;
mod episode;
mod estimate;
mod gravity;
mod impact;
mod meet;
mod noise;
mod reader;
pub(crate) mod setup;
mod table;
mod units;

pub use estimate::estimate_noise;
pub(crate) use gravity::Gravity;
pub(crate) use impact::COMPONENTS;
pub use impact::{Census, Excluded, Impact, find_impacts};
pub use noise::{FlightGravity, NoiseModel, tangents};
pub(crate) use reader::read;
pub use setup::{Body, DetectOptions, Plane, PlaneSetup, Setup};
pub use table::{PoseTable, Poses, read_poses};
pub use units::unit_warnings;
