//! Motion through impacts.
//!
//! Between impacts a system flows or makes time steps. At an impact, an impact law gives the velocities after it. A contact that
//! is pressed together becomes a lasting contact. All systems use one driver, [`hybrid`], which defines the ends of a run and the
//! events that it reports:
//!
//! | module | systems | impact laws and contacts |
//! | --- | --- | --- |
//! | [`flying`] | one rigid body above a plane | Newton's restitution, the discrete energy |
//! | [`generalized`] | mechanisms | any law, lasting contact with friction in the plane |
//! | [`billiard`] | nonholonomic systems, in particular the rolling penny | any law with constraints |
//! | [`hybrid`] | systems defined by the caller | |
//! | [`ball`] | two balls, or a ball and a plane, in free flight | first contact in closed form |
//!
//! `carom-impact` provides the impact laws, and [`carom_variational`] the motion between impacts. First contacts and impacts of
//! billiards are isolated with a guarantee. Worlds of several rigid bodies are in `carom-world`.
//!
//! # Examples
//!
//! A penny that rolls inside an elliptic wall:
//!
//! ```
//! use carom_motion::billiard::penny::{PennyBilliard, PennyState, RollingPenny};
//! use carom_motion::billiard::{BilliardError, Ellipse};
//! use carom_motion::hybrid::Limits;
//! use carom_motion::impact::Restitution;
//!
//! fn main() -> Result<(), BilliardError> {
//!     let penny = RollingPenny::thin_disk(0.01, 0.0025)?;
//!     let start = PennyState { theta_dot: 10.0, phi_dot: 0.2, ..PennyState::default() };
//!     let billiard = PennyBilliard::new(penny, Ellipse::new(0.15, 0.20)?, Restitution::Elastic)?;
//!     let run = billiard.run(start, Limits::impacts(8))?;
//!     assert_eq!(run.events.len(), 8);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod ball;
pub mod billiard;
pub mod flying;
pub mod generalized;
pub mod hybrid;
mod tolerances;

pub use carom_derivative::sensitivity;
pub use carom_geometry as geometry;
pub use carom_impact as impact;
pub use carom_lie as lie;
pub use carom_mechanism as mechanism;
pub use carom_metric as metric;
pub use carom_variational as variational;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
