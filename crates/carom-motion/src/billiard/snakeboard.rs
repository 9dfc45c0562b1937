//! Snakeboard at the moment its nose hits a wall.
//!
//! Coordinates $(x, y, \theta, \psi, \phi)$: board center, board angle, rotor angle, wheel angle (front wheels at $\phi$, back
//! wheels at $-\phi$). Parameters: board mass m and moment of inertia J, rotor inertia $J_0$, inertia $J_1$ of each pair of
//! wheels, wheels at the distances $\pm r$ from the center. The free motion has no closed form, and the impact does not need it.

use crate::billiard::BilliardError;
use crate::billiard::error::{finite, positive};
use crate::billiard::system::AtImpact;
use carom_contact::Contact;
use carom_metric::{Covector, Tangent};
use nalgebra::{DMatrix, Vector2};

/// A snakeboard whose nose can hit a wall: a board with a rotor at its center, and two pairs of wheels that are steered by
/// opposite angles.
///
/// # Examples
///
/// ```
/// use carom_impact::NonholonomicElastic;
/// use carom_metric::Tangent;
/// use carom_motion::billiard::snakeboard::Snakeboard;
/// use nalgebra::Vector2;
/// let board = Snakeboard::new(1.0, 0.05, 0.02, 0.001, 0.3, 0.4)?;
/// // It rolls straight into a wall, with its wheels straight and its rotor turning.
/// let velocity = Tangent::from_slice(&[1.0, 0.0, 0.0, 2.0, 0.0]);
/// let impact = board.at_impact(0.0, 0.0, Vector2::x(), velocity)?;
/// let outcome = impact.resolve(&NonholonomicElastic::default())?;
/// assert!(outcome.audit.energy_change_j().abs() < 1e-14);
/// assert!((outcome.velocity_plus.0[0] + 1.0).abs() < 1e-14);
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snakeboard {
    mass: f64,
    inertia: f64,
    rotor_inertia: f64,
    wheel_inertia: f64,
    wheel_distance: f64,
    nose_distance: f64,
}

impl Snakeboard {
    /// Creates a snakeboard: `mass` (kg); moments of inertia of the board (`inertia`), of the rotor and of one pair of wheels
    /// (kg m²); distances of the wheels and of the nose from the center of the board (m).
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`].
    pub fn new(
        mass: f64,
        inertia: f64,
        rotor_inertia: f64,
        wheel_inertia: f64,
        wheel_distance: f64,
        nose_distance: f64,
    ) -> Result<Self, BilliardError> {
        positive(&[
            ("mass", mass),
            ("inertia", inertia),
            ("rotor_inertia", rotor_inertia),
            ("wheel_inertia", wheel_inertia),
            ("wheel_distance", wheel_distance),
            ("nose_distance", nose_distance),
        ])?;
        Ok(Self {
            mass,
            inertia,
            rotor_inertia,
            wheel_inertia,
            wheel_distance,
            nose_distance,
        })
    }

    /// Returns the impact problem of the snakeboard's nose at a wall with the outward unit normal `wall`. `theta` is the
    /// angle of the board, `phi` the steering angle of the wheels (rad). `velocity` is the velocity before the impact, one
    /// entry for each of the coordinates: position (2), board angle, rotor angle, steering angle.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NonFinite`].
    pub fn at_impact(
        &self,
        theta: f64,
        phi: f64,
        wall: Vector2<f64>,
        velocity: Tangent,
    ) -> Result<AtImpact, BilliardError> {
        finite(&[
            ("theta", theta),
            ("phi", phi),
            ("wall normal", wall.x),
            ("wall normal", wall.y),
        ])?;
        let (m, j0, j1) = (self.mass, self.rotor_inertia, self.wheel_inertia);
        let board = self.inertia + j0 + 2.0 * j1;
        let wheels = |angle: f64, side: f64| {
            let lever = side * self.wheel_distance * libm::cos(phi);
            Covector::from_slice(&[-libm::sin(angle), libm::cos(angle), lever, 0.0, 0.0])
        };
        let turn = self.nose_distance * (-wall.x * libm::sin(theta) + wall.y * libm::cos(theta));
        Ok(AtImpact {
            mass: DMatrix::from_row_slice(
                5,
                5,
                &[
                    m,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    m,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    board,
                    j0,
                    0.0,
                    0.0,
                    0.0,
                    j0,
                    j0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    0.0,
                    2.0 * j1,
                ],
            ),
            forms: vec![wheels(theta + phi, 1.0), wheels(theta - phi, -1.0)],
            contact: Contact::frictionless(Covector::from_slice(&[
                -wall.x, -wall.y, -turn, 0.0, 0.0,
            ])),
            velocity,
        })
    }
}
