//! The variational collision integrator in generalized coordinates.
//!
//! Any [`MechanicalSystem`](carom_mechanism::MechanicalSystem) moves by the discrete
//! Euler-Lagrange equations of the midpoint rule, solved for the mean velocity
//! $w = (q_1 - q_0)/h$ with an analytic Jacobian,
//!
//! $$ p_0 + \tfrac h2\left(\frac{\partial T}{\partial q} - \frac{\partial V}{\partial q} + f\right) -
//!    M(\bar q)w + \sum_i\lambda_i\mathrm{D}\phi_i(q_0) = 0, \qquad
//!    \bar q = q_0 + \tfrac h2w. $$
//!
//! When contacts close, within one step or several of them at once, the step ends, an
//! [`ImpactLaw`](carom_contact::ImpactLaw) maps the discrete momentum $p^-$ to $p^+$ in the kinetic
//! metric of that configuration, and the motion goes on from there. Contacts that touch without
//! approaching last: their gaps are held by multipliers that push, with Coulomb friction in the
//! plane, until they would have to pull.
//!
//! 1. a system, a law and a [`CollisionIntegrator`];
//! 2. a [`State`] from a configuration and a velocity, and a [`TimeGrid`](carom_variational::TimeGrid);
//! 3. [`run`](CollisionIntegrator::run) reports every [`Event`], and a [`Trajectory`] keeps them.
//!
//! # What is guaranteed
//!
//! - Second order in the step for states and times of events; exact for a constant mass matrix and
//!   uniform forces.
//! - The momentum of a coordinate that nothing depends on is constant in flight to the last bit.
//! - A time of impact is bracketed on the discrete path and refined to its last digits. Contacts that
//!   begin and end within a step are found by the estimates of an interpolated path, not by a proof: a
//!   general system does not bound its second derivatives.
//! - A run never loses what it has computed: what stops it is its [`Ending`](crate::hybrid::Ending), with the time.
//!
//! # Departure from the source
//!
//! Seghete & Murphey make a contact last after its third fast impact. Here that happens only where
//! impacts lose energy: elastic ones do not accumulate, and a light ball between a wall and a heavy
//! one hits fast and often without losing any. Where joints dissipate between elastic impacts, as in
//! the paper's robot, [`elastic_hits_accumulate`](IntegratorOptions::elastic_hits_accumulate)
//! restores the paper's rule.
//!
//! Seghete & Murphey, *A propagative model of simultaneous impact*, Sec. VI.

mod carried;
mod error;
mod event;
mod flight;
mod hits;
mod impact;
mod locate;
mod modes;
mod options;
mod path;
mod projection;
mod run;
mod sensitivity;
mod trajectory;

pub use carom_variational::generalized::ContactMode;
pub use carried::ForceParameter;
pub use error::IntegratorError;
pub use event::{Balance, Event, Grid, Impact, Reaction, State};
pub use options::IntegratorOptions;
pub use run::{CollisionIntegrator, RunEnd};
pub use trajectory::{LogEntry, Trajectory};
