//! A ball that rolls on a table between cushions, smooth or rough.
//!
//! The quasi-velocities are $(v_x, v_y, W_x, W_y, W_z)$, velocity of the center and angular velocity, with $v_x = rW_y$, $v_y =
//! -rW_x$. The center moves along straight lines; `table` bounds the center. With a smooth cushion the elastic law makes it an
//! ordinary billiard. A rough cushion ([`Rough`](carom_impact::Rough)) also reverses the slip velocity along the cushion,
//! $\tau\cdot v + rW_z$ with $\tau$ the tangent, and exchanges rolling and spin.

use crate::billiard::system::{AtImpact, Billiard, Guard};
use crate::billiard::{BilliardError, Table, error};
use carom_contact::Contact;
use carom_metric::{Covector, Tangent};
use nalgebra::{DMatrix, DVector, Vector2};

/// A ball that rolls without slipping on a horizontal plane, inside a wall given as the curve that bounds its center.
///
/// # Examples
///
/// ```
/// use carom_motion::billiard::Ellipse;
/// use carom_motion::billiard::rolling_ball::{BallState, RollingBall};
/// use carom_motion::billiard::system::Billiard;
/// use nalgebra::Vector2;
/// let (mass, radius) = (0.2, 0.03);
/// let inertia = 0.4 * mass * radius * radius;
/// let ball = RollingBall::new(mass, radius, inertia, Ellipse::circle(1.0)?)?;
/// let velocity = Vector2::new(1.5, 0.0);
/// let start = BallState { position: Vector2::zeros(), velocity, spin: 2.0 };
/// // It rolls straight to the wall at 1 m, where its energy is 7/10 m v² and that of the spin.
/// let at = ball.flow(&start, 1.0 / 1.5);
/// assert!(ball.guard(&at, 0).value.abs() < 1e-15);
/// let impact = ball.at_impact(&at, 0);
/// let energy = 0.5 * impact.velocity.0.dot(&(&impact.mass * &impact.velocity.0));
/// assert!((energy - 0.7 * mass * 2.25 - 0.5 * inertia * 4.0).abs() < 1e-15);
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RollingBall<T> {
    mass: f64,
    radius: f64,
    inertia: f64,
    table: T,
}

/// State of a ball that rolls on a plane: position, velocity and spin about the vertical. The horizontal components of the
/// angular velocity follow from rolling without slip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallState {
    /// Position of the center, m.
    pub position: Vector2<f64>,
    /// Velocity of the center, m/s.
    pub velocity: Vector2<f64>,
    /// Angular velocity about the vertical, rad/s.
    pub spin: f64,
}

impl<T: Table> RollingBall<T> {
    /// Creates a rolling ball: `mass` (kg), `radius` (m), moment of `inertia` about a diameter (kg m²), and the region
    /// `table` in which the ball's center can move.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`].
    pub fn new(mass: f64, radius: f64, inertia: f64, table: T) -> Result<Self, BilliardError> {
        error::positive(&[("mass", mass), ("radius", radius), ("inertia", inertia)])?;
        Ok(Self {
            mass,
            radius,
            inertia,
            table,
        })
    }
}

impl<T: Table> Billiard for RollingBall<T> {
    type State = BallState;

    fn flow(&self, state: &BallState, time: f64) -> BallState {
        BallState {
            position: state.position + time * state.velocity,
            ..*state
        }
    }

    fn n_guards(&self) -> usize {
        1
    }

    fn guard(&self, state: &BallState, _: usize) -> Guard {
        Guard {
            value: self.table.value(state.position),
            rate: self.table.gradient(state.position).dot(&state.velocity),
        }
    }

    fn bound(&self, state: &BallState, _: usize) -> (f64, f64) {
        let speed = state.velocity.norm();
        let bound = self.table.hessian_bound() * speed * speed;
        (2.0 * self.table.diameter() / speed, bound)
    }

    fn at_impact(&self, state: &BallState, _: usize) -> AtImpact {
        let r = self.radius;
        let n = self.table.gradient(state.position).normalize();
        let (v, w) = (state.velocity, state.spin);
        let masses = [
            self.mass,
            self.mass,
            self.inertia,
            self.inertia,
            self.inertia,
        ];
        AtImpact {
            mass: DMatrix::from_diagonal(&DVector::from_column_slice(&masses)),
            forms: vec![
                Covector::from_slice(&[1.0, 0.0, 0.0, -r, 0.0]),
                Covector::from_slice(&[0.0, 1.0, r, 0.0, 0.0]),
            ],
            contact: Contact::new(Covector::from_slice(&[-n.x, -n.y, 0.0, 0.0, 0.0]))
                .with_tangents(vec![Covector::from_slice(&[-n.y, n.x, 0.0, 0.0, r])]),
            velocity: Tangent::from_slice(&[v.x, v.y, -v.y / r, v.x / r, w]),
        }
    }

    fn with_velocity(&self, state: &BallState, velocity: &Tangent) -> BallState {
        match *velocity.0.as_slice() {
            [x, y, _, _, spin] => BallState {
                velocity: Vector2::new(x, y),
                spin,
                ..*state
            },
            _ => *state,
        }
    }
}
