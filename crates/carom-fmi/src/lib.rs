//! Worlds as functional mock-up units (FMUs) for co-simulation by FMI 2 and 3.
//!
//! [`export`] writes a unit: description, resources, and the shared library `libcarom_capi`, whose functions `fmi2*` and `fmi3*` call an
//! [`Instance`]. An instance is a [session](carom_scenarios::Session): a step goes to the end of a communication step, inputs act from
//! the next step on, and its states are snapshots.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod description;
mod error;
mod export;
mod instance;
mod unit;
mod variables;
mod version;

pub use error::FmiError;
pub use export::{ExportOptions, export, platform, write_resources};
pub use instance::{Instance, Kept};
pub use version::Version;

// Re-exported because its types appear in signatures here.
pub use carom_scenarios;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
