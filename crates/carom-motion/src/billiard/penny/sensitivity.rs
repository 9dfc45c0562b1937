//! Sensitivity of orbits: Jacobians, Lyapunov exponents, Poincaré section.
//!
//! States are $z = (x, y, \varphi, \Omega, \omega)$; $\theta$ does not influence them. An impact
//! maps perturbations by the saltation matrix
//!
//! $$ \Xi = D + \frac{(f^+ - Df^-)\nabla g^T}{\nabla g\cdot f^-} $$
//!
//! with the Jacobian $D$ of the impact map at fixed time, the vector field $f$ before and
//! after, and the gradient $\nabla g$ of the wall function as a function of the state. The
//! elastic penny preserves the volume $\mathrm dx\mathrm dy\mathrm d\varphi\mathrm d\Omega\mathrm d\omega$
//! on every table, $|\det\Xi| = 1$. For the other laws $|\det\Xi|$ is the
//! square of the effective restitution.

use super::{Event, PennyBilliard, PennyState, RollingPenny, Run};
use crate::billiard::trig::{sinc, sinc_derivative};
use crate::billiard::{BilliardError, Table};
use crate::hybrid::{Ending, Limits};
use carom_derivative::sensitivity::{Regularity, Sensitivity, SensitivityEvent};
use carom_impact::Restitution;
use nalgebra::{DMatrix, DVector, Matrix2, Matrix5, Vector2, Vector5};

/// Indices of $(x, y, \varphi, \Omega, \omega)$ among $(x, y, \theta, \varphi, \Omega, \omega)$.
const PLACES: [usize; 5] = [0, 1, 3, 4, 5];
/// Index of $\theta$ in the full state.
const THETA: usize = 2;
/// Index of the rolling rate $\Omega$ in the full state.
const SPIN: usize = 4;

/// Fraction of gradient times velocity below which a rate of the wall function counts as grazing.
const GRAZING: f64 = 1e-9;

/// Lyapunov exponents of an orbit of the penny: the mean growth rates of small perturbations of its state.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Lyapunov {
    /// Lyapunov exponents per impact. The order is that of the orthogonalization, in which the largest exponent comes first for
    /// long orbits.
    pub per_impact: [f64; 5],
    /// Lyapunov exponents per second, in the same order.
    pub per_second: [f64; 5],
    /// Number of impacts of the orbit.
    pub impacts: usize,
    /// Duration of the orbit, s.
    pub time: f64,
    /// Largest $|\ln|\det||$ of the tangent maps, each of one flight with the impact after it; 0 if the motion preserves volume.
    pub max_log_det: f64,
}

/// Point of a Poincaré section of the penny's motion: one impact with the wall, given by three angles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SectionPoint {
    /// Polar angle of the rim point that hits, about the center of the table, rad.
    pub wall_angle: f64,
    /// Angle from the outward normal of the wall to the direction of the rim, rad.
    pub heading_angle: f64,
    /// Angle $\operatorname{atan2}(\sqrt J\omega, \sqrt{I + mR^2}\sigma\Omega)$ after the impact, rad. $\Omega$ and $\omega$ are
    /// the rates of rolling and turning, $I$ and $J$ the moments of inertia about axle and vertical, $m$ the mass, $R$ the
    /// radius, and $\sigma$ the sign of the rim.
    pub velocity_angle: f64,
}

/// Returns the Jacobian of the penny's motion without impacts over the time `t` (s), starting at `state`: the 5 × 5 derivative of
/// the final state $(x, y, \varphi, \Omega, \omega)$ with respect to the initial state. The state consists of position, heading
/// and the rates of rolling and turning. The determinant is 1.
pub fn flow_jacobian(penny: &RollingPenny, state: &PennyState, t: f64) -> Matrix5<f64> {
    let half = 0.5 * state.phi_dot * t;
    let reach = t * sinc(half);
    let (sin, cos) = libm::sincos(state.phi + half);
    let along = Vector2::new(cos, sin);
    let across = Vector2::new(-sin, cos);
    let r = penny.radius();
    let chord = r * state.theta_dot * reach * along;
    let curvature = r
        * state.theta_dot
        * (0.5 * t * t * sinc_derivative(half) * along + 0.5 * reach * t * across);
    let mut jacobian = Matrix5::identity();
    jacobian[(0, 2)] = -chord.y;
    jacobian[(1, 2)] = chord.x;
    jacobian[(0, 3)] = r * reach * cos;
    jacobian[(1, 3)] = r * reach * sin;
    jacobian[(0, 4)] = curvature.x;
    jacobian[(1, 4)] = curvature.y;
    jacobian[(2, 4)] = t;
    jacobian
}

