//! Taylor polynomials in time for the motion of a contact with springs.

use super::inertia::ContactInertia;
use crate::arc::ORDER;
use crate::arc::SIZE;
use crate::tolerances::NEGLIGIBLE;
use nalgebra::Vector3;

/// Longest step, as a fraction of the inverse of an upper bound of the fastest angular frequency.
const LONGEST: f64 = 0.5;

/// Tangential mode of a contact with springs, with its state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode {
    /// The contact slips; the value is the direction of the spring.
    Slip([f64; 2]),
    /// The contact sticks; the value is the deformation of the spring.
    Stick([f64; 2]),
}

type Polynomial = [f64; SIZE];

/// One step: contact velocity, impulse and normal force, and the deformation of the spring in stick or its direction in
/// slip.
pub(crate) struct Series {
    velocity: [Polynomial; 3],
    impulse: [Polynomial; 3],
    force: Polynomial,
    /// Deformation in stick, direction in slip.
    spring: [Polynomial; 2],
    /// Angle by which the spring has turned since the start of the step, in slip (rad).
    angle: Polynomial,
    is_slip: bool,
    friction: f64,
    ratio: f64,
    stiffness: f64,
    longest: f64,
}

impl Series {
    /// Expands the motion of a contact with a normal and a tangential spring in Taylor polynomials in time. `w` is the inverse
    /// inertia, `friction` the friction coefficient, `ratio` the tangential stiffness and `stiffness` the normal one. `velocity`
    /// and `force` are the contact velocity and the normal force at the start. `mode` is stick, with the deformation of the
    /// tangential spring, or slip, with the direction of this deformation.
    pub(crate) fn expand(
        w: &ContactInertia,
        friction: f64,
        ratio: f64,
        stiffness: f64,
        velocity: Vector3<f64>,
        force: f64,
        mode: Mode,
    ) -> Self {
        let (is_slip, [x, y]) = match mode {
            Mode::Slip(direction) => (true, direction),
            Mode::Stick(stretch) => (false, stretch),
        };
        let trace = ratio * (w.b11 + w.b22) + stiffness * w.wzz;
        let mut series = Self {
            velocity: [[0.0; SIZE]; 3],
            impulse: [[0.0; SIZE]; 3],
            force: [0.0; SIZE],
            spring: [[0.0; SIZE]; 2],
            angle: [0.0; SIZE],
            is_slip,
            friction,
            ratio,
            stiffness,
            longest: LONGEST / trace.sqrt(),
        };
        for (polynomial, value) in series.velocity.iter_mut().zip(&velocity) {
            polynomial[0] = *value;
        }
        series.force[0] = force;
        series.spring[0][0] = x;
        series.spring[1][0] = y;
        for k in 1..SIZE {
            series.coefficient(w, k);
        }
        series
    }

    /// Computes the Taylor coefficients of order `k` of contact velocity, impulse, normal force and tangential spring from those
    /// of lower order.
    fn coefficient(&mut self, w: &ContactInertia, k: usize) {
        let q = 1.0 / k as f64;
        let tangential = [0, 1].map(|axis| {
            let spring = &self.spring[axis];
            if self.is_slip {
                -self.friction * product(&self.force, spring, k - 1)
            } else {
                -self.ratio * spring[k - 1]
            }
        });
        let load = [tangential[0], tangential[1], self.force[k - 1]];
        let change = w.apply(load);
        for axis in 0..3 {
            self.impulse[axis][k] = q * load[axis];
            self.velocity[axis][k] = q * change[axis];
        }
        self.force[k] = -q * self.stiffness * self.velocity[2][k - 1];
        if self.is_slip {
            self.turn(k);
        } else {
            for axis in 0..2 {
                self.spring[axis][k] = q * self.velocity[axis][k - 1];
            }
        }
    }

    /// Computes Taylor coefficient `k` of the direction of the tangential spring in slip. The polar angle $\varphi$ of this
    /// direction obeys $F_n\dot\varphi = (\kappa/\mu)t\cdot\gamma$ with the normal force $F_n$, tangential stiffness $\kappa$,
    /// friction coefficient $\mu$, sliding velocity $\gamma$ and the unit vector $t$ perpendicular to the spring. The equation is
    /// singular at the start of the impact, where $F_n = 0$. There the coefficient follows from the terms of the next order,
    /// divided by $k\dot F_n + \kappa|\gamma|/\mu$, which is positive.
    fn turn(&mut self, k: usize) {
        let per_friction = self.ratio / self.friction;
        let starts = self.force[0] == 0.0;
        let order = if starts { k } else { k - 1 };
        let first = if starts { 2 } else { 1 };
        let mut sum = per_friction * self.across(order);
        for j in first..=order {
            sum -= self.force[j] * (order + 1 - j) as f64 * self.angle[order + 1 - j];
        }
        self.angle[k] = if starts {
            let [c, s] = [self.spring[0][0], self.spring[1][0]];
            let along = c * self.velocity[0][0] + s * self.velocity[1][0];
            // The contribution of the new coefficient to `across` is moved to the left-hand side.
            sum / (k as f64 * self.force[1] + per_friction * along)
        } else {
            sum / (k as f64 * self.force[0])
        };
        let (mut c, mut s) = (0.0, 0.0);
        for j in 1..=k {
            let rate = j as f64 * self.angle[j];
            c -= self.spring[1][k - j] * rate;
            s += self.spring[0][k - j] * rate;
        }
        self.spring[0][k] = c / k as f64;
        self.spring[1][k] = s / k as f64;
    }

