//! The papers' examples as named, configurable runs.
//!
//! A [`Scenario`] turns a configuration (commented TOML with defaults) into a [`Record`]:
//! parameters, scalars with units and, where a paper prints one, the paper's value; tables; and
//! figures described as data. A scenario never draws and [`export`] never computes: SVG, CSV, HTML
//! and the golden records all come from the same record.

mod ball_impacts;
mod billiard_break;
mod bouncing;
mod config;
mod error;
mod euler_schemes;
pub mod export;
mod falling_block;
mod hodograph_bundles;
mod hodographs;
mod icosahedron_tetrahedron;
mod light_ball;
mod model;
mod newtons_cradle;
mod orthogonal_corner;
mod outcomes;
mod pair_map;
mod pin_and_ball;
mod plate_on_legs;
mod rack_break;
mod recompression;
pub mod record;
mod reflection_wedge;
mod restitution_laws;
mod scenario;
mod sliding;
mod three_ball_masses;

pub use config::Overrides;
pub use error::ScenarioError;
pub use record::Record;
pub use scenario::{SCENARIOS, Scenario, scenario};
