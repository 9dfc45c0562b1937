//! Exact motion in uniform gravity.

use super::{DifferentiableFlight, Flight, PathRate, TurningDerivative, check_gravity};
use crate::body::SLENDER;
use crate::rates::exact_rates;
use crate::turning::Turning;
use crate::{RigidBody, State, VariationalError};
use carom_lie::So3;
use nalgebra::Vector3;

/// Largest duration of a piece of a flight, as a fraction of the radius of convergence of its Taylor series.
const MAX_RATIO: f64 = 0.25;

/// Largest number of pieces of one flight.
const MAX_PIECES: f64 = 1e6;

/// Largest number of Taylor terms: enough for full accuracy at [`MAX_RATIO`].
const MAX_TERMS: usize = 30;

/// Exact motion of a rigid body between impacts: free fall of the center of mass, and rotation by Euler's equations, which are
/// solved with Taylor series to rounding error.
///
/// Euler's equations $\dot\Pi = \Pi\times J^{-1}\Pi$ have the majorant $\dot y = y^2/\sqrt3$, because no difference of two
/// principal moments exceeds the third moment. So the series converges at least for $\lvert t\rvert < \sqrt3/\Omega$, $\Omega =
/// \sqrt{2T/J_1}$ with the rotational energy $T$ and the smallest moment $J_1$. In a step of a quarter of that time, the bound of
/// the terms decreases by a factor of 4 per term. Motions about the long, the short and the middle axis are computed in the same
/// manner.
///
/// A slender body has a small $J_1$ and turns much slower than $\Omega$. The majorant $\dot y = y^2$ of the largest component is
/// then used, which converges for $\lvert t\rvert < 1/\max_k\Omega_k$.
///
/// An inertia that no mass distribution has can have a larger difference of two moments; the times are divided by its ratio to
/// the third moment.
///
/// # Errors
///
/// [`VariationalError::FlightTooLong`] for a flight of more than some $10^5$ rad.
///
/// # Examples
///
/// ```
/// use carom_geometry::{Cuboid, MassProperties};
/// use carom_lie::So3;
/// use carom_variational::{ExactFlight, Flight, RigidBody, State};
/// use nalgebra::Vector3;
/// let cuboid = Cuboid::new([0.1, 0.2, 0.3])?;
/// let body = RigidBody::new(&MassProperties::cuboid(&cuboid, 3.0)?);
/// let thrown = State {
///     position: Vector3::zeros(),
///     rotation: So3::identity(),
///     linear_momentum: Vector3::new(3.0, 0.0, 6.0),
///     angular_momentum: Vector3::new(0.02, 0.5, 0.01),
/// };
/// let later = ExactFlight::new(Vector3::new(0.0, 0.0, -10.0)).advance(&body, &thrown, 2.0)?;
/// // A parabola, and an angular momentum that space keeps while the box tumbles.
/// assert!((later.position - Vector3::new(2.0, 0.0, -16.0)).norm() < 1e-13);
/// let spin = |s: &State| s.rotation.rotate(&s.angular_momentum);
/// assert!((spin(&later) - spin(&thrown)).norm() < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactFlight {
    gravity: Vector3<f64>,
}

impl ExactFlight {
    /// Creates the exact motion between impacts in uniform gravity, given as an acceleration in world axes (m/s²).
    pub fn new(gravity: Vector3<f64>) -> Self {
        Self { gravity }
    }
}

/// Taylor coefficients of angular momentum and angular velocity, each times the power of the time.
struct Series {
    momenta: [Vector3<f64>; MAX_TERMS],
    rates: [Vector3<f64>; MAX_TERMS],
}

impl Series {
    fn new() -> Self {
        Self {
            momenta: [Vector3::zeros(); MAX_TERMS],
            rates: [Vector3::zeros(); MAX_TERMS],
        }
    }

    /// Computes the attitude and the angular momentum at the end of one piece of a flight, from `rotation` and `momentum` at the
    /// start of the piece. A flight is divided into pieces of equal duration; `pieces` contains this duration and the number of
    /// Taylor terms.
    fn turn(
        &mut self,
        body: &RigidBody,
        rotation: &So3,
        momentum: &Vector3<f64>,
        pieces: &Pieces,
    ) -> (So3, Vector3<f64>) {
        let Self { momenta, rates } = self;
        let Pieces { time, terms, .. } = *pieces;
        // The quaternion of the increment starts at 1.
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
        // Sums small terms first.
        let momentum = momenta[..terms].iter().rev().sum();
        let scalar: f64 = scalars[..terms].iter().rev().sum();
        let vector = vectors[..terms].iter().rev().sum();
        let turn = So3::from_quaternion(scalar, &vector).unwrap_or_else(So3::identity);
        (rotation.compose(&turn), momentum)
    }