/// Extends a Jacobian of the penny's state by the rolling angle $\theta$: from $(x, y, \varphi, \Omega, \omega)$ to $(x, y,
/// \theta, \varphi, \Omega, \omega)$. Here $(x, y)$ is the position, $\varphi$ the heading, $\Omega$ and $\omega$ the rates of
/// rolling and turning. The rolling angle is copied unchanged.
fn with_rolling_angle(jacobian: &Matrix5<f64>) -> DMatrix<f64> {
    let mut all = DMatrix::identity(6, 6);
    for (i, row) in PLACES.into_iter().enumerate() {
        for (k, column) in PLACES.into_iter().enumerate() {
            all[(row, column)] = jacobian[(i, k)];
        }
    }
    all
}

fn vector_field(penny: &RollingPenny, phi: f64, theta_dot: f64, phi_dot: f64) -> Vector5<f64> {
    let (sin, cos) = libm::sincos(phi);
    let speed = penny.radius() * theta_dot;
    Vector5::new(speed * cos, speed * sin, phi_dot, 0.0, 0.0)
}

/// Impact to first order, at fixed time and configuration.
struct Crossing {
    /// Jacobian of the impact map.
    reset: Matrix5<f64>,
    /// Vector fields before and after the impact.
    minus: Vector5<f64>,
    plus: Vector5<f64>,
    /// Gradient of the wall function with respect to the state.
    gradient: Vector5<f64>,
    /// Normal part of the velocity as a fraction of the velocity, in the kinetic norm; zero for a graze.
    margin: f64,
    /// Rolling rate before the impact, and its change in the impact (rad/s).
    spin: f64,
    spin_change: f64,
    /// Derivative of $(\Omega^+, \omega^+)$ with respect to the coefficient of restitution.
    by_restitution: Vector2<f64>,
}

impl Crossing {
    /// Returns the time derivative $\nabla g\cdot f^-$ of the wall function $g$ along the motion before the impact, whose
    /// velocity field is $f^-$.
    fn rate(&self) -> f64 {
        self.gradient.dot(&self.minus)
    }

    /// Returns the saltation matrix of the impact. The matrix maps a perturbation of the penny's state $(x, y, \varphi,
    /// \Omega, \omega)$ just before the impact to the perturbation just after, and accounts for the shift of the time
    /// of impact.
    fn saltation(&self) -> Matrix5<f64> {
        let jump = self.plus - self.reset * self.minus;
        self.reset + jump * self.gradient.transpose() / self.rate()
    }

    /// Returns the saltation matrix of the impact for the penny's state with rolling angle, $(x, y, \theta, \varphi,
    /// \Omega, \omega)$. The matrix maps a perturbation of the state just before the impact to the perturbation just
    /// after. The wall does not depend on the rolling angle $\theta$.
    fn whole_saltation(&self) -> DMatrix<f64> {
        let mut saltation = with_rolling_angle(&self.saltation());
        // If the impact is later, θ grows longer with the rolling rate before it, and shorter with the rate after it.
        for (i, place) in PLACES.into_iter().enumerate() {
            saltation[(THETA, place)] = self.spin_change * self.gradient[i] / self.rate();
        }
        saltation
    }

    /// True if the impact is a graze, in which the rim moves along the wall. The rate of the wall function is then negligible
    /// against the product of gradient and speed, or the normal part of the velocity is negligible.
    fn is_grazed(&self) -> bool {
        let rate = self.rate();
        let speed = libm::hypot(self.minus.norm(), self.spin);
        !(rate.abs() > GRAZING * self.gradient.norm() * speed && self.margin > GRAZING)
    }
}

impl<T: Table> PennyBilliard<T> {
    /// Returns the saltation matrix of an impact, 5 × 5. The matrix maps a small perturbation of the penny's state $(x, y,
    /// \varphi, \Omega, \omega)$ just before the impact to the perturbation just after, and accounts for the shift of the time of
    /// impact. The state consists of position, heading and the rates of rolling and turning.
    pub fn saltation(&self, event: &Event) -> Matrix5<f64> {
        self.crossing(event).saltation()
    }

