//! A knife edge on an incline with a lower wall.
//!
//! The blade at $(x, y)$ turns at a constant rate $\omega$. Gravity acts with $g' = g\sin\alpha$
//! along x, towards the wall $x = x_w$. The speed along the blade is
//! $u = u_0 + g'(\sin\varphi - \sin\varphi_0)/\omega$, smooth at $\omega = 0$ when written with
//! $\operatorname{sinc}(\omega t/2)$.

use crate::billiard::BilliardError;
use crate::billiard::error::{finite, positive};
use crate::billiard::system::{AtImpact, Billiard, Guard};
use crate::billiard::trig::sinc;
use carom_contact::Contact;
use carom_metric::{Covector, Tangent};
use carom_numeric::quadrature::panels;
use nalgebra::{DMatrix, DVector};

/// A knife edge: a blade that slides along its own direction on an inclined plane, and hits a wall at the lower side.
///
/// # Examples
///
/// ```
/// use carom_motion::billiard::knife_edge::{KnifeEdge, KnifeState};
/// use carom_motion::billiard::system::Billiard;
/// // Without a slope the blade goes round a circle of radius u/ω and comes back.
/// let edge = KnifeEdge::new(1.0, 0.1, 0.0, 5.0)?;
/// let start = KnifeState { speed: 2.0, phi_dot: 4.0, ..KnifeState::default() };
/// let half = edge.flow(&start, std::f64::consts::PI / 4.0);
/// assert!((half.x.hypot(half.y) - 2.0 * 2.0 / 4.0).abs() < 1e-12);
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnifeEdge {
    mass: f64,
    inertia: f64,
    pull: f64,
    wall: f64,
}

/// State of a knife edge on an inclined plane: position, heading, speed along the blade and turning rate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct KnifeState {
    /// Position down the slope, m.
    pub x: f64,
    /// Position across the slope, m.
    pub y: f64,
    /// Heading, rad, continuous (not reduced modulo $2\pi$).
    pub phi: f64,
    /// Speed along the blade, m/s.
    pub speed: f64,
    /// Turning rate, rad/s.
    pub phi_dot: f64,
}

impl KnifeEdge {
    /// Creates a knife edge on an inclined plane: `mass` (kg), moment of `inertia` about the normal of the plane (kg m²), the
    /// acceleration `pull` $= g\sin\alpha$ down the slope (m/s²), and the coordinate x of the `wall`, along the slope
    /// downwards (m).
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`], [`BilliardError::NonFinite`].
    pub fn new(mass: f64, inertia: f64, pull: f64, wall: f64) -> Result<Self, BilliardError> {
        positive(&[("mass", mass), ("inertia", inertia)])?;
        finite(&[("pull", pull), ("wall", wall)])?;
        Ok(Self {
            mass,
            inertia,
            pull,
            wall,
        })
    }

    fn speed(&self, state: &KnifeState, t: f64) -> f64 {
        let half = 0.5 * state.phi_dot * t;
        state.speed + self.pull * t * sinc(half) * libm::cos(state.phi + half)
    }
}

impl Billiard for KnifeEdge {
    type State = KnifeState;

    fn flow(&self, state: &KnifeState, time: f64) -> KnifeState {
        let [x, y] = panels(time, 2.0 * state.phi_dot * time, |t| {
            let (sin, cos) = libm::sincos(state.phi + state.phi_dot * t);
            let speed = self.speed(state, t);
            [speed * cos, speed * sin]
        });
        KnifeState {
            x: state.x + x,
            y: state.y + y,
            phi: state.phi + state.phi_dot * time,
            speed: self.speed(state, time),
            phi_dot: state.phi_dot,
        }
    }

    fn n_guards(&self) -> usize {
        1
    }

    fn guard(&self, state: &KnifeState, _: usize) -> Guard {
        Guard {
            value: state.x - self.wall,
            rate: state.speed * libm::cos(state.phi),
        }
    }

    fn bound(&self, state: &KnifeState, _: usize) -> (f64, f64) {
        let window = 1.0 / (state.phi_dot.abs() + 1e-3);
        let speed = state.speed.abs() + self.pull.abs() * window;
        (window, self.pull.abs() + speed * state.phi_dot.abs())
    }

    fn at_impact(&self, state: &KnifeState, _: usize) -> AtImpact {
        let (sin, cos) = libm::sincos(state.phi);
        let masses = [self.mass, self.mass, self.inertia];
        AtImpact {
            mass: DMatrix::from_diagonal(&DVector::from_column_slice(&masses)),
            forms: vec![Covector::from_slice(&[-sin, cos, 0.0])],
            contact: Contact::frictionless(Covector::from_slice(&[-1.0, 0.0, 0.0])),
            velocity: Tangent::from_slice(&[state.speed * cos, state.speed * sin, state.phi_dot]),
        }
    }

    fn with_velocity(&self, state: &KnifeState, velocity: &Tangent) -> KnifeState {
        let (sin, cos) = libm::sincos(state.phi);
        match *velocity.0.as_slice() {
            [x, y, phi_dot] => KnifeState {
                speed: x * cos + y * sin,
                phi_dot,
                ..*state
            },
            _ => *state,
        }
    }
}
