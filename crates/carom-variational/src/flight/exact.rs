//! The exact motion in uniform gravity.

use super::{Flight, PathRate};
use crate::turning::Turning;
use crate::{RigidBody, State, VariationalError};
use carom_lie::So3;
use nalgebra::Vector3;

/// Longest piece of time over the radius of convergence of its Taylor series.
const MAX_RATIO: f64 = 0.25;

/// Terms that reach rounding at [`MAX_RATIO`].
const MAX_TERMS: usize = 30;

/// The exact flow: free fall, and Euler's equations by Taylor series to rounding.
///
/// Euler's equations $\dot\Pi = \Pi\times J^{-1}\Pi$ have the majorant $\dot y = y^2/\sqrt3$, because
/// no difference of two principal moments exceeds the third. So the series converges at least for
/// $\lvert t\rvert < \sqrt3/\Omega$, $\Omega = \sqrt{2T/J_1}$, and a quarter of that gives a factor 4
/// per term. No branch distinguishes the motion about the long, the short and the middle axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactFlight {
    gravity: Vector3<f64>,
}

impl ExactFlight {
    /// The exact flow with gravity as an acceleration (m/s²).
    pub fn new(gravity: Vector3<f64>) -> Self {
        Self { gravity }
    }
}

/// Attitude and momentum after a piece of time within the series' reach.
fn turn(
    body: &RigidBody,
    rotation: &So3,
    momentum: &Vector3<f64>,
    time: f64,
    terms: usize,
) -> (So3, Vector3<f64>) {
    // Coefficients times powers of the time; the quaternion starts at 1.
    let mut momenta = [Vector3::zeros(); MAX_TERMS];
    let mut rates = [Vector3::zeros(); MAX_TERMS];
    let mut scalars = [0.0; MAX_TERMS];
    let mut vectors = [Vector3::zeros(); MAX_TERMS];
    momenta[0] = *momentum;
    scalars[0] = 1.0;
    for k in 0..terms - 1 {
        rates[k] = body.angular_velocity(&momenta[k]);
        let (mut torque, mut scalar, mut vector) = (Vector3::zeros(), 0.0, Vector3::zeros());
        for j in 0..=k {
            let rate = &rates[k - j];
            torque += momenta[j].cross(rate);
            scalar -= vectors[j].dot(rate);
            vector += rate * scalars[j] + vectors[j].cross(rate);
        }
        let step = time / (k + 1) as f64;
        momenta[k + 1] = torque * step;
        scalars[k + 1] = scalar * (0.5 * step);
        vectors[k + 1] = vector * (0.5 * step);
    }
    // Small terms first.
    let momentum = momenta[..terms].iter().rev().sum();
    let scalar: f64 = scalars[..terms].iter().rev().sum();
    let vector = vectors[..terms].iter().rev().sum();
    let turn = So3::from_quaternion(scalar, &vector).unwrap_or_else(So3::identity);
    (rotation.compose(&turn), momentum)
}

impl Flight for ExactFlight {
    fn advance(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<State, VariationalError> {
        let spin = body.angular_velocity_bound(from);
        let whole = spin * time.abs() / 3f64.sqrt();
        if !whole.is_finite() {
            return Err(VariationalError::NonFinite {
                what: "angular momentum",
            });
        }
        let pieces = (whole / MAX_RATIO).ceil().max(1.0);
        let ratio = whole / pieces;
        // ratio^terms below an eighth of rounding.
        let terms = match ratio > 0.0 {
            true => (-38.0 / ratio.ln()).abs().ceil() as usize + 2,
            false => 2,
        };
        let (mut rotation, mut angular_momentum) = (from.rotation, from.angular_momentum);
        for _ in 0..pieces as usize {
            let piece = time / pieces;
            (rotation, angular_momentum) = turn(
                body,
                &rotation,
                &angular_momentum,
                piece,
                terms.min(MAX_TERMS),
            );
        }
        let drop = self.gravity * (0.5 * time * time);
        Ok(State {
            position: from.position + (from.linear_momentum * (time / body.mass()) + drop),
            linear_momentum: from.linear_momentum + self.gravity * (body.mass() * time),
            rotation,
            angular_momentum,
        })
    }

    fn advance_with_rate(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<(State, PathRate), VariationalError> {
        let state = self.advance(body, from, time)?;
        let rate = PathRate {
            linear: state.linear_momentum / body.mass(),
            angular: body.angular_velocity(&state.angular_momentum),
        };
        Ok((state, rate))
    }

    fn acceleration(&self, _body: &RigidBody, _from: &State) -> Vector3<f64> {
        self.gravity
    }

    /// $\lvert\dot\Omega_i\rvert = \lvert(J_j - J_k)/J_i\rvert\lvert\Omega_j\Omega_k\rvert$, and the
    /// three products together are at most $\lvert\Omega\rvert^2/\sqrt3$.
    fn turning(&self, body: &RigidBody, from: &State, _time: f64) -> Turning {
        let rate = body.angular_velocity_bound(from);
        let j = body.moments();
        let ratio = ((j.z - j.y) / j.x)
            .max((j.z - j.x) / j.y)
            .max((j.y - j.x) / j.z);
        Turning {
            rate,
            acceleration: ratio * rate * rate / 3f64.sqrt(),
        }
    }

    fn is_uniform(&self) -> bool {
        true
    }

    fn potential_energy(&self, body: &RigidBody, state: &State) -> f64 {
        -body.mass() * self.gravity.dot(&state.position)
    }
}
