//! Checks measured impacts of any system, and estimates restitution, friction and inertia from them, or from tracked bodies that hit
//! a plane.
//!
//! A [`State`] is one measured impact: mass matrix, contact rows, velocities before and after. There is one path:
//!
//! 1. [`DataSetup::read`] reads states from JSON Lines, from a table of a planar body, or from a table with the poses of a tracked
//!    body: it estimates noise, gravity and the plane, finds the isolated impacts and fits the flights before and after each. The
//!    result is [`Measured`].
//! 2. [`Checking`] measures the momentum that no contact can change, and names changes of the data (a sign, a unit, an instant, a
//!    point) that make it small: a [`Check`] with its findings.
//! 3. [`Measured::analyze`] finds the parameters of laws that make the velocities after the impacts most probable, with intervals
//!    over groups of impacts, and compares the laws on impacts that were held out: an [`Analysis`].
//!
//! The predictions use the laws of [`carom_impact`]; there is no second implementation.
//!
//! # Parameters that cannot be identified
//!
//! An impact on a fixed plane depends on mass and inertia only through their ratio, so that the mass is not
//! identifiable. The factor of the inertia is, but a shorter lever arm of the contact has a similar effect.
//!
//! # Examples
//!
//! ```
//! use carom_fit::{DataSetup, FitOptions, Parameter, Parameters, Request, Rule};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // Twenty balls that keep 80 % of their speed.
//!     let line = |v: f64| {
//!         let after = 0.8 * v;
//!         format!(r#"{{"mass_matrix": [[2]], "velocity": [-{v}], "velocity_plus": [{after}], "contacts": [{{"normal": [1]}}]}}"#)
//!     };
//!     let lines: Vec<String> = (10..30).map(|k| line(0.1 * f64::from(k))).collect();
//!     let measured = DataSetup::default().read(lines.join("\n").as_bytes(), false, &[])?;
//!     let law = Rule::by_name("moreau-newton").ok_or("no law")?;
//!     let restitution = Parameter::by_name("restitution").ok_or("no parameter")?;
//!     let request = Request::new(law, &[restitution.clone()], Parameters::NONE);
//!     let analysis = measured.analyze(&[request], &FitOptions::new(0, 0))?;
//!     assert!((analysis.fits[0].parameters.get(&restitution) - 0.8).abs() < 1e-6);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod changes;
mod check;
mod error;
mod fit;
mod measured;
mod poses;
mod robust;
mod source;
mod states;
mod system;
mod tolerances;

pub use check::{Check, Checking, Finding, Observe};
pub use error::FitError;
pub use fit::{
    Analysis, Bound, Coefficient, Estimate, FitOptions, GroupFits, HeldOut, LawFit, Parameter,
    Parameters, PartFit, Request, Rule, Score, Variation, log_density,
};
pub use measured::Measured;
pub use nalgebra;
pub use poses::{
    Body, Census, DetectOptions, Excluded, FlightGravity, Impact, NoiseModel, Plane, PlaneSetup,
    PoseTable, Poses, Setup, estimate_noise, find_impacts, read_poses, tangents, unit_warnings,
};
pub use states::{DataError, Labels, Sink, State, Touch};
pub use system::DataSetup;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
