//! Periodic orbits of systems with impacts: their multipliers, branches and bifurcations.
//!
//! A [`Flow`] is a system with modes, guards and resets, each with derivatives; [`ContactFlow`] is that of any
//! [`MechanicalSystem`](carom_mechanism::MechanicalSystem) with contacts and a law, [`Articulated`] makes one of jointed bodies.
//! [`find`] gives the orbit to which a motion comes near.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod articulated;
mod carried;
mod contacts;
mod equations;
mod error;
mod flow;
mod integrate;
mod motion;
mod multipliers;
mod orbit;
mod scan;
mod settings;
mod shooting;
mod state;

pub use articulated::Articulated;
pub use carom_joints;
pub use carom_mechanism;
pub use carried::Carried;
pub use contacts::{Armed, ContactFlow};
pub use error::AnalyseError;
pub use flow::{EventKind, Flow, GuardKind, Happening, Jump, Level, Mode, Transition};
pub use motion::{Motion, Section};
pub use multipliers::Multiplier;
pub use orbit::{Orbit, OrbitEvent, find};
pub use settings::Settings;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
