//! Discrete flights in uniform gravity.

use super::{DifferentiableFlight, Flight, PathRate, TurningDerivative, check_gravity};
use crate::increment::{discrete_rotational_energy, increment, increment_rate};
use crate::rates::{AxisRates, axis_rates};
use crate::turning::{Drive, Turning};
use crate::{RigidBody, State, VariationalError};
use carom_lie::{So3, hat};
use nalgebra::{Matrix3, Vector3};

const SECOND_ORDER: [f64; 1] = [1.0];

/// Suzuki's fractions of a step: $1/(4 - 4^{1/3})$ twice, the remainder to 1, and twice again.
const SUZUKI_4: [f64; 5] = [SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI];
/// First fraction of Suzuki's composition, $1/(4 - 4^{1/3})$.
const SUZUKI: f64 = 0.414_490_771_794_375_7;

/// Yoshida's fractions of a step: $1/(2 - 2^{1/3})$, the remainder to 1, and the first again.
const YOSHIDA_4: [f64; 3] = [YOSHIDA, 1.0 - 2.0 * YOSHIDA, YOSHIDA];
/// First fraction of Yoshida's composition, $1/(2 - 2^{1/3})$.
const YOSHIDA: f64 = 1.351_207_191_959_657_6;

/// Fractions of a step by Yoshida (1990), sixth order, solution A.
const YOSHIDA_6: [f64; 7] = [
    0.784_513_610_477_557_3,
    0.235_573_213_359_358_13,
    -1.177_679_984_178_871,
    1.315_186_320_683_911_2,
    -1.177_679_984_178_871,
    0.235_573_213_359_358_13,
    0.784_513_610_477_557_3,
];

/// Angle of a step whose square is below rounding error (rad).
const LEAST_TURN: f64 = 1e-8;

/// Lie group variational integrator for the motion of a rigid body between impacts, in uniform gravity.
///
/// The center of mass falls exactly. A step of length $t$ changes the attitude $R$ and the angular momentum $\Pi$ (body axes) to
/// $R' = RF$, $\Pi' = F^T\Pi$. The rotation $F$ solves $(FJ_d - J_dF^T)^\vee = t\Pi$ with the nonstandard inertia $J_d$
/// ([`RigidBody::nonstandard_inertia`]). The step is of second order, symmetric and symplectic. For every step length for which
/// the equation can be solved, the step conserves $R\Pi$, $\lvert\Pi\rvert$ and the rotational energy exactly. The energy is
/// conserved because $\Pi^TJ_d^2\Pi$ is, and because $J^{-1}$ is a linear combination of $I$ and $J_d^2$. Integrators of higher
/// order are compositions of such steps, whose lengths are fractions of the time that add up to 1; they conserve the same
/// quantities.
///
/// Tran & Leok, Sections 3 and 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeFlight {
    gravity: Vector3<f64>,
    fractions: &'static [f64],
}

impl FreeFlight {
    /// Creates the Lie group variational integrator of second order. `gravity` is the acceleration of gravity in world axes
    /// (m/s²).
    pub fn lgvi(gravity: Vector3<f64>) -> Self {
        Self {
            gravity,
            fractions: &SECOND_ORDER,
        }
    }

    /// Creates the variational integrator of fourth order: Suzuki's composition of five steps of second order. `gravity` is an
    /// acceleration in world axes (m/s²).
    pub fn suzuki4(gravity: Vector3<f64>) -> Self {
        Self {
            gravity,
            fractions: &SUZUKI_4,
        }
    }

    /// Creates the variational integrator of fourth order by Yoshida's composition of three steps of second order. Its errors
    /// are some 100 times larger than those of [`suzuki4`](Self::suzuki4). `gravity` is an acceleration in world axes (m/s²).
    pub fn yoshida4(gravity: Vector3<f64>) -> Self {
        Self {
            gravity,
            fractions: &YOSHIDA_4,
        }
    }

    /// Creates the variational integrator of sixth order: Yoshida's composition of seven steps of second order. `gravity` is an
    /// acceleration in world axes (m/s²).
    pub fn yoshida6(gravity: Vector3<f64>) -> Self {
        Self {
            gravity,
            fractions: &YOSHIDA_6,
        }
    }

