//! Variational integrator in a general potential.

use super::{Flight, PathRate};
use crate::increment::{increment, increment_rate};
use crate::turning::{Drive, Turning};
use crate::{RigidBody, State, VariationalError};
use carom_lie::So3;
use nalgebra::Vector3;
use std::fmt;

/// Potential energy $U(x, R)$ of a rigid body as a function of its position $x$ and attitude $R$. An implementation computes the
/// energy, the force and the moment.
pub trait Potential: fmt::Debug {
    /// Returns the potential energy $U$ (J) of the body at a position and attitude.
    fn energy(&self, position: &Vector3<f64>, rotation: &So3) -> f64;

    /// Returns the force $-\partial U/\partial x$ of the potential energy $U$ on the body, in world axes (N); $x$ is the
    /// position.
    fn force(&self, position: &Vector3<f64>, rotation: &So3) -> Vector3<f64>;

    /// Returns the moment $M$ of the potential energy $U$ on the body, in body axes (N·m). The moment satisfies $\delta U =
    /// -M\cdot\zeta$ for a small rotation vector $\zeta$ of the attitude $R$, $\delta R = RS(\zeta)$, with the cross-product
    /// matrix $S(\zeta)$.
    fn moment(&self, position: &Vector3<f64>, rotation: &So3) -> Vector3<f64>;
}

/// Lie group variational integrator for a rigid body in a potential: second order, symmetric, symplectic. The step of length
/// $t$ takes position $x$, linear momentum $\gamma$ and angular momentum $\Pi$ to the values with a prime. $F$ is the force,
/// $M$ the moment in body axes, $F_k$ the rotation during the step, $J_d$ the nonstandard inertia:
///
/// $$ x' = x + \tfrac tm\gamma + \tfrac{t^2}{2m}F, \quad (F_kJ_d - J_dF_k^T)^\vee = t\Pi +
///    \tfrac{t^2}{2}M, \quad \gamma' = \gamma + \tfrac t2(F + F'), \quad
///    \Pi' = F_k^T(\Pi + \tfrac t2M) + \tfrac t2M'. $$
///
/// Unlike in uniform gravity, the energy is conserved only up to oscillations of size $t^2$.
///
/// # Examples
///
/// ```
/// use carom_geometry::MassProperties;
/// use carom_lie::So3;
/// use carom_variational::{Flight, Potential, PotentialFlight, RigidBody, State};
/// use nalgebra::{Matrix3, Vector3};
/// /// A spring of 8 N/m that pulls to the origin.
/// #[derive(Debug)]
/// struct Spring;
/// impl Potential for Spring {
///     fn energy(&self, x: &Vector3<f64>, _: &So3) -> f64 {
///         4.0 * x.norm_squared()
///     }
///     fn force(&self, x: &Vector3<f64>, _: &So3) -> Vector3<f64> {
///         -8.0 * x
///     }
///     fn moment(&self, _: &Vector3<f64>, _: &So3) -> Vector3<f64> {
///         Vector3::zeros()
///     }
/// }
/// let body = RigidBody::new(&MassProperties::new(2.0, Matrix3::identity())?);
/// let start = State {
///     position: Vector3::new(0.1, 0.0, 0.0),
///     rotation: So3::identity(),
///     linear_momentum: Vector3::zeros(),
///     angular_momentum: Vector3::zeros(),
/// };
/// let flight = PotentialFlight::new(Spring);
/// // The period is 2π√(m/k) = π.
/// let (mut state, step) = (start, std::f64::consts::PI / 1000.0);
/// for _ in 0..1000 {
///     state = flight.advance(&body, &state, step)?;
/// }
/// assert!((state.position - start.position).norm() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PotentialFlight<P> {
    potential: P,
}

/// Increment of the attitude in a step.
struct Increment {
    /// Driving vector $t\Pi + \tfrac{t^2}2M$.
    a: Vector3<f64>,
    /// Cayley vector of the increment.
    f: Vector3<f64>,
    /// Moment of the potential at the start of the step, in body axes (N·m).
    moment: Vector3<f64>,
}

impl<P: Potential> PotentialFlight<P> {
    /// Creates the variational integrator for the motion of a body in the given potential energy.
    pub fn new(potential: P) -> Self {
        Self { potential }
    }

    /// Computes the rotation of the body in a step of the length `time` (s) from the state `from`, and the moment of the
    /// potential energy at the start of the step.
    fn increment(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<Increment, VariationalError> {
        let moment = self.potential.moment(&from.position, &from.rotation);
        let a = (from.angular_momentum + moment * (0.5 * time)) * time;
        let f = increment(body, &a)?;
        Ok(Increment { a, f, moment })
    }

    fn arrive(&self, body: &RigidBody, from: &State, time: f64, increment: &Increment) -> State {
        let Increment { f, moment, .. } = increment;
        let force = self.potential.force(&from.position, &from.rotation);
        let drift = from.linear_momentum + force * (0.5 * time);
        let position = from.position + drift * (time / body.mass());
        let rotation = from.rotation.compose_cayley(f);
        let half = 0.5 * time;
        let carried = So3::cayley_back(f, &(from.angular_momentum + moment * half));
        State {
            position,
            rotation,
            linear_momentum: drift + self.potential.force(&position, &rotation) * half,
            angular_momentum: carried + self.potential.moment(&position, &rotation) * half,
        }
    }
}

impl<P: Potential> Flight for PotentialFlight<P> {
    fn advance(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<State, VariationalError> {
        let increment = self.increment(body, from, time)?;
        Ok(self.arrive(body, from, time, &increment))
    }

    fn advance_with_rate(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<(State, PathRate), VariationalError> {
        let increment = self.increment(body, from, time)?;
        let a_rate = from.angular_momentum + increment.moment * time;
        let force = self.potential.force(&from.position, &from.rotation);
        let rate = PathRate {
            linear: (from.linear_momentum + force * time) / body.mass(),
            angular: increment_rate(body, &increment.a, &increment.f, &a_rate),
        };
        Ok((self.arrive(body, from, time, &increment), rate))
    }

    fn acceleration(&self, body: &RigidBody, from: &State) -> Vector3<f64> {
        self.potential.force(&from.position, &from.rotation) / body.mass()
    }

    fn turning(&self, body: &RigidBody, from: &State, time: f64) -> Turning {
        let smallest = body.moments().x;
        let moment = self.potential.moment(&from.position, &from.rotation).norm();
        let spin = body.angular_velocity_bound(from) + time * moment / smallest;
        Turning::of_increment(
            body,
            &Drive {
                q: time * spin,
                rate: spin,
                first: from.angular_momentum.norm() + time * moment,
                second: moment,
            },
        )
    }

    fn is_uniform(&self) -> bool {
        false
    }

    fn potential_energy(&self, _body: &RigidBody, state: &State) -> f64 {
        self.potential.energy(&state.position, &state.rotation)
    }
}
