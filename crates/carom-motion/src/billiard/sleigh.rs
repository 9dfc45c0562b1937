//! The Chaplygin sleigh with a round bumper in a circular arena.
//!
//! A blade at $(x, y)$, heading $\varphi$, allows the speed $u$ along the heading and the turning
//! rate $\omega$; the center of mass is $a$ ahead of it. With $k^2 = (J + ma^2)/m$ the speed
//! $V^2 = u^2 + k^2\omega^2$ is constant and
//!
//! $$ u = V\tanh s, \quad \omega = \pm\frac{V}{k}\operatorname{sech}s, \quad
//! s = s_0 + \frac{aV}{k^2}t, \quad \varphi = \varphi_0 \pm \frac{k}{a}(\operatorname{gd}s -
//! \operatorname{gd}s_0), $$
//!
//! with the Gudermannian gd. The path is an integral without closed form. The bumper is a circle
//! about the center of mass.

use crate::billiard::BilliardError;
use crate::billiard::error::{finite, positive};
use crate::billiard::system::{AtImpact, Billiard, Guard};
use carom_contact::Contact;
use carom_metric::{Covector, Tangent};
use carom_numeric::quadrature::panels;
use nalgebra::{DMatrix, Vector2};

/// A Chaplygin sleigh (a body on a plane, supported by a blade that moves only along itself), with a round bumper, in a
/// circular arena.
///
/// # Examples
///
/// ```
/// use carom_motion::billiard::sleigh::{Sleigh, SleighState};
/// use carom_motion::billiard::system::Billiard;
/// let sleigh = Sleigh::new(1.0, 0.2, 0.1, 0.05, 10.0)?;
/// let start = SleighState { speed: 0.3, phi_dot: 2.0, ..SleighState::default() };
/// let later = sleigh.flow(&start, 3.0);
/// // Turning becomes speed along the blade, and V stays.
/// assert!(later.speed > start.speed && later.phi_dot.abs() < start.phi_dot);
/// let change = sleigh.invariant_speed(&later) - sleigh.invariant_speed(&start);
/// assert!(change.abs() < 1e-14);
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleigh {
    mass: f64,
    inertia: f64,
    offset: f64,
    /// Largest distance of the center of mass from the center of the arena, m.
    reach: f64,
}

/// State of a Chaplygin sleigh: position and heading of its blade, speed along the blade, turning rate.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct SleighState {
    /// Position x of the point where the blade touches the plane, m.
    pub x: f64,
    /// Position y of the point where the blade touches the plane, m.
    pub y: f64,
    /// Heading, rad, continuous (not reduced modulo $2\pi$).
    pub phi: f64,
    /// Speed along the heading, m/s.
    pub speed: f64,
    /// Turning rate, rad/s.
    pub phi_dot: f64,
}

impl Sleigh {
    /// Creates a Chaplygin sleigh in a circular arena: `mass` (kg), moment of `inertia` about the center of mass (kg m²),
    /// distance `offset` of the center of mass ahead of the blade (m), radius of the round `bumper` about the center of mass
    /// (m), and radius of the `arena` (m).
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`], [`BilliardError::TableTooSmall`].
    pub fn new(
        mass: f64,
        inertia: f64,
        offset: f64,
        bumper: f64,
        arena: f64,
    ) -> Result<Self, BilliardError> {
        positive(&[
            ("mass", mass),
            ("inertia", inertia),
            ("offset", offset),
            ("bumper", bumper),
            ("arena", arena),
        ])?;
        if arena <= bumper {
            return Err(BilliardError::TableTooSmall {
                semi_axis: arena,
                radius: bumper,
            });
        }
        Ok(Self {
            mass,
            inertia,
            offset,
            reach: arena - bumper,
        })
    }

    /// Checks that all entries of a sleigh's initial state are finite.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NonFinite`].
    pub fn check(&self, state: &SleighState) -> Result<(), BilliardError> {
        finite(&[
            ("x", state.x),
            ("y", state.y),
            ("phi", state.phi),
            ("speed", state.speed),
            ("phi_dot", state.phi_dot),
        ])
    }

    /// Returns the square of the radius of gyration of the sleigh about its blade, $k^2 = (J + ma^2)/m$ (m²). Here $m$ is the
    /// mass, $J$ the moment of inertia about the center of mass, and $a$ the distance between blade and center of mass.
    fn gyration2(&self) -> f64 {
        self.inertia / self.mass + self.offset * self.offset
    }

    /// Returns the speed $V = \sqrt{u^2 + k^2\omega^2}$ of the sleigh (m/s), constant between impacts: speed $u$ along the
    /// blade, turning rate $\omega$, and radius of gyration $k$ about the blade.
    pub fn invariant_speed(&self, state: &SleighState) -> f64 {
        libm::hypot(state.speed, self.gyration2().sqrt() * state.phi_dot)
    }

    /// Returns the position of the sleigh's center of mass in the plane, m.
    pub fn center(&self, state: &SleighState) -> Vector2<f64> {
        let (sin, cos) = libm::sincos(state.phi);
        Vector2::new(state.x + self.offset * cos, state.y + self.offset * sin)
    }

    /// Returns the state with heading and velocities advanced by the time `t` (s) without impact. The position of the blade is
    /// not changed.
    fn turn(&self, state: &SleighState, t: f64) -> SleighState {
        if state.phi_dot == 0.0 {
            return *state;
        }
        let k2 = self.gyration2();
        let k = k2.sqrt();
        let v = self.invariant_speed(state);
        let sign = state.phi_dot.signum();
        let s0 = libm::asinh(state.speed / (k * state.phi_dot.abs()));
        let s = s0 + self.offset * v / k2 * t;
        let gudermannian = |s: f64| 2.0 * libm::atan(libm::tanh(0.5 * s));
        SleighState {
            phi: state.phi + sign * k / self.offset * (gudermannian(s) - gudermannian(s0)),
            speed: v * libm::tanh(s),
            phi_dot: sign * v / (k * libm::cosh(s)),
            ..*state
        }
    }

    fn gradient(&self, state: &SleighState) -> Vector2<f64> {
        2.0 / (self.reach * self.reach) * self.center(state)
    }
}

