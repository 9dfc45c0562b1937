//! Variational integrators: motion between impacts.
//!
//! A rigid body with configuration $(x, R) \in SE(3)$ flies in a potential. Its motion makes the action
//! stationary; discretizing the *action* instead of the equations of motion gives the variational
//! integrator, which steps by
//!
//! $$ x' = x + \tfrac hm\gamma + \tfrac{h^2}2 g, \quad \gamma' = \gamma + mhg, \quad
//!    (FJ_d - J_dF^T)^\vee = h\Pi, \quad R' = RF, \quad \Pi' = F^T\Pi, $$
//!
//! stays on the group, is symplectic, and conserves the momenta of the symmetries exactly. In uniform gravity it also conserves
//! the energy exactly.
//!
//! Use:
//!
//! 1. Build a [`RigidBody`] from [`MassProperties`](carom_geometry::MassProperties), and a [`State`].
//! 2. Choose a [`Flight`]: [`FreeFlight`] (orders 2, 4, 6), [`ExactFlight`], or [`PotentialFlight`].
//! 3. Call [`advance`](Flight::advance) for the steps of a [`TimeGrid`].
//!
//! For systems in generalized coordinates, [`generalized`] has separate steps. The crate `carom-motion` finds and executes
//! events: first contacts, impacts, lasting contact.
//!
//! # What is guaranteed
//!
//! *Solvable steps.* The equation for $F$ has a solution next to the identity if $h\sqrt{2T/J_1} < 1$ ($T$ the rotational energy,
//! $J_1$ the smallest moment). For rotation about the axis of $J_1$ this condition is necessary. Otherwise Newton's method may
//! fail to find a solution, with [`StepTooLarge`](VariationalError::StepTooLarge). Steps with $h\lvert\Omega\rvert \le 0.3$ are
//! recommended: the phase error per turn is $(h\Omega)^2/6$.
//!
//! # Which flight
//!
//! [`FreeFlight::suzuki4`] costs five times as much as the second-order flight, and is more accurate by four orders of magnitude
//! at the recommended steps. [`ExactFlight`] has no discretization error in uniform gravity.
//!
//! Tran & Leok, *Lie group variational collision integrators for a class of hybrid systems* (2024).
//!
//! # Examples
//!
//! ```
//! use carom_variational::geometry::{Ellipsoid, MassProperties};
//! use carom_variational::lie::So3;
//! use carom_variational::nalgebra::Vector3;
//! use carom_variational::{Flight, FreeFlight, RigidBody, State, TimeGrid};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // An ellipsoid tumbles for two seconds.
//!     let shape = Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros())?;
//!     let body = RigidBody::new(&MassProperties::ellipsoid(&shape, 1.0)?);
//!     let flight = FreeFlight::lgvi(Vector3::new(0.0, 0.0, -9.80665));
//!     let mut state = State {
//!         position: Vector3::new(0.0, 0.0, 10.0),
//!         rotation: So3::identity(),
//!         linear_momentum: Vector3::new(2.0, 2.0, 0.0),
//!         angular_momentum: Vector3::new(4.0, -4.0, 4.0),
//!     };
//!     let energy = flight.energy(&body, &state);
//!     let grid = TimeGrid::duration(0.01, 2.0)?;
//!     for step in 0..grid.n_steps() {
//!         state = flight.advance(&body, &state, grid.length(step))?;
//!     }
//!     assert!((flight.energy(&body, &state) - energy).abs() < 1e-11);
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod body;
mod embedding;
mod error;
mod flight;
pub mod generalized;
mod grid;
mod increment;
pub mod load;
mod prescribed;
mod rates;
pub mod spring;
mod tolerances;
mod turning;

pub use body::{RigidBody, State};
pub use embedding::{EmbeddedState, Motion, TimeEmbedding};
pub use error::VariationalError;
pub use flight::{
    DifferentiableFlight, ExactFlight, Flight, FreeFlight, PathRate, Potential, PotentialFlight,
    TurningDerivative,
};
pub use grid::TimeGrid;
pub use increment::increment;
pub use prescribed::Prescribed;
pub use rates::AxisRates;
pub use turning::Turning;

// Crates whose types appear in signatures of this crate.
pub use carom_geometry as geometry;
pub use carom_lie as lie;
pub use carom_mechanism as mechanism;
pub use carom_metric as metric;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
