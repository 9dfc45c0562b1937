//! Propagation of small differences through the impact of one contact.

use super::{Columns, N_COLUMNS, Row, STATES};
use crate::flying::{Impact, ImpactPoint};
use carom_lie::hat;
use carom_variational::{PathRate, RigidBody, State};
use nalgebra::{Matrix3, SMatrix, SVector, Vector3};

/// Cosine of two contacts' normals in the kinetic metric that is rounding.
const COUPLING: f64 = 1e-12;

/// A difference of states: $(\delta x, \zeta, \delta\gamma, \delta\Pi)$.
pub(super) type Difference = SVector<f64, STATES>;

/// One contact of a body with the plane at the time of its impact.
pub(super) struct Strike<'a> {
    body: &'a RigidBody,
    before: &'a State,
    after: &'a State,
    normal: Vector3<f64>,
    /// $\chi = \rho\times d$, and what it is multiplied with: $J^{-1}\chi$.
    moment: Vector3<f64>,
    lever: Vector3<f64>,
    /// $X$ of $\delta\chi = X\zeta$.
    moment_by_turn: Matrix3<f64>,
    gap_rate: f64,
    impulse: f64,
    /// Inverse effective mass $\kappa$.
    mobility: f64,
}

impl<'a> Strike<'a> {
    /// A contact in a point of the body that moves by `support_derivative`,
    /// $H = \partial\rho/\partial d$: $X = (S(\rho) - S(d)H)S(d)$.
    pub(super) fn new(
        body: &'a RigidBody,
        impact: &'a Impact,
        point: &ImpactPoint,
        normal: &Vector3<f64>,
        support_derivative: &Matrix3<f64>,
    ) -> Self {
        let d = hat(&impact.normal_b);
        let moment = point.point_b.cross(&impact.normal_b);
        let lever = body.angular_velocity(&moment);
        Self {
            body,
            before: &impact.before,
            after: &impact.after,
            normal: *normal,
            moment,
            lever,
            moment_by_turn: (hat(&point.point_b) - d * support_derivative) * d,
            gap_rate: point.gap_rate,
            impulse: point.impulse,
            mobility: 1.0 / body.mass() + moment.dot(&lever),
        }
    }

    /// Gradient of the gap, $(n, \chi, 0, 0)$.
    pub(super) fn gradient(&self) -> Difference {
        difference(
            &self.normal,
            &self.moment,
            &Vector3::zeros(),
            &Vector3::zeros(),
        )
    }

    /// Rate of the gap on a path.
    pub(super) fn rate(&self, path: &PathRate) -> f64 {
        self.normal.dot(&path.linear) + self.moment.dot(&path.angular)
    }

    /// Part of the velocity, in the kinetic norm, by which the body misses the plane.
    pub(super) fn margin(&self) -> f64 {
        let energy =
            self.body.translational_energy(self.before) + self.body.rotational_energy(self.before);
        self.gap_rate.abs() / (self.mobility * 2.0 * energy).sqrt()
    }

    /// True if a rate of the gap is lost against the size of gradient and velocity.
    pub(super) fn is_grazed_at(&self, rate: f64, tolerance: f64) -> bool {
        let spin = self.body.angular_velocity(&self.before.angular_momentum);
        let speed = self.before.linear_momentum.norm() / self.body.mass();
        let size = libm::hypot(1.0, self.moment.norm()) * libm::hypot(speed, spin.norm());
        !(rate.abs() > tolerance * size)
    }

    /// True if an impulse at this contact changes the rate of another gap.
    pub(super) fn acts_on(&self, other: &Self) -> bool {
        let coupling = 1.0 / self.body.mass() + self.lever.dot(&other.moment);
        coupling.abs() > COUPLING * (self.mobility * other.mobility).sqrt()
    }

    /// Velocities of the continuous flow, before or after.
    pub(super) fn flow(&self, state: &State, gravity: &Vector3<f64>) -> Difference {
        let path = PathRate {
            linear: state.linear_momentum / self.body.mass(),
            angular: self.body.angular_velocity(&state.angular_momentum),
        };
        state_rate(self.body, state, &path, gravity)
    }

    pub(super) fn flows(&self, gravity: &Vector3<f64>) -> [Difference; 2] {
        [self.before, self.after].map(|state| self.flow(state, gravity))
    }