    fn crossing(&self, event: &Event) -> Crossing {
        let penny = self.penny();
        let (r, sigma) = (penny.radius(), event.rim.sign());
        let [m1, j] = [penny.rolling_inertia(), penny.heading_inertia()];
        let phi = event.state.phi;
        let (sin, cos) = libm::sincos(phi);
        let (t, s) = (Vector2::new(cos, sin), Vector2::new(-sin, cos));
        let n = self.table().gradient(event.point);
        let hessian: Matrix2<f64> = self.table().hessian(event.point);
        let (n_t, n_s) = (n.dot(&t), n.dot(&s));
        let v = Vector2::from(event.velocity_minus);
        let l = r * Vector2::new(n_t, sigma * n_s);
        let weighted = Vector2::new(l.x / m1, l.y / j);
        let restricted = l.dot(&weighted);
        let full = n.norm_squared() / penny.mass() + r * r * n_s * n_s / j;
        let u = l.dot(&v);
        let restitution = self.restitution();
        let cos2 = restricted / full;
        let kappa = 1.0 + restitution.effective(cos2);
        let slope = restitution.effective(1.0) - restitution.effective(0.0);
        let plus = v - kappa * u / restricted * weighted;

        let mut d = Matrix5::identity();
        for k in 0..5 {
            let unit = |i: usize| if i == k { 1.0 } else { 0.0 };
            let dp = Vector2::new(unit(0), unit(1)) + sigma * r * unit(2) * s;
            let dn = hessian * dp;
            let dn_t = dn.dot(&t) + n_s * unit(2);
            let dn_s = dn.dot(&s) - n_t * unit(2);
            let dl = r * Vector2::new(dn_t, sigma * dn_s);
            let dv = Vector2::new(unit(3), unit(4));
            let du = dl.dot(&v) + l.dot(&dv);
            let d_restricted = 2.0 * weighted.dot(&dl);
            let d_full = 2.0 * n.dot(&dn) / penny.mass() + 2.0 * r * r * n_s * dn_s / j;
            let d_cos2 = (d_restricted - cos2 * d_full) / full;
            let d_weighted = Vector2::new(dl.x / m1, dl.y / j);
            let d_factor = (slope * d_cos2 * u + kappa * du) / restricted
                - kappa * u * d_restricted / (restricted * restricted);
            let d_plus = dv - d_factor * weighted - kappa * u / restricted * d_weighted;
            d[(3, k)] = d_plus.x;
            d[(4, k)] = d_plus.y;
        }
        let minus_field = vector_field(penny, phi, v.x, v.y);
        let plus_field = vector_field(penny, phi, plus.x, plus.y);
        let gradient = Vector5::new(n.x, n.y, sigma * r * n_s, 0.0, 0.0);
        let by_restitution = match restitution {
            Restitution::Elastic | Restitution::Projected => 0.0,
            Restitution::Newton(_) => 1.0,
            Restitution::ProjectedNewton(_) => cos2,
        };
        Crossing {
            reset: d,
            minus: minus_field,
            plus: plus_field,
            gradient,
            margin: (u * u / (restricted * (m1 * v.x * v.x + j * v.y * v.y))).sqrt(),
            spin: v.x,
            spin_change: plus.x - v.x,
            by_restitution: weighted * (-by_restitution * u / restricted),
        }
    }

