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

/// Linear and angular velocity along a flight, as the derivative of the state $\mathrm{flight}(s, \alpha)$ with respect to the
/// time $\alpha$ since the initial state $s$.
///
/// For a discrete flight it differs from the velocity that belongs to the momenta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRate {
    /// Linear velocity $\mathrm{d}x/\mathrm{d}\alpha$, in world axes (m/s).
    pub linear: Vector3<f64>,
    /// Angular velocity $w$ with $\mathrm{d}R/\mathrm{d}\alpha = RS(w)$, in body axes (rad/s).
    pub angular: Vector3<f64>,
}

/// Motion of a rigid body between impacts: the state after a signed time, computed exactly or by a discrete integrator.
///
/// Implementations promise that `advance(s, -t)` undoes `advance(s, t)` to rounding error, that the center of mass has the
/// constant acceleration [`acceleration`](Self::acceleration) along the path $\alpha\mapsto$ `advance(s, α)`, and that
/// [`turning`](Self::turning) bounds the angular rate of the path.
pub trait Flight: fmt::Debug {
    /// Returns the state of a body after a flight from the state `from`. The duration `time` (s) may be negative.
    ///
    /// # Errors
    ///
    /// [`VariationalError::StepTooLarge`].
    fn advance(&self, body: &RigidBody, from: &State, time: f64)
    -> Result<State, VariationalError>;

    /// Returns the state of a body after a flight of the duration `time` (s) from the state `from`, and the linear and angular
    /// velocity of the path there.
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

    /// Returns the acceleration of the center of mass along the flight from the state `from` (m/s²).
    fn acceleration(&self, body: &RigidBody, from: &State) -> Vector3<f64>;

    /// Returns upper bounds of the angular rate and its derivative along a flight of the duration `time` (s) from the state
    /// `from`.
    fn turning(&self, body: &RigidBody, from: &State, time: f64) -> Turning;

    /// True if [`turning`](Self::turning) and [`acceleration`](Self::acceleration) do not change between impacts, so that they
    /// need not be computed at every step.
    fn is_uniform(&self) -> bool;

    /// Returns the potential energy of the body in a state (J).
    fn potential_energy(&self, body: &RigidBody, state: &State) -> f64;

    /// Returns the discrete energy $-\partial L_d/\partial t$ (J) of a flight of the duration $t$ (`_time`, s) that begins or
    /// ends in a state. Here $L_d$ is the discrete Lagrangian, of which the flight is one step. Returns `None`, the default, if
    /// the flight is not such a step.
    fn discrete_energy(
        &self,
        _body: &RigidBody,
        _state: &State,
        _time: f64,
    ) -> Result<Option<f64>, VariationalError> {
        Ok(None)
    }

    /// Returns the energy of the body in a state (J), the Hamiltonian: kinetic plus potential energy.
    fn energy(&self, body: &RigidBody, state: &State) -> f64 {
        body.translational_energy(state)
            + body.rotational_energy(state)
            + self.potential_energy(body, state)
    }
}