    /// Returns upper bounds of the angular rates of a body about its principal axes, and of their derivatives, along the flight
    /// from a state for the duration `time` (s). Returns `None` if one of the composed second-order steps could turn the body
    /// by more than 77°. For an inertia that no mass distribution has, bounds of the norms stand for all axes.
    pub fn axis_rates(&self, body: &RigidBody, from: &State, time: f64) -> Option<AxisRates> {
        if body.ratio() > 1.0 {
            let Turning { rate, acceleration } = self.turning_by_norm(body, from, time);
            return rate.is_finite().then(|| AxisRates {
                rate: Vector3::repeat(rate),
                acceleration: Vector3::repeat(acceleration),
            });
        }
        axis_rates(body, from, time, self.fractions)
    }

    /// Returns upper bounds of the angular rate and its time derivative along a flight of the duration `time` (s) that is
    /// composed of several second-order steps. For each step, only norms of vectors are bounded, which is fast.
    fn turning_by_norm(&self, body: &RigidBody, from: &State, time: f64) -> Turning {
        let spin = body.angular_velocity_bound(from);
        let momentum = from.angular_momentum.norm();
        let mut total = Turning::default();
        for fraction in self.fractions {
            let fraction = fraction.abs();
            // Bounds of the derivatives of the angular momentum at the start of the stage, from the rotation before it.
            let first = momentum * total.rate;
            let second = momentum * (total.rate * total.rate + total.acceleration);
            let stage = Turning::of_increment(
                body,
                &Drive {
                    q: fraction * time * spin,
                    rate: fraction * (spin + time * first / body.moments().x),
                    first: fraction * (momentum + time * first),
                    second: fraction * (2.0 * first + time * second),
                },
            );
            total = total.then(&stage);
        }
        total
    }

    /// Returns the position (m) and the momentum (N s) of the center of mass after a free fall of the duration `time` (s),
    /// without discretization error.
    #[inline]
    fn fall(&self, body: &RigidBody, from: &State, time: f64) -> (Vector3<f64>, Vector3<f64>) {
        let drop = self.gravity * (0.5 * time * time);
        // Adds small terms first: rounding the height twice would be a bias that shows in long runs.
        let position = from.position + (from.linear_momentum * (time / body.mass()) + drop);
        let momentum = from.linear_momentum + self.gravity * (body.mass() * time);
        (position, momentum)
    }
}

impl Flight for FreeFlight {
    #[inline]
    fn advance(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<State, VariationalError> {
        check_gravity(&self.gravity)?;
        let (position, linear_momentum) = self.fall(body, from, time);
        let (mut rotation, mut angular_momentum) = (from.rotation, from.angular_momentum);
        for fraction in self.fractions {
            let f = increment(body, &(angular_momentum * (fraction * time)))?;
            rotation = rotation.compose_cayley(&f);
            angular_momentum = So3::cayley_back(&f, &angular_momentum);
        }
        Ok(State {
            position,
            rotation,
            linear_momentum,
            angular_momentum,
        })
    }

    fn advance_with_rate(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
    ) -> Result<(State, PathRate), VariationalError> {
        check_gravity(&self.gravity)?;
        let (position, linear_momentum) = self.fall(body, from, time);
        let (mut rotation, mut angular_momentum) = (from.rotation, from.angular_momentum);
        let mut angular = Vector3::zeros();
        for fraction in self.fractions {
            let a = angular_momentum * (fraction * time);
            let f = increment(body, &a)?;
            // The angular momentum is constant in world axes, so in body axes it turns against the attitude.
            let momentum_rate = angular_momentum.cross(&angular);
            let a_rate = (angular_momentum + momentum_rate * time) * *fraction;
            angular = So3::cayley_back(&f, &angular) + increment_rate(body, &a, &f, &a_rate);
            rotation = rotation.compose_cayley(&f);
            angular_momentum = So3::cayley_back(&f, &angular_momentum);
        }
        let state = State {
            position,
            rotation,
            linear_momentum,
            angular_momentum,
        };
        let linear = linear_momentum / body.mass();
        Ok((state, PathRate { linear, angular }))
    }

    #[inline]
    fn acceleration(&self, _body: &RigidBody, _from: &State) -> Vector3<f64> {
        self.gravity
    }

    /// Returns upper bounds of the angular rate and its time derivative along a flight of the duration `time` (s). The bounds use
    /// norms of vectors, which is fast. Each principal axis is bounded separately for a slender body, and if a step is too large
    /// for the bounds by norms.
    fn turning(&self, body: &RigidBody, from: &State, time: f64) -> Turning {
        let plain = if body.is_slender() {
            Turning::UNKNOWN
        } else {
            self.turning_by_norm(body, from, time)
        };
        if plain.rate.is_finite() {
            return plain;
        }
        let rates = self.axis_rates(body, from, time);
        rates.map_or(Turning::UNKNOWN, Turning::from)
    }

    fn is_uniform(&self) -> bool {
        true
    }

    #[inline]
    fn potential_energy(&self, body: &RigidBody, state: &State) -> f64 {
        -body.mass() * self.gravity.dot(&state.position)
    }

    fn discrete_energy(
        &self,
        body: &RigidBody,
        state: &State,
        time: f64,
    ) -> Result<Option<f64>, VariationalError> {
        check_gravity(&self.gravity)?;
        if self.fractions.len() > 1 {
            return Ok(None);
        }
        let translation = body.translational_energy(state) + self.potential_energy(body, state)
            - body.mass() * self.gravity.norm_squared() * time * time / 8.0;
        let rotation = if time == 0.0 {
            body.rotational_energy(state)
        } else {
            let f = increment(body, &(state.angular_momentum * time))?;
            discrete_rotational_energy(body.inertia(), &f, time)
        };
        Ok(Some(translation + rotation))
    }
}

impl DifferentiableFlight for FreeFlight {
    fn is_flow(&self) -> bool {
        false
    }

