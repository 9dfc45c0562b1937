//! The penny under constant torques, Clark & Bloch, Sec. VII.
//!
//! $J\ddot\varphi = u_1$ and $(I + mR^2)\ddot\theta = u_2$: the rates are linear in time, and the path is
//! a Fresnel integral.

use crate::billiard::error::finite;
use crate::billiard::penny::{PennyState, Rim, RollingPenny};
use crate::billiard::system::{AtImpact, Billiard, Guard};
use crate::billiard::{BilliardError, Table};
use carom_contact::Contact;
use carom_metric::{Covector, Tangent};
use carom_numeric::quadrature::panels;
use nalgebra::{DMatrix, DVector, Vector2};

/// A penny (a rolling disk) that bounces inside a wall, driven by constant torques about the vertical and about its axle.
///
/// # Examples
///
/// ```
/// use carom_motion::billiard::Ellipse;
/// use carom_motion::billiard::controlled::ControlledPenny;
/// use carom_motion::billiard::penny::{PennyState, RollingPenny};
/// use carom_motion::billiard::system::Billiard;
/// let penny = RollingPenny::thin_disk(0.01, 0.0025)?;
/// let torque = 0.3 * penny.heading_inertia();
/// let controlled = ControlledPenny::new(penny, Ellipse::circle(1.0)?, torque, 0.0)?;
/// let start = PennyState { theta_dot: 2.0, phi_dot: 0.1, ..PennyState::default() };
/// // The heading turns at ω + u₁t/J, the penny rolls on as fast.
/// let later = controlled.flow(&start, 2.0);
/// assert!((later.phi_dot - 0.7).abs() < 1e-14 && (later.theta_dot - 2.0).abs() < 1e-14);
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ControlledPenny<T> {
    penny: RollingPenny,
    table: T,
    /// Angular accelerations of rolling and of the heading, rad/s².
    rolling: f64,
    heading: f64,
}

/// Largest change of the heading in one time window of the impact search, rad.
const MOST_TURN: f64 = 200.0;

/// Rim points of the penny in the order of the wall functions of [`Billiard`]: function 0 is that of the front rim, 1 that of
/// the back rim.
pub const RIMS: [Rim; 2] = [Rim::Front, Rim::Back];

impl<T: Table> ControlledPenny<T> {
    /// Creates a penny on a table with two constant torques (N m): `heading_torque` about the vertical, and `rolling_torque`
    /// about the axle.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NonFinite`], [`BilliardError::TableTooSmall`].
    pub fn new(
        penny: RollingPenny,
        table: T,
        heading_torque: f64,
        rolling_torque: f64,
    ) -> Result<Self, BilliardError> {
        finite(&[
            ("heading torque", heading_torque),
            ("rolling torque", rolling_torque),
        ])?;
        let semi_axis = 0.5 * table.width();
        if semi_axis <= penny.radius() {
            return Err(BilliardError::TableTooSmall {
                semi_axis,
                radius: penny.radius(),
            });
        }
        Ok(Self {
            rolling: rolling_torque / penny.rolling_inertia(),
            heading: heading_torque / penny.heading_inertia(),
            penny,
            table,
        })
    }

    fn rim_velocity(&self, state: &PennyState, rim: Rim) -> Vector2<f64> {
        let (sin, cos) = libm::sincos(state.phi);
        let r = self.penny.radius();
        let (along, across) = (r * state.theta_dot, r * rim.sign() * state.phi_dot);
        Vector2::new(along * cos - across * sin, along * sin + across * cos)
    }
}

impl<T: Table> Billiard for ControlledPenny<T> {
    type State = PennyState;

    fn flow(&self, state: &PennyState, time: f64) -> PennyState {
        let angle = |rate: f64, acceleration: f64, t: f64| (rate + 0.5 * acceleration * t) * t;
        let phase = state.phi_dot.abs() * time + 0.5 * self.heading.abs() * time * time;
        let [x, y] = panels(time, phase, |t| {
            let (sin, cos) = libm::sincos(state.phi + angle(state.phi_dot, self.heading, t));
            let rate = state.theta_dot + self.rolling * t;
            [rate * cos, rate * sin]
        });
        PennyState {
            x: state.x + self.penny.radius() * x,
            y: state.y + self.penny.radius() * y,
            theta: state.theta + angle(state.theta_dot, self.rolling, time),
            phi: state.phi + angle(state.phi_dot, self.heading, time),
            theta_dot: state.theta_dot + self.rolling * time,
            phi_dot: state.phi_dot + self.heading * time,
        }
    }

    fn n_guards(&self) -> usize {
        RIMS.len()
    }

    fn guard(&self, state: &PennyState, guard: usize) -> Guard {
        let rim = RIMS[guard.min(1)];
        let point = self.penny.rim(state, rim);
        Guard {
            value: self.table.value(point),
            rate: self
                .table
                .gradient(point)
                .dot(&self.rim_velocity(state, rim)),
        }
    }

    fn bound(&self, state: &PennyState, _: usize) -> (f64, f64) {
        let r = self.penny.radius();
        let (rolling, heading) = (self.rolling.abs(), self.heading.abs());
        // Time window in which no rate can grow much: by its own size, or from rest by half a
        // radian.
        let rate = state.theta_dot.abs().max(state.phi_dot.abs());
        let gain = rolling.max(heading);
        let window = if gain == 0.0 {
            if rate == 0.0 {
                return (0.0, 0.0);
            }
            2.0 * self.table.diameter() / (r * rate)
        } else {
            (rate / gain).max(gain.sqrt().recip())
        };
        // The heading cannot turn by much more than [`MOST_TURN`] either: the cost of a flow grows with that angle.
        let turning = state.phi_dot.abs();
        let turn = turning + (turning * turning + 2.0 * heading * MOST_TURN).sqrt();
        let window = window.min(2.0 * MOST_TURN / turn);
        let big = state.theta_dot.abs() + rolling * window;
        let small = state.phi_dot.abs() + heading * window;
        let speed = r * libm::hypot(big, small);
        let acceleration = speed * small + r * libm::hypot(rolling, heading);
        let bound =
            self.table.hessian_bound() * speed * speed + self.table.gradient_bound() * acceleration;
        (window, bound)
    }

    fn at_impact(&self, state: &PennyState, guard: usize) -> AtImpact {
        let rim = RIMS[guard.min(1)];
        let (sin, cos) = libm::sincos(state.phi);
        let (m, r) = (self.penny.mass(), self.penny.radius());
        let n = self.table.gradient(self.penny.rim(state, rim));
        let across = rim.sign() * r * (-n.x * sin + n.y * cos);
        let masses = [
            m,
            m,
            self.penny.spin_inertia(),
            self.penny.heading_inertia(),
        ];
        let speed = r * state.theta_dot;
        AtImpact {
            mass: DMatrix::from_diagonal(&DVector::from_column_slice(&masses)),
            forms: vec![
                Covector::from_slice(&[1.0, 0.0, -r * cos, 0.0]),
                Covector::from_slice(&[0.0, 1.0, -r * sin, 0.0]),
            ],
            contact: Contact::frictionless(Covector::from_slice(&[-n.x, -n.y, 0.0, -across])),
            velocity: Tangent::from_slice(&[
                speed * cos,
                speed * sin,
                state.theta_dot,
                state.phi_dot,
            ]),
        }
    }

    fn with_velocity(&self, state: &PennyState, velocity: &Tangent) -> PennyState {
        match *velocity.0.as_slice() {
            [_, _, theta_dot, phi_dot] => PennyState {
                theta_dot,
                phi_dot,
                ..*state
            },
            _ => *state,
        }
    }
}