    /// Computes the variations of attitude and angular momentum at the end of one piece of a flight from those at the start of
    /// the piece. The piece is that of the last call of [`turn`](Self::turn). The Taylor coefficients of the variations follow
    /// from the equations $\dot\zeta = \zeta\times\Omega + J^{-1}\delta\Pi$ and $\delta\dot\Pi = \delta\Pi\times\Omega +
    /// \Pi\times J^{-1}\delta\Pi$. $\zeta$ is the small rotation of the attitude, $\Pi$ the angular momentum, $\Omega$ the
    /// angular velocity, and $J$ the inertia.
    fn vary(
        &self,
        body: &RigidBody,
        [attitude, momentum]: [Vector3<f64>; 2],
        pieces: &Pieces,
    ) -> [Vector3<f64>; 2] {
        let Pieces { time, terms, .. } = *pieces;
        let mut attitudes = [Vector3::zeros(); MAX_TERMS];
        let mut momenta = [Vector3::zeros(); MAX_TERMS];
        let mut rates = [Vector3::zeros(); MAX_TERMS];
        attitudes[0] = attitude;
        momenta[0] = momentum;
        for k in 0..terms - 1 {
            rates[k] = body.angular_velocity(&momenta[k]);
            let (mut turn, mut torque) = (rates[k], Vector3::zeros());
            for j in 0..=k {
                turn += attitudes[j].cross(&self.rates[k - j]);
                torque +=
                    momenta[j].cross(&self.rates[k - j]) + self.momenta[j].cross(&rates[k - j]);
            }
            let step = time / (k + 1) as f64;
            attitudes[k + 1] = turn * step;
            momenta[k + 1] = torque * step;
        }
        [attitudes, momenta].map(|all| all[..terms].iter().rev().sum())
    }
}

/// Division of a flight into pieces that are short enough for the series.
#[derive(Clone, Copy)]
struct Pieces {
    count: usize,
    /// Duration of each piece (s).
    time: f64,
    terms: usize,
}

impl Pieces {
    fn new(body: &RigidBody, from: &State, time: f64) -> Result<Self, VariationalError> {
        let mut whole = body.angular_velocity_bound(from) * time.abs() / 3f64.sqrt();
        if whole > MAX_RATIO && body.is_slender() {
            let slower = body.rate_squares(from).max().sqrt() * time.abs();
            if slower < SLENDER * whole {
                whole = slower;
            }
        }
        whole *= body.ratio();
        if !whole.is_finite() {
            return Err(VariationalError::NonFinite {
                what: "angular momentum",
            });
        }
        let pieces = (whole / MAX_RATIO).ceil().max(1.0);
        if pieces > MAX_PIECES {
            return Err(VariationalError::FlightTooLong {
                angle: whole * 3f64.sqrt(),
                limit: MAX_PIECES * MAX_RATIO * 3f64.sqrt(),
            });
        }
        let ratio = whole / pieces;
        // Enough terms that ratio^terms is below an eighth of the rounding unit.
        let terms = if ratio > 0.0 {
            (-38.0 / libm::log(ratio)).abs().ceil() as usize + 2
        } else {
            2
        };
        Ok(Self {
            count: pieces as usize,
            time: time / pieces,
            terms: terms.min(MAX_TERMS),
        })
    }
}

impl DifferentiableFlight for ExactFlight {
    fn is_flow(&self) -> bool {
        true
    }

    /// Updates the derivative `turning` of attitude and angular momentum for one more flight, of the duration `time` (s) from the
    /// state `from`. The variational equations of the exact motion are solved by Taylor series.
    fn append_to(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
        turning: &mut TurningDerivative,
    ) -> Result<(), VariationalError> {
        let pieces = Pieces::new(body, from, time)?;
        let mut series = Series::new();
        let mut momentum = from.angular_momentum;
        for _ in 0..pieces.count {
            let (turn, next) = series.turn(body, &So3::identity(), &momentum, &pieces);
            for axis in 0..3 {
                let column = [&turning.swing, &turning.momentum].map(|m| m.column(axis).into());
                let [attitude, momentum] = series.vary(body, column, &pieces);
                turning.swing.set_column(axis, &attitude);
                turning.momentum.set_column(axis, &momentum);
            }
            turning.turn = turn.matrix().transpose() * turning.turn;
            momentum = next;
        }
        Ok(())
    }
}

impl Flight for ExactFlight {
    fn advance(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<State, VariationalError> {
        check_gravity(&self.gravity)?;
        let pieces = Pieces::new(body, from, time)?;
        let mut series = Series::new();
        let (mut rotation, mut angular_momentum) = (from.rotation, from.angular_momentum);
        for _ in 0..pieces.count {
            (rotation, angular_momentum) = series.turn(body, &rotation, &angular_momentum, &pieces);
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

    /// Returns upper bounds of the angular velocity $\Omega$ and its time derivative along the exact flight from a state. The
    /// bounds follow from $\lvert\dot\Omega_i\rvert = \lvert(J_j - J_k)/J_i\rvert\lvert\Omega_j\Omega_k\rvert$ with the principal
    /// moments $J_i$. The vector of the three products $\Omega_j\Omega_k$ has at most the norm $\lvert\Omega\rvert^2/\sqrt3$. For
    /// a slender body, each principal axis is bounded separately.
    fn turning(&self, body: &RigidBody, from: &State, _time: f64) -> Turning {
        if body.is_slender() {
            return exact_rates(body, from).into();
        }
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
