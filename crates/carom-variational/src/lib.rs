//! Motion between impacts, and the impacts on its way.
//!
//! A rigid body with configuration $(x, R) \in SE(3)$ flies in a potential above a half space. Its
//! motion makes the action stationary; where it touches, $\Phi(x, R) = 0$, the action is stationary
//! also in the time and place of contact, which gives the Weierstrass-Erdmann conditions: the
//! momenta jump along $\mathrm{d}\Phi = (n, \chi)$ only, and the energy does not,
//!
//! $$ \gamma^+ = \gamma^- + \lambda n, \quad \Pi^+ = \Pi^- + \lambda\chi, \quad
//!    \lambda = -\frac{2u}{\kappa}, \quad u = \dot\Phi^-, \quad
//!    \kappa = \frac1m + \chi\cdot J^{-1}\chi. $$
//!
//! Discretizing the *action* instead of the equations of motion gives the variational integrator.
//! Between impacts it steps by
//!
//! $$ x' = x + \tfrac hm\gamma + \tfrac{h^2}2 g, \quad \gamma' = \gamma + mhg, \quad
//!    (FJ_d - J_dF^T)^\vee = h\Pi, \quad R' = RF, \quad \Pi' = F^T\Pi, $$
//!
//! without leaving the group, symplectic, with the exact momentum laws of its symmetries. In uniform
//! gravity it also keeps the energy exactly, and so does the jump: over any number of impacts the
//! energy error is rounding.
//!
//! 1. a [`RigidBody`] from [`MassProperties`](carom_geometry::MassProperties), a shape, and a
//!    [`HalfSpace`](carom_geometry::HalfSpace);
//! 2. a [`Flight`]: [`FreeFlight`] (orders 2, 4, 6), [`ExactFlight`], or [`PotentialFlight`];
//! 3. a [`Collider`] runs them with an [`ImpactRule`] and reports grid points and [`Impact`]s, and a
//!    [`Trajectory`] keeps them.
//!
//! # What is guaranteed
//!
//! - *No tunneling.* The first contact of the discrete path is isolated by bounds on its second
//!   derivative, for one extra support evaluation in most steps; at the end of a step nothing lies
//!   below the plane by more than 64 units of rounding, and nothing did on the way.
//! - *Solvable steps.* The equation for $F$ has a solution next to the identity if
//!   $h\sqrt{2T/J_1} < 1$ ($T$ the rotational energy, $J_1$ the smallest moment), and about the
//!   axis of $J_1$ only then. Otherwise Newton's method decides, and
//!   [`StepTooLarge`](VariationalError::StepTooLarge) says so. Steps with $h\lvert\Omega\rvert \le 0.3$
//!   are recommended: the phase error per turn is $(h\Omega)^2/6$.
//! - *Several impacts in a step* are found one after the other; vertices that touch together are
//!   resolved together by Moreau's rule.
//!
//! # Which flight
//!
//! The second-order flight's phase error is amplified some fivefold by every impact, so with the
//! paper's step of 0.01 s only the first two or three impacts are accurate. [`FreeFlight::suzuki4`]
//! costs five times as much and gains four orders of magnitude there; [`ExactFlight`] has no step
//! error at all in uniform gravity.
//!
//! Systems in generalized coordinates have an integrator of their own, [`generalized`].
//!
//! Tran & Leok, *Lie group variational collision integrators for a class of hybrid systems* (2024).

mod body;
mod embedding;
mod error;
mod flight;
pub mod generalized;
mod increment;
mod jump;
mod rates;
mod run;
mod search;
pub mod sensitivity;
mod trajectory;
mod turning;
mod zeno;

pub use body::{RigidBody, State};
pub use embedding::{EmbeddedState, Motion, TimeEmbedding};
pub use error::VariationalError;
pub use flight::{
    DifferentiableFlight, ExactFlight, Flight, FreeFlight, PathRate, Potential, PotentialFlight,
    TurningDerivative,
};
pub use increment::increment;
pub use jump::{Impact, ImpactPoint, ImpactRule};
pub use rates::AxisRates;
pub use run::{Collider, ColliderOptions, Event, OnZeno, RunEnd, RunStatus, TimeGrid};
pub use search::{ContactSearch, patience};
pub use trajectory::Trajectory;
pub use turning::Turning;

// Crates whose types stand in signatures here.
pub use carom_geometry as geometry;
pub use carom_impact as impact;
pub use carom_lie as lie;
pub use carom_mechanism as mechanism;
pub use carom_metric as metric;
pub use nalgebra;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
