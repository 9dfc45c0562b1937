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
//! When one or several contacts close within a step, the step ends there. An
//! [`ImpactLaw`](carom_contact::ImpactLaw) maps the discrete momentum $p^-$ to $p^+$ in the kinetic
//! metric of that configuration, and the motion continues from there. Contacts that touch without
//! approaching become lasting contacts. Multipliers $\lambda_i \ge 0$ keep their gaps closed, with Coulomb friction in the
//! plane, and a contact is released when its multiplier would become negative.
//!
//! Use:
//!
//! 1. Build a system, an impact law and a [`CollisionIntegrator`].
//! 2. Build a [`State`] from a configuration and a velocity, and a [`TimeGrid`](carom_variational::TimeGrid).
//! 3. [`run`](CollisionIntegrator::run) reports every [`Event`]; a [`Trajectory`] stores them.
//!
//! # What is guaranteed
//!
//! - Second order in the step for states and times of events; exact for a constant mass matrix and
//!   uniform forces.
//! - The momentum of a coordinate on which neither the Lagrangian nor a force depends is constant in flight to the last bit.
//! - A time of impact is bracketed on the discrete path and refined to its last digits. Contacts that begin and end within a step
//!   are found from estimates on an interpolated path. This is not proven to find all of them, because a general system has no
//!   bound of its second derivatives.
//! - An error during a run does not discard the results so far: it is reported as the [`Ending`](crate::hybrid::Ending) of the
//!   run, with its time.
//!
//! # Departure from the source
//!
//! In Seghete & Murphey a contact becomes lasting after its third fast impact. Here that happens only if
//! the impacts lose energy. Elastic impacts do not accumulate: a light ball between a wall and a heavy
//! ball hits fast and often without losing energy. If joints dissipate energy between elastic impacts, as in
//! the paper's robot, [`elastic_hits_accumulate`](IntegratorOptions::elastic_hits_accumulate)
//! restores the paper's rule.
//!
//! Seghete & Murphey, *A propagative model of simultaneous impact*, Sec. VI.

mod carried;
mod clock;
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
