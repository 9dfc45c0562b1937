//! Checks measured impacts of any system, and estimates restitution, friction and inertia from tracked bodies that hit a plane.
//!
//! A [`State`] is one measured impact: mass matrix, contact rows, velocities before and after. [`DataSetup`] reads states from
//! JSON Lines, or from a table of a planar body. [`Checking`] measures the momentum that no contact can change, and names changes
//! of the data (a sign, a unit, an instant, a point) that make it small: a [`Check`] with its findings.
//!
//! The poses of a tracked body go another way:
//!
//! 1. [`read_poses`] reads a table of poses.
//! 2. [`estimate_noise`] estimates the noise of the tracker, gravity and the plane.
//! 3. [`find_impacts`] finds isolated impacts and fits the flights before and after each.
//! 4. [`Cases::fit`] finds the parameters of a law that make the velocities after the impacts most probable,
//!    with intervals over tosses. [`Cases::score`] measures how well given parameters predict other data.
//!
//! The predictions use the laws of [`carom_impact`]; there is no second implementation. Six-vectors are the
//! velocity of the center of mass (m/s) and the angular velocity (rad/s), both in world axes.
//!
//! # Parameters that cannot be identified
//!
//! An impact on a fixed plane depends on mass and inertia only through their ratio, so that the mass is not
//! identifiable. The factor of the inertia is, but a shorter lever arm of the contact has a similar effect.
//!
//! # Examples
//!
//! ```
//! use carom_fit::{Setup, read_poses};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let setup = Setup::from_toml(
//!         "[body]\nmass = 0.37\ninertia = 8.1e-4\nhalf_extents = [0.0524, 0.0524, 0.0524]\n\
//!          [plane]\nnormal = [0.0, 0.0, 1.0]\noffset = \"estimate\"\n\
//!          [flight]\ngravity = \"estimate\"\n",
//!     )?;
//!     assert_eq!(setup.body.vertices.len(), 8);
//!     // Errors name the line and the column.
//!     let error = read_poses("toss,t,x,y,z,qw,qx,qy,qz\n1,0,0,0,high,1,0,0,0\n".as_bytes()).unwrap_err();
//!     assert!(error.to_string().starts_with("line 2: column `z`"));
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod analysis;
mod bootstrap;
mod changes;
mod check;
mod config;
mod episode;
mod error;
mod estimate;
mod explain;
mod figures;
mod fit;
mod gravity;
mod impact;
mod law;
mod likelihood;
mod limited;
mod meet;
mod noise;
mod objective;
mod poses;
mod predict;
mod report;
mod robust;
mod sentences;
mod setup;
mod simplex;
mod states;
mod surrogate;
mod system;
mod tolerances;
mod units;

pub use analysis::Analysis;
pub use check::{Check, Checking, Finding, Observe};
pub use error::{FitError, PoseError};
pub use estimate::estimate_noise;
pub use explain::OuterBound;
pub use fit::{Cases, Estimate, FitOptions, KindFit, LawFit, Score, TossFits, Variation};
pub use impact::{Census, Excluded, Impact, Kind, find_impacts};
pub use law::{FitLaw, Parameter, Parameters};
pub use likelihood::log_density;
pub use nalgebra;
pub use noise::{FlightGravity, NoiseModel, tangents};
pub use poses::{PoseTable, Poses, read_poses};
pub use predict::predict;
pub use report::{Request, analyze, analyze_observed};
pub use setup::{Body, DetectOptions, Plane, PlaneSetup, Setup};
pub use states::{DataError, Labels, Sink, State, Touch};
pub use system::DataSetup;
pub use units::unit_warnings;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