    /// Computes the derivative of the penny's final state in a run with respect to its initial state (6 × 6), and to the
    /// parameter `"restitution"` if the impact law has one. The state is $(x, y, \theta, \varphi, \Omega, \omega)$: position,
    /// rolling angle, heading, and the rates of both angles.
    ///
    /// The derivative does not exist for a run that did not reach a given time, or if an impact grazes;
    /// [`reason`](Sensitivity::reason) then names the cause.
    pub fn sensitivity(&self, run: &Run) -> Sensitivity {
        let penny = self.penny();
        let mut sensitivity = Sensitivity::default();
        let mut jacobian = DMatrix::identity(6, 6);
        let mut by_restitution = DVector::zeros(6);
        let (mut state, mut time) = (run.start, 0.0);
        let flight = |from: &PennyState, t: f64| {
            let mut flight = with_rolling_angle(&flow_jacobian(penny, from, t));
            flight[(THETA, SPIN)] = t;
            flight
        };
        for event in &run.events {
            let crossing = self.crossing(event);
            let is_grazed = crossing.is_grazed();
            let saltation = (!is_grazed).then(|| crossing.whole_saltation());
            if let Some(saltation) = &saltation {
                let map = saltation * flight(&state, event.interval);
                jacobian = &map * jacobian;
                by_restitution = map * by_restitution;
                for (k, change) in crossing.by_restitution.iter().enumerate() {
                    by_restitution[SPIN + k] += change;
                }
            }
            let mut told = SensitivityEvent::new(event.time);
            told.saltation = saltation;
            told.margin = Some(crossing.margin);
            if is_grazed {
                told.class = Regularity::Singular;
            }
            sensitivity.add(told);
            (state, time) = (event.state, event.time);
        }
        match &run.ending {
            Ending::Completed => (),
            // An orbit that never hits continues to the requested time.
            Ending::NeverHits if run.time > time => (),
            Ending::AtRest if run.time > time && run.events.is_empty() => (),
            Ending::AtRest | Ending::PressedContact => sensitivity.refuse("established-contact"),
            Ending::GrazingCascade => {
                sensitivity.class = Regularity::Singular;
                sensitivity.refuse("grazing");
            }
            Ending::DoubleContact => sensitivity.refuse("simultaneous-contacts"),
            Ending::Stopped(error) => sensitivity.refuse(error.kind()),
            ending => sensitivity.refuse(ending.name()),
        }
        let last = flight(&state, run.time - time);
        let parameters = match self.restitution() {
            Restitution::Elastic | Restitution::Projected => Vec::new(),
            Restitution::Newton(_) | Restitution::ProjectedNewton(_) => {
                vec![("restitution", &last * by_restitution)]
            }
        };
        sensitivity.complete(last * jacobian, parameters);
        sensitivity
    }

    /// Returns the coordinates of an impact of the penny in the Poincaré section of all impacts: three angles, for the
    /// position on the wall, the heading and the velocity.
    pub fn section_point(&self, event: &Event) -> SectionPoint {
        let penny = self.penny();
        let n = self.table().gradient(event.point);
        let sigma = event.rim.sign();
        let (sin, cos) = libm::sincos(event.state.phi);
        let rim = sigma * Vector2::new(cos, sin);
        let spin = penny.heading_inertia().sqrt() * event.state.phi_dot;
        let roll = penny.rolling_inertia().sqrt() * sigma * event.state.theta_dot;
        SectionPoint {
            wall_angle: libm::atan2(event.point.y, event.point.x),
            heading_angle: libm::atan2(n.perp(&rim), n.dot(&rim)),
            velocity_angle: libm::atan2(spin, roll),
        }
    }

    /// Computes the Lyapunov exponents of the penny's orbit from a state, over a number of impacts, by orthogonalizing the
    /// tangent map after each impact (Benettin et al., 1980). If the orbit ends earlier, fewer impacts are used, and the
    /// returned [`Ending`] tells the reason.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub fn lyapunov(
        &self,
        start: PennyState,
        impacts: usize,
    ) -> Result<(Lyapunov, Ending<BilliardError>), BilliardError> {
        let penny = self.penny();
        // Scales all coordinates to order one, so that the first steps do not favor coordinates with large units.
        let energy = penny.energy(&start);
        let length = 0.5 * self.table().diameter();
        let scale = Vector5::new(
            length,
            length,
            1.0,
            (2.0 * energy / penny.rolling_inertia()).sqrt(),
            (2.0 * energy / penny.heading_inertia()).sqrt(),
        );
        let mut frame = Matrix5::identity();
        let mut sums = Vector5::zeros();
        let mut max_log_det: f64 = 0.0;
        let (mut state, mut time, mut n) = (start, 0.0, 0);
        let (ending, _) = self.follow(start, Limits::impacts(impacts), |event| {
            let map = self.saltation(event) * flow_jacobian(penny, &state, event.interval);
            max_log_det = max_log_det.max(libm::log(map.determinant().abs()).abs());
            let scaled = Matrix5::from_fn(|i, k| map[(i, k)] * scale[k] / scale[i]) * frame;
            let (q, r) = scaled.qr().unpack();
            sums += r.diagonal().map(|x| libm::log(x.abs()));
            frame = q;
            (state, time) = (event.state, event.time);
            n += 1;
        })?;
        let per = |total: f64| {
            let mut exponents = [0.0; 5];
            if total > 0.0 {
                exponents.copy_from_slice((sums / total).as_slice());
            }
            exponents
        };
        let lyapunov = Lyapunov {
            per_impact: per(n as f64),
            per_second: per(time),
            impacts: n,
            time,
            max_log_det,
        };
        Ok((lyapunov, ending))
    }
}
