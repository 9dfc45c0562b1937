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

/// Linear and angular velocity of the path of a flight: the derivatives of position and attitude with respect to the time
/// $\alpha$ since the initial state.
///
/// For a discrete integrator these velocities differ from those that belong to the momenta of the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRate {
    /// Linear velocity $\mathrm{d}x/\mathrm{d}\alpha$, in world axes (m/s).
    pub linear: Vector3<f64>,
    /// Angular velocity $w$ with $\mathrm{d}R/\mathrm{d}\alpha = RS(w)$, in body axes (rad/s).
    pub angular: Vector3<f64>,
}

/// Returns an error if the acceleration of gravity is not finite.
#[inline]
fn check_gravity(gravity: &Vector3<f64>) -> Result<(), VariationalError> {
    if gravity.iter().all(|g| g.is_finite()) {
        Ok(())
    } else {
        Err(VariationalError::NonFinite { what: "gravity" })
    }
}

/// Motion of a rigid body between impacts. An implementation computes the state after a signed time, exactly or by a discrete
/// integrator.
///
/// Every implementation must satisfy three conditions. `advance(s, -t)` reverses `advance(s, t)` to rounding error. The center of
/// mass has the constant acceleration [`acceleration`](Self::acceleration) along the path $\alpha\mapsto$ `advance(s, α)`. The
/// angular rate of the path is at most the bound returned by [`turning`](Self::turning).
pub trait Flight: fmt::Debug {
    /// Returns the state of a body after a flight from the state `from`. The duration `time` (s) may be negative.
    ///
    /// # Errors
    ///
    /// [`VariationalError::StepTooLarge`].
    fn advance(&self, body: &RigidBody, from: &State, time: f64)
    -> Result<State, VariationalError>;

    /// Returns the state of a body after a flight of the duration `time` (s) from the state `from`, and the linear and angular
    /// velocity of the path at the end of the flight.
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

    /// Returns the constant acceleration (m/s², world axes) of the center of mass along the flight from the state `from`.
    fn acceleration(&self, body: &RigidBody, from: &State) -> Vector3<f64>;

    /// Returns upper bounds of the angular rate and its time derivative along a flight of the duration `time` (s) from the state
    /// `from`.
    fn turning(&self, body: &RigidBody, from: &State, time: f64) -> Turning;

    /// True if the results of [`turning`](Self::turning) and [`acceleration`](Self::acceleration) do not change between impacts.
    /// A caller then need not compute them again at every step.
    fn is_uniform(&self) -> bool;

    /// Returns the potential energy of the body in a state (J).
    fn potential_energy(&self, body: &RigidBody, state: &State) -> f64;

    /// Returns the discrete energy $-\partial L_d/\partial t$ (J) of a flight of the duration $t$ (`_time`, s) that begins or
    /// ends in a state. $L_d$ is the discrete Lagrangian of the integrator; the flight must be one of its steps. Returns `None`,
    /// the default, if the flight is not such a step.
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
