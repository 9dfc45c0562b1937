//! A pendulum against a wall.

use crate::error::{finite, positive};
use crate::{Derivatives, Dynamics, MechanicalSystem, MechanismError, Motion, PointContact};
use nalgebra::DMatrix;

/// Mass on a massless rod that swings against a wall.
///
/// The coordinate $\theta$ is the angle from the vertical (rad, counterclockwise). The contact is the wall, which the pendulum
/// touches at the wall angle $\theta_w$. The pendulum swings on the side of larger angles, and the gap is $\theta - \theta_w$
/// (rad).
///
/// # Examples
///
/// Small swings have the squared angular frequency $g/l$:
///
/// ```
/// use carom_mechanism::systems::Pendulum;
/// use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion};
/// let pendulum = Pendulum::new(2.0, 1.5, 9.81, 0.0)?;
/// let mut dynamics = Dynamics::new(1);
/// let at = Motion { time: 0.0, configuration: &[0.0], velocity: &[0.0] };
/// pendulum.dynamics(&at, Derivatives::Second, &mut dynamics);
/// let square = dynamics.potential_hessian[(0, 0)] / dynamics.mass_matrix[(0, 0)];
/// assert!((square - 9.81 / 2.0).abs() < 1e-14);
/// # Ok::<(), carom_mechanism::MechanismError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pendulum {
    length: f64,
    mass: f64,
    gravity: f64,
    wall: f64,
    contacts: [PointContact; 1],
}

impl Pendulum {
    /// Creates a pendulum that swings against a wall, with its length (m), mass (kg), gravity (m/s²) and the angle of the wall
    /// from the vertical (rad).
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidParameter`] if length or mass is not positive or a number is not finite.
    pub fn new(length: f64, mass: f64, gravity: f64, wall: f64) -> Result<Self, MechanismError> {
        Ok(Self {
            length: positive("length", length)?,
            mass: positive("mass", mass)?,
            gravity: finite("gravity", gravity)?,
            wall: finite("wall angle", wall)?,
            contacts: [PointContact::elastic("wall")],
        })
    }
}

impl MechanicalSystem for Pendulum {
    fn dimension(&self) -> usize {
        1
    }

    fn mass_matrix(&self, _configuration: &[f64], out: &mut DMatrix<f64>) {
        out[(0, 0)] = self.mass * self.length * self.length;
    }

    fn dynamics(&self, at: &Motion<'_>, _wanted: Derivatives, out: &mut Dynamics) {
        self.mass_matrix(at.configuration, &mut out.mass_matrix);
        let (sin, cos) = libm::sincos(at.configuration[0]);
        let weight = self.mass * self.gravity * self.length;
        out.potential = -weight * cos;
        out.potential_gradient[0] = weight * sin;
        out.potential_hessian[(0, 0)] = weight * cos;
    }

    fn contacts(&self) -> &[PointContact] {
        &self.contacts
    }

    fn gap(&self, _contact: usize, q: &[f64]) -> f64 {
        q[0] - self.wall
    }

    fn gap_gradient(&self, _contact: usize, _q: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
    }

    /// Returns true and leaves the matrices zero: the gap is linear, so that its second derivative is zero.
    fn contact_hessians(
        &self,
        _contact: usize,
        _q: &[f64],
        _gap: &mut DMatrix<f64>,
        _slide: &mut DMatrix<f64>,
    ) -> bool {
        true
    }
}
