//! Motion between impacts.

mod derivative;
mod exact;
mod free;
mod potential;

pub use derivative::{DifferentiableFlight, TurningDerivative};
pub use exact::ExactFlight;
pub use free::FreeFlight;
pub use potential::{Potential, PotentialFlight};

use crate::turning::Turning;
use crate::{RigidBody, State, VariationalError};
use nalgebra::Vector3;
use std::fmt;

/// Velocity of the path $\alpha\mapsto\mathrm{flight}(s, \alpha)$.
///
/// For a discrete flight it differs from the velocities that belong to the momenta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRate {
    /// $\mathrm{d}x/\mathrm{d}\alpha$ in space (m/s).
    pub linear: Vector3<f64>,
    /// $w$ of $\mathrm{d}R/\mathrm{d}\alpha = RS(w)$, in the body (rad/s).
    pub angular: Vector3<f64>,
}

/// A flow between impacts: states as functions of a signed time.
///
/// Implementations promise that `advance(s, -t)` undoes `advance(s, t)` to rounding, that the path
/// $\alpha\mapsto$ `advance(s, α)` has the constant acceleration [`acceleration`](Self::acceleration)
/// of the center of mass, and that [`turning`](Self::turning) bounds its angular rate.
pub trait Flight: fmt::Debug {
    /// The state after a time (s), which may be negative.
    ///
    /// # Errors
    ///
    /// [`VariationalError::StepTooLarge`].
    fn advance(&self, body: &RigidBody, from: &State, time: f64)
    -> Result<State, VariationalError>;

    /// The state after a time and the velocity of the path there.
    ///
    /// # Errors
    ///
    /// The errors of [`advance`](Self::advance).
    fn advance_with_rate(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<(State, PathRate), VariationalError>;

    /// Acceleration of the center of mass along the path from a state (m/s²).
    fn acceleration(&self, body: &RigidBody, from: &State) -> Vector3<f64>;

    /// Bounds on the path's turning from a state within a time (s).
    fn turning(&self, body: &RigidBody, from: &State, time: f64) -> Turning;

    /// True if [`turning`](Self::turning) and [`acceleration`](Self::acceleration) stay the same
    /// between impacts, so that they need not be computed at every step.
    fn is_uniform(&self) -> bool;

    /// Potential energy (J).
    fn potential_energy(&self, body: &RigidBody, state: &State) -> f64;

    /// Discrete energy $-\partial L_d/\partial t$ of a flight over `time` that begins or ends in a
    /// state; `None` if the flight is not one step of a discrete Lagrangian.
    fn discrete_energy(
        &self,
        _body: &RigidBody,
        _state: &State,
        _time: f64,
    ) -> Result<Option<f64>, VariationalError> {
        Ok(None)
    }

    /// The Hamiltonian: kinetic plus potential energy (J).
    fn energy(&self, body: &RigidBody, state: &State) -> f64 {
        body.translational_energy(state)
            + body.rotational_energy(state)
            + self.potential_energy(body, state)
    }
}
