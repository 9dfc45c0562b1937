//! The papers' examples as named, configurable runs.
//!
//! A [`Scenario`] turns a configuration (commented TOML with defaults) into a [`Record`]:
//! parameters, scalars with units and, if printed, the paper's value; tables; and
//! figures and animations described as data. A scenario never draws and
//! [`export`](carom_report::export) never computes: SVG, CSV, HTML and the golden records are all
//! made from one record. Each folder holds the scenarios of one paper.
//!
//! # Examples
//!
//! ```
//! use carom_scenarios::{Overrides, ScenarioError, scenario};
//!
//! fn main() -> Result<(), ScenarioError> {
//!     let cradle = scenario("newtons-cradle").expect("a known name");
//!     let record = cradle.run(&Overrides::default())?;
//!     assert!(!record.quantities.is_empty());
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod analyse;
mod beyond;
mod cite;
mod common;
mod config;
mod error;
pub mod extremes;
mod lie_group;
mod list;
mod motion;
mod nonholonomic;
mod progress;
mod propagative;
pub mod published;
mod scenario;
mod search;
mod set_valued;
pub mod tree;
mod two_body;

pub use analyse::analyse;
pub use carom_motion;
pub use carom_report::{self, Record};
pub use carom_world;
pub use cite::citations;
pub use config::{Overrides, is_path, scenario_of};
pub use error::ScenarioError;
pub use list::{SCENARIOS, scenario};
pub use motion::world::{
    Contents, LeftOut, NewState, Robot, Session, SessionBody, SessionContact, SessionCoordinate,
    SessionEvent, SessionState, World, sort_left_out,
};
pub use progress::{Advance, Progress};
pub use propagative::tail_runner;
pub use scenario::Scenario;
pub use search::{Card, Found, Group, book_words, groups, record_words, search};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
