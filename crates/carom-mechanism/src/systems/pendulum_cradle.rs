//! Newton's cradle with its strings.

use crate::error::{finite, positive};
use crate::{Derivatives, Dynamics, MechanicalSystem, MechanismError, Motion, PointContact};
use nalgebra::DMatrix;

/// Equal balls on massless rods side by side, which touch if all rods hang straight down.
///
/// Coordinates: the angles from the vertical (rad, counterclockwise), from left to right. Contact
/// `i` is between the balls `i` and `i + 1`; its gap is the distance of their centers minus two
/// radii.
///
/// # Examples
///
/// ```
/// use carom_mechanism::MechanicalSystem;
/// use carom_mechanism::systems::PendulumCradle;
/// let cradle = PendulumCradle::new(3, 1.0, 0.05, 0.2, 9.81)?;
/// assert!(cradle.gap(0, &[0.0; 3]).abs() < 1e-15 && cradle.gap(1, &[0.0; 3]).abs() < 1e-15);
/// // The last ball is lifted by 60 degrees: the gap is the chord less the radii.
/// let q = [0.0, 0.0, std::f64::consts::FRAC_PI_3];
/// let chord = (0.1 + 0.75_f64.sqrt()).hypot(0.5);
/// assert!((cradle.gap(1, &q) - (chord - 0.1)).abs() < 1e-15);
/// # Ok::<(), carom_mechanism::MechanismError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PendulumCradle {
    length: f64,
    radius: f64,
    mass: f64,
    gravity: f64,
    contacts: Vec<PointContact>,
}

impl PendulumCradle {
    /// Creates a cradle of `count` equal balls that hang side by side on massless rods. `length` (m) is the length of a rod,
    /// `radius` (m) and `mass` (kg) are those of a ball, `gravity` is in m/s².
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidParameter`] if there is no ball, a length, radius or mass is not positive, or a number is not
    /// finite.
    pub fn new(
        count: usize,
        length: f64,
        radius: f64,
        mass: f64,
        gravity: f64,
    ) -> Result<Self, MechanismError> {
        positive("number of balls", count as f64)?;
        let name = |i| PointContact::elastic(format!("ball {i}, ball {}", i + 1));
        Ok(Self {
            length: positive("length", length)?,
            radius: positive("radius", radius)?,
            mass: positive("mass", mass)?,
            gravity: finite("gravity", gravity)?,
            contacts: (0..count - 1).map(name).collect(),
        })
    }

    /// Returns the vector from the center of ball `i` to the center of the next ball (m): its horizontal and its vertical
    /// component. `q` contains the angles of the pendulums (rad).
    fn distance(&self, i: usize, q: &[f64]) -> [f64; 2] {
        let [(s, c), (s_next, c_next)] = [libm::sincos(q[i]), libm::sincos(q[i + 1])];
        [
            2.0 * self.radius + self.length * (s_next - s),
            -self.length * (c_next - c),
        ]
    }
}

impl MechanicalSystem for PendulumCradle {
    fn dimension(&self) -> usize {
        self.contacts.len() + 1
    }

    fn mass_matrix(&self, _configuration: &[f64], out: &mut DMatrix<f64>) {
        out.fill_diagonal(self.mass * self.length * self.length);
    }

    fn dynamics(&self, at: &Motion<'_>, _wanted: Derivatives, out: &mut Dynamics) {
        self.mass_matrix(at.configuration, &mut out.mass_matrix);
        let weight = self.mass * self.gravity * self.length;
        for (i, angle) in at.configuration.iter().enumerate() {
            let (sin, cos) = libm::sincos(*angle);
            out.potential -= weight * cos;
            out.potential_gradient[i] = weight * sin;
            out.potential_hessian[(i, i)] = weight * cos;
        }
    }

    fn contacts(&self) -> &[PointContact] {
        &self.contacts
    }

    fn gap(&self, contact: usize, q: &[f64]) -> f64 {
        let [x, y] = self.distance(contact, q);
        libm::hypot(x, y) - 2.0 * self.radius
    }

    fn gap_gradient(&self, contact: usize, q: &[f64], out: &mut [f64]) {
        let [x, y] = self.distance(contact, q);
        let scale = self.length / libm::hypot(x, y);
        let along = |angle: f64| scale * (x * libm::cos(angle) + y * libm::sin(angle));
        out.fill(0.0);
        out[contact] = -along(q[contact]);
        out[contact + 1] = along(q[contact + 1]);
    }

    /// Computes the second derivatives of the gap between two balls with respect to the angles $q_k$ of their pendulums:
    /// $(d_\perp\cdot u_k)(d_\perp\cdot u_l)/\lvert D\rvert + d\cdot\partial^2D/\partial q_k\partial q_l$. $D$ is the vector
    /// between the centers, $d$ its unit direction, $d_\perp$ the unit vector normal to $d$, and $u_k = \partial D/\partial q_k$.
    fn contact_hessians(
        &self,
        contact: usize,
        q: &[f64],
        gap: &mut DMatrix<f64>,
        _slide: &mut DMatrix<f64>,
    ) -> bool {
        let [x, y] = self.distance(contact, q);
        let distance = libm::hypot(x, y);
        let (x, y) = (x / distance, y / distance);
        let moves = [(contact, -self.length), (contact + 1, self.length)].map(|(i, arm)| {
            let (sin, cos) = libm::sincos(q[i]);
            gap[(i, i)] = arm * (y * cos - x * sin);
            (i, arm * (x * sin - y * cos))
        });
        for (i, a) in moves {
            for (k, b) in moves {
                gap[(i, k)] += a * b / distance;
            }
        }
        true
    }
}
