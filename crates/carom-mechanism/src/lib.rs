//! Mechanical systems in generalized coordinates.
//!
//! A system with the configuration $q \in \mathbb{R}^n$ is described by its Lagrangian, its forces and the gaps of its contacts,
//!
//! $$ L(q, v) = T - V = \tfrac12 v^TM(q)v - V(q), \qquad f(q, v, t), \qquad \phi_i(q) \ge 0. $$
//!
//! [`MechanicalSystem`] provides these and their derivatives. An implicit step solved with the exact Jacobian needs two or three
//! iterations, whereas finite differences need many more evaluations and lose half of the digits. With $B =
//! \partial(M(q)v)/\partial q$ at a fixed velocity, the derivatives of $M$ in the equations of motion are
//!
//! $$ \frac{\partial T}{\partial q} = \tfrac12B^Tv, \qquad
//!    \frac{\partial^2T}{\partial q \partial v} = B^T, \qquad
//!    \frac{\partial^2T}{\partial q^2}, $$
//!
//! so a system computes $M$, $B$ and the last matrix, and never a third-order tensor.
//!
//! | type | meaning |
//! | --- | --- |
//! | [`MechanicalSystem`] | trait that a mechanism implements |
//! | [`Dynamics`] | buffers that one evaluation fills, without allocating |
//! | [`PointContact`] | name, friction and restitution of a contact |
//! | [`Constrained`], [`VelocityConstraint`] | linear constraints on velocities, such as rolling |
//! | [`formulas`] | systems given by formulas |
//! | [`planar`] | planar trees of rigid links, built from a description |
//! | [`design`] | lengths and stances for which an impact has one outcome |
//! | [`systems`] | small hand-written systems, ready to use and as examples |
//!
//! This crate contains no time steps and no impacts: integrators accept any system.
//!
//! # Examples
//!
//! ```
//! use carom_mechanism::planar::{Inertia, Line, LineContact, Link, PlanarBuilder};
//! use carom_mechanism::{MechanicalSystem, MechanismError};
//!
//! fn main() -> Result<(), MechanismError> {
//!     // A rod of 1 kg and 1 m hangs from a hinge; its tip may touch a wall half a meter away.
//!     let mut builder = PlanarBuilder::new([0.0, -9.81]);
//!     let down = -std::f64::consts::FRAC_PI_2;
//!     let rod = builder.hinge(Link::GROUND, [0.0, 0.0], down);
//!     builder.body(rod, Inertia::rod(1.0, [0.0, 0.0], [1.0, 0.0]));
//!     let wall = Line::new([0.5, 0.0], [-1.0, 0.0])?;
//!     builder.contact(rod, LineContact::point("tip", [1.0, 0.0], wall));
//!     let pendulum = builder.build()?;
//!     assert!((pendulum.gap(0, &[0.0]) - 0.5).abs() < 1e-15);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod constraints;
mod contact;
pub mod design;
mod dynamics;
mod error;
pub mod formulas;
pub mod planar;
mod system;
pub mod systems;

pub use constraints::{Constrained, VelocityConstraint};
pub use contact::PointContact;
pub use dynamics::{Derivatives, Dynamics};
pub use error::{DesignError, MechanismError};
pub use system::{MechanicalSystem, Motion};

// Crates whose types appear in signatures of this crate.
pub use carom_metric as metric;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