    /// The reset by Newton's impulse $\lambda = -(1+e)u/\kappa$: with
    /// $\delta u = \tfrac1mn\cdot\delta\gamma + \delta\chi\cdot\Omega + J^{-1}\chi\cdot\delta\Pi$ and
    /// $\delta\kappa = 2J^{-1}\chi\cdot\delta\chi$,
    /// $\delta\lambda = -(1+e)(\delta u/\kappa - u \delta\kappa/\kappa^2) - \delta e u/\kappa$.
    pub(super) fn newton(&self, restitution: f64) -> Reset {
        let spin = self.body.angular_velocity(&self.before.angular_momentum);
        let by_moment = spin - self.lever * (2.0 * self.gap_rate / self.mobility);
        let by_state = difference(
            &Vector3::zeros(),
            &(self.moment_by_turn.transpose() * by_moment),
            &(self.normal / self.body.mass()),
            &self.lever,
        ) * (-(1.0 + restitution) / self.mobility);
        Reset {
            by_restitution: self.push() * (-self.gap_rate / self.mobility),
            ..self.reset(&by_state)
        }
    }

    /// The reset by the impulse that balances the discrete energies of the flights before and after,
    /// $E_d(s^+, t^+) = E_d(s^-, t^-)$, Tran & Leok, Eq. (22a): with $s^+ = s^- + \lambda(n, \chi)$,
    /// $\delta\lambda$ follows from the derivatives of both sides.
    ///
    /// `energies` are those by angular momentum and time, before and after.
    pub(super) fn balanced(
        &self,
        energies: [(Vector3<f64>, f64); 2],
        times: [f64; 2],
        gravity: &Vector3<f64>,
    ) -> Reset {
        let [(spin, power), (spin_after, power_after)] = energies;
        let m = self.body.mass();
        let gain = self.normal.dot(&self.after.linear_momentum) / m + self.moment.dot(&spin_after);
        let by_state = difference(
            &Vector3::zeros(),
            &(self.moment_by_turn.transpose() * spin_after * self.impulse),
            &(self.normal * (self.impulse / m)),
            &(spin_after - spin),
        ) / -gain;
        let [before, after] = times;
        let by_gravity = gravity * (0.25 * m * (after * after - before * before) / gain);
        Reset {
            by_times: [
                self.push() * (power / gain),
                self.push() * (-power_after / gain),
            ],
            by_gravity: self.push() * by_gravity.transpose(),
            ..self.reset(&by_state)
        }
    }

    /// The reset by an impulse with this derivative by the state.
    fn reset(&self, impulse_by_state: &Difference) -> Reset {
        let mut by_state = SMatrix::<f64, STATES, STATES>::identity();
        let mut turned = by_state.fixed_view_mut::<3, 3>(9, 3);
        turned += self.moment_by_turn * self.impulse;
        Reset {
            by_state: by_state + self.push() * impulse_by_state.transpose(),
            by_restitution: Difference::zeros(),
            by_times: [Difference::zeros(); 2],
            by_gravity: SMatrix::zeros(),
        }
    }

    /// Change by a unit of impulse: $(0, 0, n, \chi)$.
    fn push(&self) -> Difference {
        difference(
            &Vector3::zeros(),
            &Vector3::zeros(),
            &self.normal,
            &self.moment,
        )
    }
}

/// Derivative of the state after an impact, at the configuration and time of the impact.
pub(super) struct Reset {
    /// By the state before, $R_x$.
    pub(super) by_state: SMatrix<f64, STATES, STATES>,
    pub(super) by_restitution: Difference,
    /// By the times of the flights before and after.
    pub(super) by_times: [Difference; 2],
    pub(super) by_gravity: SMatrix<f64, STATES, 3>,
}

/// A difference of states from its four parts.
fn difference(
    position: &Vector3<f64>,
    attitude: &Vector3<f64>,
    linear: &Vector3<f64>,
    angular: &Vector3<f64>,
) -> Difference {
    let parts = [position, attitude, linear, angular];
    Difference::from_fn(|i, _| parts[i / 3][i % 3])
}

/// Rate of change of a state along a path: gravity pulls, and $R\Pi$ stays.
pub(super) fn state_rate(
    body: &RigidBody,
    state: &State,
    path: &PathRate,
    gravity: &Vector3<f64>,
) -> Difference {
    let torque = state.angular_momentum.cross(&path.angular);
    difference(
        &path.linear,
        &path.angular,
        &(gravity * body.mass()),
        &torque,
    )
}

/// Moves every column by what the change of the time of impact makes of it; returns that change.
pub(super) fn retime(
    columns: &mut Columns,
    gradient: &Difference,
    rate: f64,
    flow: &Difference,
) -> Row {
    let mut change = Row::zeros();
    for k in 0..N_COLUMNS {
        let mut column = columns.column_mut(k);
        change[k] = -gradient.dot(&column) / rate;
        column += flow * change[k];
    }
    change
}
