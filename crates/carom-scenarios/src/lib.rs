//! The papers' examples as named, configurable runs.
//!
//! A [`Scenario`] turns a configuration (commented TOML with defaults) into a [`Record`]:
//! parameters, scalars with units and, where a paper prints one, the paper's value; tables; and
//! figures described as data. A scenario never draws and [`export`] never computes: SVG, CSV, HTML
//! and the golden records all come from the same record.

mod billiard_break;
mod config;
mod error;
pub mod export;
mod falling_block;
mod light_ball;
mod model;
mod newtons_cradle;
mod orthogonal_corner;
mod outcomes;
mod pair_map;
mod plate_on_legs;
mod rack_break;
pub mod record;
mod reflection_wedge;
pub mod sampling;
mod scenario;
mod simultaneous;
mod three_ball_masses;
mod zeno_block;

pub use config::Overrides;
pub use error::ScenarioError;
pub use record::Record;
pub use scenario::{SCENARIOS, Scenario, scenario};