    /// Updates the derivative `turning` of attitude and angular momentum for one more flight, of the duration `time` (s), step by
    /// step of the composition. One step of length $t$ rotates the body by $F$, with $(FJ_d - J_dF^T)^\vee = t\Pi$. $\Pi$ is the
    /// angular momentum and $J_d = \mathrm{tr}(J)I/2 - J$ with the inertia $J$. A small rotation $\zeta$ of the attitude and a
    /// change $\delta\Pi$ become $\zeta' = F^T(\zeta + tC\delta\Pi)$, with $A = FJ_d$ and $C = (\mathrm{tr}(A)I - A)^{-1}$.
    fn append_to(
        &self,
        body: &RigidBody,
        from: &State,
        time: f64,
        turning: &mut TurningDerivative,
    ) -> Result<(), VariationalError> {
        let nonstandard = body.nonstandard_inertia();
        let mut momentum = from.angular_momentum;
        for fraction in self.fractions {
            let part = fraction * time;
            let f = increment(body, &(momentum * part))?;
            let back = So3::cayley(&f).matrix().transpose();
            let a = back.transpose() * nonstandard;
            let slope = Matrix3::from_diagonal_element(a.trace()) - a;
            // The matrix is regular on the branch of the identity, on which the increment was found.
            let inverse = slope.try_inverse().ok_or(VariationalError::StepTooLarge {
                h_omega: body.angular_velocity(&momentum).norm() * part.abs(),
            })?;
            turning.swing = back * (turning.swing + inverse * turning.momentum * part);
            turning.turn = back * turning.turn;
            momentum = So3::cayley_back(&f, &momentum);
            turning.momentum = turning.turn + hat(&momentum) * turning.swing;
        }
        Ok(())
    }

    /// Returns the derivatives of the discrete energy of one step with respect to the angular momentum $\Pi$ (rad/s) and to the
    /// step length $t$ (W). The rotational energy is $K/t^2$ with $K = \mathrm{tr}\lbrack(I - F)J_d\rbrack$, the rotation $F$ of
    /// the step, and $J_d = \mathrm{tr}(J)I/2 - J$ with the inertia $J$. If $F$ varies by $\delta F = FS(w)$, with the
    /// cross-product matrix $S(w)$, then $K$ varies by $\delta K = t w\cdot F^T\Pi$. Returns `None` for a composition of several
    /// steps.
    fn discrete_energy_derivative(
        &self,
        body: &RigidBody,
        state: &State,
        time: f64,
    ) -> Result<Option<(Vector3<f64>, f64)>, VariationalError> {
        if self.fractions.len() > 1 {
            return Ok(None);
        }
        let momentum = &state.angular_momentum;
        let falling = -0.25 * body.mass() * self.gravity.norm_squared() * time;
        let spin = body.angular_velocity(momentum);
        // The energy is an even function of the time: for short times its quadratic term is below rounding error.
        if time * spin.norm() <= LEAST_TURN {
            return Ok(Some((spin, falling)));
        }
        let a = momentum * time;
        let f = increment(body, &a)?;
        let after = So3::cayley_back(&f, momentum);
        let turned = |by: &Vector3<f64>| increment_rate(body, &a, &f, by).dot(&after);
        let by_momentum = Vector3::from_fn(|i, _| turned(&Vector3::ith(i, 1.0)));
        let energy = discrete_rotational_energy(body.inertia(), &f, time);
        let by_time = (turned(momentum) - 2.0 * energy) / time;
        Ok(Some((by_momentum, falling + by_time)))
    }
}
