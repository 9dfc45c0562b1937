//! One rigid body that flies above a plane and hits it.
//!
//! A rigid body with configuration $(x, R) \in SE(3)$ flies in a potential above a half space. Its
//! motion makes the action stationary; where it touches, $\Phi(x, R) = 0$, the action is stationary
//! also in the time and place of contact. This gives the Weierstrass-Erdmann conditions: the
//! momenta change along $\mathrm{d}\Phi = (n, \chi)$ only, and the energy does not change,
//!
//! $$ \gamma^+ = \gamma^- + \lambda n, \quad \Pi^+ = \Pi^- + \lambda\chi, \quad
//!    \lambda = -\frac{2u}{\kappa}, \quad u = \dot\Phi^-, \quad
//!    \kappa = \frac1m + \chi\cdot J^{-1}\chi. $$
//!
//! Here $n$ is the normal of the plane, $\chi$ the moment of a unit normal force at the contact point about the center of mass,
//! in body axes, $\gamma$ and $\Pi$ are linear and angular momentum, $u$ is the gap rate and $\kappa$ the inverse effective mass.
//! With the flights of [`carom_variational`] the energy error over any number of impacts is rounding error.
//!
//! Use:
//!
//! 1. Build a [`RigidBody`](carom_variational::RigidBody), a shape, and a
//!    [`HalfSpace`](carom_geometry::HalfSpace).
//! 2. Choose a [`Flight`](carom_variational::Flight).
//! 3. A [`Collider`] with an [`ImpactRule`] runs the motion and reports grid points and [`Impact`]s; a
//!    [`Trajectory`] stores them.
//!
//! # What is guaranteed
//!
//! - *No tunneling.* The first contact of the discrete path is isolated by bounds on its second derivative, for one extra support
//!   evaluation in most steps. During a step and at its end, no part of the body lies below the plane by more than 64 units of
//!   rounding, with two exceptions. A graze that takes more than 512 evaluations to decide may be $10^{-9}$ of the body's size
//!   deep, and four times deeper after every 512 more. A step in which a stage could turn the body by more than 77° has no
//!   bounds, and is sampled at 4096 times.
//! - *Several impacts in a step* are found one after the other. Vertices that touch together are
//!   resolved together by Moreau's rule.
//!
//! The second-order flight's phase error is amplified some fivefold by every impact, so with the paper's
//! step of 0.01 s only the first two or three impacts are accurate.
//! [`FreeFlight::suzuki4`](carom_variational::FreeFlight::suzuki4) gains four orders of magnitude there.
//!
//! Tran & Leok, *Lie group variational collision integrators for a class of hybrid systems* (2024).

mod error;
mod jump;
mod run;
pub(crate) mod search;
pub mod sensitivity;
mod trajectory;
mod zeno;

pub use error::CollisionError;
pub use jump::{Impact, ImpactPoint, ImpactRule};
pub use run::{Collider, ColliderOptions, Event, Grid, RunEnd};
pub use search::ContactSearch;
pub use trajectory::Trajectory;
