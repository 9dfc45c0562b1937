//! Propagation of small differences through the impact of one contact.

use super::{Columns, N_COLUMNS, Row, STATES};
use crate::flying::{Impact, ImpactPoint};
use carom_lie::hat;
use carom_variational::{PathRate, RigidBody, State};
use nalgebra::{Matrix3, SMatrix, SVector, Vector3};

/// Cosine between the normals of two contacts in the kinetic metric below which it counts as zero.
const COUPLING: f64 = 1e-12;

/// Difference of two states: $(\delta x, \zeta, \delta\gamma, \delta\Pi)$.
pub(super) type Difference = SVector<f64, STATES>;

/// Contact of a body with the plane at the time of its impact.
pub(super) struct Strike<'a> {
    body: &'a RigidBody,
    before: &'a State,
    after: &'a State,
    normal: Vector3<f64>,
    /// Moment $\chi = \rho\times d$ of the normal in body axes, and its product $J^{-1}\chi$.
    moment: Vector3<f64>,
    lever: Vector3<f64>,
    /// Matrix $X$ in $\delta\chi = X\zeta$.
    moment_by_turn: Matrix3<f64>,
    gap_rate: f64,
    impulse: f64,
    /// Inverse effective mass $\kappa$ (1/kg).
    mobility: f64,
}

impl<'a> Strike<'a> {
    /// Creates the contact of the impact at one body point, for the propagation of derivatives. `support_derivative` is
    /// $H = \partial\rho/\partial d$, the derivative of the lowest body point $\rho$ with respect to the plane normal
    /// $d$ in body axes. This derivative determines the derivative of the moment $\chi = \rho\times d$ for a small
    /// rotation of the body: $X = (S(\rho) - S(d)H)S(d)$, with the skew-symmetric matrix $S$ of a vector.
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

    /// Returns the gradient $(n, \chi, 0, 0)$ of the gap with respect to position, attitude, linear and angular momentum. Here
    /// $n$ is the plane normal and $\chi$ its moment about the center of mass, in body axes.
    pub(super) fn gradient(&self) -> Difference {
        difference(
            &self.normal,
            &self.moment,
            &Vector3::zeros(),
            &Vector3::zeros(),
        )
    }

    /// Returns the time derivative of the gap (m/s) for a body that moves with the linear and angular velocity `path`.
    pub(super) fn rate(&self, path: &PathRate) -> f64 {
        self.normal.dot(&path.linear) + self.moment.dot(&path.angular)
    }

    /// Returns the normal component of the velocity before the impact divided by the whole velocity, both in the
    /// kinetic norm (the square root of $v\cdot Mv$). The result is zero for a graze.
    pub(super) fn margin(&self) -> f64 {
        let energy =
            self.body.translational_energy(self.before) + self.body.rotational_energy(self.before);
        self.gap_rate.abs() / (self.mobility * 2.0 * energy).sqrt()
    }

    /// True if the contact grazes: the time derivative of the gap, `rate` (m/s), is at most `tolerance` times the norm of the
    /// gap's gradient times the speed.
    pub(super) fn is_grazed_at(&self, rate: f64, tolerance: f64) -> bool {
        let spin = self.body.angular_velocity(&self.before.angular_momentum);
        let speed = self.before.linear_momentum.norm() / self.body.mass();
        let size = libm::hypot(1.0, self.moment.norm()) * libm::hypot(speed, spin.norm());
        !(rate.abs() > tolerance * size)
    }

    /// True if an impulse at this contact changes the normal velocity at the other contact of the body.
    pub(super) fn acts_on(&self, other: &Self) -> bool {
        let coupling = 1.0 / self.body.mass() + self.lever.dot(&other.moment);
        coupling.abs() > COUPLING * (self.mobility * other.mobility).sqrt()
    }

    /// Returns the time derivative of `state` in free flight, without discretization error: the derivatives of position,
    /// attitude, linear and angular momentum.
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

    /// Returns the derivative of the state after the impact for Newton's impulse $\lambda = -(1+e)u/\kappa$, with the restitution
    /// $e$, the normal velocity $u$ and the inverse effective mass $\kappa$. The impulse varies by $\delta\lambda = -(1+e)(\delta
    /// u/\kappa - u \delta\kappa/\kappa^2) - \delta e u/\kappa$, where $\delta u = \tfrac1mn\cdot\delta\gamma +
    /// \delta\chi\cdot\Omega + J^{-1}\chi\cdot\delta\Pi$ and $\delta\kappa = 2J^{-1}\chi\cdot\delta\chi$. Here $m$ and $J$ are
    /// mass and inertia, $n$ the plane normal, $\chi$ its moment in body axes, $\Omega$ the angular velocity, and $\gamma$ and
    /// $\Pi$ the linear and angular momentum.
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

    /// Returns the derivative of the state after the impact for the impulse that makes the discrete energies $E_d$ of the flights
    /// before and after equal: $E_d(s^+, t^+) = E_d(s^-, t^-)$, Tran & Leok, Eq. (22a). Here $s^-$ and $s^+$ are the momenta
    /// before and after, and $t^-$ and $t^+$ the durations of the flights. With $s^+ = s^- + \lambda(n, \chi)$, the change of the
    /// impulse $\lambda$ follows from the derivatives of both sides.
    ///
    /// `energies` are the derivatives of $E_d$ with respect to angular momentum and time, before and after the impact; `times`
    /// are the durations of the two flights (s).
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

    /// Returns the derivative of the state after the impact if the impulse has the derivative `impulse_by_state` with respect to
    /// the state before it.
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

    /// Returns the change of the state by a unit impulse at the contact: $(0, 0, n, \chi)$. Position and attitude do not change.
    /// The linear momentum changes by the plane normal $n$, the angular momentum by its moment $\chi$.
    fn push(&self) -> Difference {
        difference(
            &Vector3::zeros(),
            &Vector3::zeros(),
            &self.normal,
            &self.moment,
        )
    }
}

/// Derivative of the state after an impact, at fixed configuration and time of the impact.
pub(super) struct Reset {
    /// Derivative with respect to the state before the impact, $R_x$.
    pub(super) by_state: SMatrix<f64, STATES, STATES>,
    pub(super) by_restitution: Difference,
    /// Derivatives with respect to the durations of the flights before and after the impact.
    pub(super) by_times: [Difference; 2],
    pub(super) by_gravity: SMatrix<f64, STATES, 3>,
}

/// Joins the changes of position, attitude, linear and angular momentum into one vector.
fn difference(
    position: &Vector3<f64>,
    attitude: &Vector3<f64>,
    linear: &Vector3<f64>,
    angular: &Vector3<f64>,
) -> Difference {
    let parts = [position, attitude, linear, angular];
    Difference::from_fn(|i, _| parts[i / 3][i % 3])
}

/// Returns the time derivative of a state that moves with the linear and angular velocity `path` under gravity. The angular
/// momentum is constant in world axes.
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

/// Corrects the propagated derivatives of the state at an impact for the change of the time of impact. For a column $\delta x$ of
/// `columns`, the time changes by $\delta t = -\nabla\Phi\cdot\delta x/\dot\Phi$, and the column changes by $\delta t$ times
/// `flow`. Here `gradient` is $\nabla\Phi$, the gradient of the gap, `rate` the gap rate $\dot\Phi$ (m/s), and `flow` the time
/// derivative of the state. Returns the changes $\delta t$, one entry per column.
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
