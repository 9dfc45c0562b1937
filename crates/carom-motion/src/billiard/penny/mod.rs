//! The rolling penny: a vertical disk that rolls on a plane without slipping.
//!
//! The coordinates are the contact point $(x, y)$, the rolling angle $\theta$ and the heading $\varphi$. The constraints
//! $\dot x = R\dot\theta\cos\varphi$, $\dot y = R\dot\theta\sin\varphi$ leave two velocities,
//! $\Omega = \dot\theta$ and $\omega = \dot\varphi$, with the metric
//! $\mathrm{diag}(I + mR^2, J)$. Both are constant between impacts, so the disk rolls along a
//! circle. The front rim $(x, y) + Rt$ and the back rim $(x, y) - Rt$, with
//! $t = (\cos\varphi, \sin\varphi)$, hit a wall.
//!
//! Clark & Bloch, *The bouncing penny and nonholonomic impacts*, Eqs. (22)-(33).

mod arrival;
mod flow;
mod law;
mod orbit;
mod run;
mod sensitivity;
mod setup;
mod shared_circle;

pub use law::PennyImpact;
pub use orbit::Event;
pub use run::Run;
pub use sensitivity::{Lyapunov, SectionPoint, flow_jacobian};
pub use setup::PennyBilliard;

use crate::billiard::BilliardError;
use crate::billiard::error::{finite, positive};
use nalgebra::Vector2;

/// One of the two rim points of a penny (a rolling disk) that can hit a wall: the ends of its horizontal diameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rim {
    /// The rim point ahead of the center, in the direction of the heading.
    Front,
    /// The rim point behind the center, opposite to the heading.
    Back,
}

impl Rim {
    /// Returns the sign $\sigma$ of this rim point: 1 for the front, −1 for the back.
    #[inline]
    pub fn sign(self) -> f64 {
        match self {
            Self::Front => 1.0,
            Self::Back => -1.0,
        }
    }

    /// Returns the opposite rim point: back for front, front for back.
    #[inline]
    pub fn other(self) -> Self {
        match self {
            Self::Front => Self::Back,
            Self::Back => Self::Front,
        }
    }

    /// Returns the name of this rim point in records: `"front"` or `"back"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Back => "back",
        }
    }
}

/// Radius, mass and moments of inertia of a penny: a disk that rolls upright on a plane.
///
/// # Examples
///
/// ```
/// use carom_motion::billiard::penny::RollingPenny;
/// // A ring instead of a disk: I = mR², so that I + mR² is twice as large.
/// let (radius, mass) = (0.01, 0.0025);
/// let unit = mass * radius * radius;
/// let ring = RollingPenny::new(radius, mass, unit, 0.5 * unit)?;
/// assert!((ring.rolling_inertia() - 2.0 * unit).abs() < 1e-20);
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RollingPenny {
    radius: f64,
    mass: f64,
    spin_inertia: f64,
    heading_inertia: f64,
}

impl RollingPenny {
    /// Creates a penny from its `radius` R (m), `mass` m (kg), moment of inertia I about the axle (`spin_inertia`, kg m²) and
    /// moment of inertia J about the vertical (`heading_inertia`, kg m²).
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`].
    pub fn new(
        radius: f64,
        mass: f64,
        spin_inertia: f64,
        heading_inertia: f64,
    ) -> Result<Self, BilliardError> {
        positive(&[
            ("radius", radius),
            ("mass", mass),
            ("spin_inertia", spin_inertia),
            ("heading_inertia", heading_inertia),
        ])?;
        Ok(Self {
            radius,
            mass,
            spin_inertia,
            heading_inertia,
        })
    }

    /// Creates a penny that is a homogeneous thin disk of radius $R$ (m) and mass $m$ (kg), with the moments of inertia
    /// $mR^2/2$ about the axle and $mR^2/4$ about the vertical.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`].
    pub fn thin_disk(radius: f64, mass: f64) -> Result<Self, BilliardError> {
        let unit = mass * radius * radius;
        Self::new(radius, mass, 0.5 * unit, 0.25 * unit)
    }

    /// Returns the radius R of the penny, m.
    #[inline]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Returns the mass m of the penny, kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Returns the penny's moment of inertia J about the vertical, kg m².
    #[inline]
    pub fn heading_inertia(&self) -> f64 {
        self.heading_inertia
    }

    /// Returns the penny's moment of inertia I about the axle, kg m².
    pub fn spin_inertia(&self) -> f64 {
        self.spin_inertia
    }

    /// Returns the effective inertia of the rolling penny, $I + mR^2$, kg m²: moment of inertia I about the axle, mass m,
    /// radius R.
    #[inline]
    pub fn rolling_inertia(&self) -> f64 {
        self.spin_inertia + self.mass * self.radius * self.radius
    }

    /// Returns the kinetic energy of the penny in a state, J.
    #[inline]
    pub fn energy(&self, state: &PennyState) -> f64 {
        0.5 * (self.rolling_inertia() * state.theta_dot * state.theta_dot
            + self.heading_inertia * state.phi_dot * state.phi_dot)
    }

    /// Returns the position of the penny's front or back rim point in the plane, m.
    #[inline]
    pub fn rim(&self, state: &PennyState, rim: Rim) -> Vector2<f64> {
        let (sin, cos) = libm::sincos(state.phi);
        let reach = rim.sign() * self.radius;
        Vector2::new(state.x + reach * cos, state.y + reach * sin)
    }
}

/// State of a rolling penny: position, rolling angle, heading and their rates. Angles are continuous (not reduced modulo
/// $2\pi$).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PennyState {
    /// Coordinate x of the contact point, which is below the center, m.
    pub x: f64,
    /// Coordinate y of the contact point, m.
    pub y: f64,
    /// Rolling angle $\theta$, rad.
    pub theta: f64,
    /// Heading $\varphi$, rad.
    pub phi: f64,
    /// Rolling rate $\Omega = \dot\theta$, rad/s.
    pub theta_dot: f64,
    /// Turning rate $\omega = \dot\varphi$, rad/s.
    pub phi_dot: f64,
}

impl PennyState {
    pub(crate) fn validate(&self) -> Result<(), BilliardError> {
        finite(&[
            ("x", self.x),
            ("y", self.y),
            ("theta", self.theta),
            ("phi", self.phi),
            ("theta_dot", self.theta_dot),
            ("phi_dot", self.phi_dot),
        ])
    }
}
