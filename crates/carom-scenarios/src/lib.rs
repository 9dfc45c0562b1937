//! The papers' examples as named, configurable runs.
//!
//! A [`Scenario`] turns a configuration (commented TOML with defaults) into a [`Record`]:
//! parameters, scalars with units and, where a paper prints one, the paper's value; tables; and
//! figures and animations described as data. A scenario never draws and [`export`] never computes:
//! SVG, CSV, HTML and the golden records all come from the same record.

pub mod animation;
mod ball_impacts;
mod billiard_break;
mod bouncing;
mod chaplygin_sleigh;
mod closest_points;
mod config;
mod controlled_penny;
mod double_pendulum_walls;
mod engine_survey;
mod error;
mod euler_schemes;
pub mod export;
pub mod extremes;
mod falling_block;
mod falling_chain;
mod handed_on;
mod hodograph_bundles;
mod hodographs;
mod hybrid_model;
mod icosahedron_tetrahedron;
mod knife_edge;
mod light_ball;
mod mechanism_motion;
mod mechanism_run;
mod mechanisms;
mod model;
mod newtons_cradle;
mod no_slip_disk;
mod orthogonal_corner;
mod outcomes;
mod pair_map;
mod penny;
mod penny_chaos;
mod penny_cloud;
mod penny_figures;
mod penny_model;
mod penny_restitution;
mod penny_superellipse;
mod pin_and_ball;
mod plate_on_legs;
mod played;
mod progress;
mod projection;
mod rack_break;
mod recompression;
pub mod record;
mod reflection_wedge;
mod restitution_laws;
mod rolling_ball;
pub mod sampling;
mod scenario;
mod simultaneous;
mod sliding;
mod snakeboard;
pub mod tail_runner;
mod tangential_compliance;
mod three_ball_masses;
mod zeno_block;

pub use config::Overrides;
pub use error::ScenarioError;
pub use progress::Progress;
pub use record::Record;
pub use scenario::{SCENARIOS, Scenario, scenario};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