impl Billiard for Sleigh {
    type State = SleighState;

    fn flow(&self, state: &SleighState, time: f64) -> SleighState {
        let k = self.gyration2().sqrt();
        let phase = self.invariant_speed(state) / k * (1.0 + self.offset / k) * time;
        let [x, y] = panels(time, phase, |t| {
            let now = self.turn(state, t);
            let (sin, cos) = libm::sincos(now.phi);
            let speed = now.speed;
            [speed * cos, speed * sin]
        });
        SleighState {
            x: state.x + x,
            y: state.y + y,
            ..self.turn(state, time)
        }
    }

    fn n_guards(&self) -> usize {
        1
    }

    fn guard(&self, state: &SleighState, _: usize) -> Guard {
        let (sin, cos) = libm::sincos(state.phi);
        let velocity = Vector2::new(
            state.speed * cos - self.offset * state.phi_dot * sin,
            state.speed * sin + self.offset * state.phi_dot * cos,
        );
        let c = self.center(state) / self.reach;
        Guard {
            value: (c.norm() - 1.0) * (c.norm() + 1.0),
            rate: self.gradient(state).dot(&velocity),
        }
    }

    fn bound(&self, state: &SleighState, _: usize) -> (f64, f64) {
        // The speed of the center of mass is at most V, and its acceleration is across the heading,
        // u ω (1 - a²/k²), with |u ω| at most V²/2k.
        let k2 = self.gyration2();
        let v = self.invariant_speed(state);
        let acceleration = 0.5 * v * v / k2.sqrt() * (1.0 - self.offset * self.offset / k2);
        let bound = 2.0 / (self.reach * self.reach) * v * v + 2.0 / self.reach * acceleration;
        (10.0 * self.reach / v, bound)
    }

    fn at_impact(&self, state: &SleighState, _: usize) -> AtImpact {
        let (sin, cos) = libm::sincos(state.phi);
        let (m, lever) = (self.mass, self.mass * self.offset);
        let n = self.gradient(state);
        let across = self.offset * (-n.x * sin + n.y * cos);
        AtImpact {
            mass: DMatrix::from_row_slice(
                3,
                3,
                &[
                    m,
                    0.0,
                    -lever * sin,
                    0.0,
                    m,
                    lever * cos,
                    -lever * sin,
                    lever * cos,
                    self.inertia + lever * self.offset,
                ],
            ),
            forms: vec![Covector::from_slice(&[-sin, cos, 0.0])],
            contact: Contact::frictionless(Covector::from_slice(&[-n.x, -n.y, -across])),
            velocity: Tangent::from_slice(&[state.speed * cos, state.speed * sin, state.phi_dot]),
        }
    }

    fn with_velocity(&self, state: &SleighState, velocity: &Tangent) -> SleighState {
        let (sin, cos) = libm::sincos(state.phi);
        let v = velocity.0.as_slice();
        match *v {
            [x, y, phi_dot] => SleighState {
                speed: x * cos + y * sin,
                phi_dot,
                ..*state
            },
            _ => *state,
        }
    }
}
