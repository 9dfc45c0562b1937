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

/// Rim point: one end of the horizontal diameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rim {
    /// End to which the heading points.
    Front,
    /// Opposite end.
    Back,
}

impl Rim {
    /// Returns $\sigma$: 1 for the front, -1 for the back.
    #[inline]
    pub fn sign(self) -> f64 {
        match self {
            Self::Front => 1.0,
            Self::Back => -1.0,
        }
    }

    /// Returns the other rim.
    #[inline]
    pub fn other(self) -> Self {
        match self {
            Self::Front => Self::Back,
            Self::Back => Self::Front,
        }
    }

    /// Returns `"front"` or `"back"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Back => "back",
        }
    }
}

/// Mass properties of a rolling disk.
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
    /// Creates a disk with its radius R (m), mass m (kg), and moments of inertia I about the axle and J about the vertical
    /// (kg m²).
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

    /// Creates a homogeneous thin disk, $I = mR^2/2$, $J = mR^2/4$.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`].
    pub fn thin_disk(radius: f64, mass: f64) -> Result<Self, BilliardError> {
        let unit = mass * radius * radius;
        Self::new(radius, mass, 0.5 * unit, 0.25 * unit)
    }

    /// Returns the radius R, m.
    #[inline]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Returns the mass m, kg.
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Returns the moment of inertia J about the vertical, kg m².
    #[inline]
    pub fn heading_inertia(&self) -> f64 {
        self.heading_inertia
    }

    /// Returns the moment of inertia I about the axle, kg m².
    pub fn spin_inertia(&self) -> f64 {
        self.spin_inertia
    }

    /// Returns the inertia of rolling, $I + mR^2$, kg m².
    #[inline]
    pub fn rolling_inertia(&self) -> f64 {
        self.spin_inertia + self.mass * self.radius * self.radius
    }

    /// Returns the kinetic energy, J.
    #[inline]
    pub fn energy(&self, state: &PennyState) -> f64 {
        0.5 * (self.rolling_inertia() * state.theta_dot * state.theta_dot
            + self.heading_inertia * state.phi_dot * state.phi_dot)
    }

    /// Returns the position of a rim point in the plane, m.
    #[inline]
    pub fn rim(&self, state: &PennyState, rim: Rim) -> Vector2<f64> {
        let (sin, cos) = libm::sincos(state.phi);
        let reach = rim.sign() * self.radius;
        Vector2::new(state.x + reach * cos, state.y + reach * sin)
    }
}

/// State of the penny; angles are continuous (not reduced modulo $2\pi$).
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