    /// Computes the Taylor coefficient with the given order of $t\cdot\gamma$, the sliding velocity perpendicular to the
    /// tangential spring, from the known coefficients of the spring's direction. If the normal force is zero at the start, the
    /// direction's coefficient of this order is not known yet; only the part of that coefficient that follows from lower orders
    /// is then included.
    fn across(&self, order: usize) -> f64 {
        let [c, s] = &self.spring;
        let [x, y, _] = &self.velocity;
        let mut sum = product(c, y, order) - product(s, x, order);
        if self.force[0] == 0.0 {
            let (mut cos, mut sin) = (0.0, 0.0);
            for j in 1..order {
                let rate = j as f64 * self.angle[j] / order as f64;
                cos -= s[order - j] * rate;
                sin += c[order - j] * rate;
            }
            sum += cos * y[0] - sin * x[0];
        }
        sum
    }

    /// Returns the length of the time step over which the last terms of the Taylor polynomials are negligible.
    pub(crate) fn length(&self) -> f64 {
        let mut length = self.longest;
        let all = self
            .velocity
            .iter()
            .chain([&self.force])
            .chain(self.is_slip.then_some(&self.angle))
            .chain(
                (!self.is_slip)
                    .then_some(&self.spring)
                    .into_iter()
                    .flatten(),
            );
        for (index, polynomial) in all.enumerate() {
            // Angles are compared with one radian.
            let least = if self.is_slip && index == 4 { 1.0 } else { 0.0 };
            while is_cut(polynomial, length, least) {
                length *= 0.8;
            }
        }
        length
    }

    pub(crate) fn velocity(&self, t: f64) -> Vector3<f64> {
        Vector3::from(self.velocity.map(|p| value(&p, t)))
    }

    pub(crate) fn impulse(&self, t: f64) -> Vector3<f64> {
        Vector3::from(self.impulse.map(|p| value(&p, t)))
    }

    pub(crate) fn force(&self, t: f64) -> f64 {
        value(&self.force, t)
    }

    pub(crate) fn mode(&self, t: f64) -> Mode {
        let [x, y] = self.spring.map(|p| value(&p, t));
        if self.is_slip {
            let norm = libm::hypot(x, y);
            Mode::Slip([x / norm, y / norm])
        } else {
            Mode::Stick([x, y])
        }
    }

    /// Returns a number that is positive as long as the contact stays in its mode, stick or slip, at time `t` of the step. In
    /// stick the number is the friction limit minus the force of the tangential spring, in slip it is a measure of the sliding
    /// speed.
    pub(crate) fn tangential_margin(&self, t: f64) -> f64 {
        let [x, y] = self.spring.map(|p| value(&p, t));
        if !self.is_slip {
            return self.friction * self.force(t) - self.ratio * libm::hypot(x, y);
        }
        let velocity = self.velocity(t);
        let rate = -self.stiffness * velocity.z;
        x * velocity.x + y * velocity.y - self.friction / self.ratio * rate
    }
}

fn value(polynomial: &Polynomial, t: f64) -> f64 {
    polynomial.iter().rev().fold(0.0, |sum, c| sum * t + c)
}

/// Computes coefficient `k` of the product of the polynomials `a` and `b`.
fn product(a: &Polynomial, b: &Polynomial, k: usize) -> f64 {
    a[..=k]
        .iter()
        .zip(b[..=k].iter().rev())
        .map(|(x, y)| x * y)
        .sum()
}

/// True if a Taylor polynomial is not accurate for the step length `t`: its last terms are not negligible compared with its
/// largest term or with `least`.
fn is_cut(polynomial: &Polynomial, t: f64, least: f64) -> bool {
    let mut power = 1.0;
    let mut largest = least;
    let mut last: f64 = 0.0;
    for (k, c) in polynomial.iter().enumerate() {
        let term = (c * power).abs();
        largest = f64::max(largest, term);
        if k + 2 > ORDER {
            last = last.max(term);
        }
        power *= t;
    }
    last > NEGLIGIBLE * largest
}
