//! Derivatives of flights in uniform gravity.
//!
//! The center of mass moves on its own: $\delta x' = \delta x + \tfrac tm\delta\gamma +
//! \tfrac{t^2}2\delta g$, $\delta\gamma' = \delta\gamma + mt\delta g$. The attitude and its momentum
//! do, too,
//!
//! $$ \zeta' = Z\zeta + W\delta\Pi, \qquad \delta\Pi' = P\delta\Pi, $$
//!
//! with $\delta R = RS(\zeta)$, and $Z = R'^TR$. Both kinds of flight keep $R\Pi$, so that
//! $P = Z + S(\Pi')W$.

use super::Flight;
use crate::{RigidBody, State, VariationalError};
use nalgebra::{Matrix3, Vector3};

/// A flight in uniform gravity that knows its derivative.
pub trait DifferentiableFlight: Flight {
    /// True if a flight equals its parts one after the other, so that the steps of a run
    /// need not be followed one by one.
    fn is_flow(&self) -> bool;

    /// Appends the flight from a state over a time (s) to the derivative of what came before.
    ///
    /// # Errors
    ///
    /// The errors of [`advance`](Flight::advance).
    fn append_to(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
        turning: &mut TurningDerivative,
    ) -> Result<(), VariationalError>;

    /// Derivatives of [`discrete_energy`](Flight::discrete_energy) by the angular momentum (rad/s) and
    /// by the time (W), where there is one.
    ///
    /// # Errors
    ///
    /// The errors of [`advance`](Flight::advance).
    fn discrete_energy_derivative(
        &self,
        _body: &RigidBody,
        _state: &State,
        _time: f64,
    ) -> Result<Option<(Vector3<f64>, f64)>, VariationalError> {
        Ok(None)
    }
}

/// Derivative of attitude and angular momentum along a flight, by those at its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurningDerivative {
    /// $Z = \partial\zeta'/\partial\zeta$, the rotation from the body's axes at the start to those
    /// at the end.
    pub turn: Matrix3<f64>,
    /// $W = \partial\zeta'/\partial\Pi$.
    pub swing: Matrix3<f64>,
    /// $P = \partial\Pi'/\partial\Pi$.
    pub momentum: Matrix3<f64>,
}

impl TurningDerivative {
    /// Derivative of a flight of no length.
    pub fn identity() -> Self {
        Self {
            turn: Matrix3::identity(),
            swing: Matrix3::zeros(),
            momentum: Matrix3::identity(),
        }
    }
}
