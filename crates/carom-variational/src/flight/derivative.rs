//! Derivatives of flights in uniform gravity.
//!
//! With the duration $t$ and a prime for the end of the flight, the center of mass is independent of the attitude: $\delta x' =
//! \delta x + \tfrac tm\delta\gamma + \tfrac{t^2}2\delta g$, $\delta\gamma' = \delta\gamma + mt\delta g$. Attitude and angular
//! momentum are independent of the center of mass,
//!
//! $$ \zeta' = Z\zeta + W\delta\Pi, \qquad \delta\Pi' = P\delta\Pi, $$
//!
//! with $\delta R = RS(\zeta)$, and $Z = R'^TR$. Both kinds of flight conserve $R\Pi$, so that $P = Z + S(\Pi')W$.

use super::Flight;
use crate::{RigidBody, State, VariationalError};
use nalgebra::{Matrix3, Vector3};

/// Motion of a rigid body between impacts in uniform gravity whose derivatives are known. An implementation computes the
/// derivative of the state at the end of a flight with respect to the state at its start.
pub trait DifferentiableFlight: Flight {
    /// True if two consecutive flights of this kind equal one flight of their total duration. A caller that computes derivatives
    /// can then replace consecutive flights by one.
    fn is_flow(&self) -> bool;

    /// Updates the derivative `turning` for one more flight, of the duration `time` (s) from the state `from`, which is the end
    /// of earlier flights. On entry, `turning` is the derivative of attitude and angular momentum in the state `from` with
    /// respect to attitude and angular momentum at the start of the first flight. On return, `turning` is that derivative at the
    /// end of the new flight.
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

    /// Returns two derivatives of the [`discrete_energy`](Flight::discrete_energy): with respect to the angular momentum (rad/s),
    /// and with respect to the duration of the flight (W). Returns `None` if this kind of flight has no discrete energy.
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

/// Derivative of attitude and angular momentum at the end of a flight (the motion between impacts) with respect to those at its
/// start. A change of attitude is a small rotation vector $\zeta$ (rad) in body axes; a change of angular momentum is denoted by
/// $\Pi$ and is in body axes, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurningDerivative {
    /// $Z = \partial\zeta'/\partial\zeta$, the rotation from the body axes at the start to those at the end.
    pub turn: Matrix3<f64>,
    /// $W = \partial\zeta'/\partial\Pi$.
    pub swing: Matrix3<f64>,
    /// $P = \partial\Pi'/\partial\Pi$.
    pub momentum: Matrix3<f64>,
}

impl TurningDerivative {
    /// Returns the derivative of a flight of zero duration: attitude and angular momentum do not change, so that `turn` and
    /// `momentum` are identity matrices and `swing` is zero.
    pub fn identity() -> Self {
        Self {
            turn: Matrix3::identity(),
            swing: Matrix3::zeros(),
            momentum: Matrix3::identity(),
        }
    }
}
