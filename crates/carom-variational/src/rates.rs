//! Bounds of the rates about the principal axes along the discrete flights in uniform gravity.
//!
//! One step $(FJ_d - J_dF^T)^\vee = \alpha\Pi$, $\Pi' = F^T\Pi$, turns the body by an angle $\theta$ about an axis $e$ with
//!
//! $$ g := e\sin\theta = \alpha\bar\Omega, \qquad \bar\Omega = \tfrac12(\Omega + \Omega'), $$
//!
//! because half the sum of the equation and of its time reversal is $2Jf = (1+\lvert f\rvert^2)J\bar\Omega$. Both $\Omega$ and
//! $\Omega'$ lie on the intersection of the ellipsoids of energy and momentum. Its extents $Y_k$ along the axes are known
//! ([`RigidBody::rate_squares`]), so the angle is small if $\alpha\lvert Y\rvert$ is, however slender the body.
//!
//! The curve $\Omega'(\alpha)$ stays on that intersection. So it is Euler's motion with another speed: $\dot\Omega' = \kappa
//! E(\Omega')$, $E(\Omega) = J^{-1}(J\Omega\times\Omega)$. The map of a step is integrable (Moser & Veselov 1991): it moves all
//! points of the intersection by one time $t(\alpha)$ of Euler's motion, $\kappa = \dot t$. Take the midpoint of this motion as
//! origin, with $\Omega_2 = 0$ there. Let $2u = t$, and let Euler's motion have $\Omega_1^2 + \Omega_3^2 = S$ and
//! $\Omega_1\Omega_3 = P$ after the time $u$. Then the equation of the step is
//!
//! $$ \alpha = \frac{2\eta}{1 + S\eta^2}, \quad \eta = \frac{\Omega_2}{r_2P}, \quad \frac{\mathrm d\eta}{\mathrm du} = 1 + \eta^2Z,
//!    \quad Z = r_2(r_1\Omega_3^2 + r_3\Omega_1^2) \le S, \quad S\eta^2 = \tan^2\tfrac\theta2, $$
//!
//! with $r_k = \lvert J_i - J_l\rvert/J_k \le 1$, which gives
//!
//! $$ 1 \le \kappa = \frac{(1+S\eta^2)^2}{(1+\eta^2Z)(1-S\eta^2) + 2r_2(r_1+r_3)P^2\eta^4} \le \frac{(1+m)^2}{1-m},
//!    \qquad m = \tan^2\tfrac{\theta_{max}}2, $$
//!
//! and similarly a bound of $\dot\kappa$. The times of several stages, each a fraction of a step, add up. With $\kappa$ all other
//! quantities are sums of products of vectors that are bounded axis by axis. The rate
//!
//! $$ w = \dot g + \frac{g(g\cdot\dot g)}{\cos\theta(1+\cos\theta)} - \frac{g\times\dot g}{1+\cos\theta} $$
//!
//! of a stage, after the rates of the stages before it, differs from $\Omega'$ by terms of order $\alpha$. The only ratios of
//! moments in these bounds are the $r_k$.

use crate::{RigidBody, State};
use nalgebra::Vector3;

/// Largest $\sin^2\theta$ of a stage for which the bounds exist.
const MAX_SINE_SQUARE: f64 = 0.95;

/// Relative rounding error of the invariants along a flight, and of the bounds themselves.
const ROUNDING: f64 = 1e-9;

/// Upper bounds of the angular rates of a rigid body about its principal axes, and of the time derivatives of these rates, along
/// a flight. The order of the axes is that of [`RigidBody::moments`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisRates {
    /// Bounds of the absolute angular rate $w$ of the path, $\mathrm dR/\mathrm d\alpha = RS(w)$ (rad/s).
    pub rate: Vector3<f64>,
    /// Bounds of the absolute derivative $\mathrm dw/\mathrm d\alpha$ (rad/s²).
    pub acceleration: Vector3<f64>,
}

impl AxisRates {
    /// Returns an upper bound (m/s²) of the acceleration, relative to the center of mass, of every body point whose coordinates
    /// along the principal axes are at most `extents` (m) in absolute value. The acceleration of a body point $\rho$ is $\ddot r
    /// = R(S(w)^2 + S(\dot w))\rho$ with the attitude $R$, the angular rate $w$ and the cross-product matrix $S$. The matrix
    /// $S(w)^2 + S(\dot w)$ is bounded column by column.
    pub fn point_acceleration(&self, extents: &Vector3<f64>) -> f64 {
        let (w, d) = (&self.rate, &self.acceleration);
        let column = |k: usize| {
            let (i, l) = ((k + 1) % 3, (k + 2) % 3);
            let along = w[i] * w[i] + w[l] * w[l];
            let across = Vector3::new(along, w[i] * w[k] + d[l], w[l] * w[k] + d[i]);
            extents[k] * across.norm()
        };
        column(0) + column(1) + column(2)
    }
}

/// Bounds of the components of a vector, and of its time derivative.
#[derive(Clone, Copy, Debug)]
struct Axes {
    value: Vector3<f64>,
    rate: Vector3<f64>,
}

/// Bounds of a number and its time derivative.
#[derive(Clone, Copy, Debug)]
struct Size {
    value: f64,
    rate: f64,
}

impl Size {
    fn times(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            rate: self.rate * other.value + self.value * other.rate,
        }
    }
}

/// Returns bounds of the absolute components of $u \times v$, where `a` and `b` bound the absolute components of $u$ and $v$.
fn cross(a: &Vector3<f64>, b: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(
        a.y * b.z + a.z * b.y,
        a.z * b.x + a.x * b.z,
        a.x * b.y + a.y * b.x,
    )
}

impl Axes {
    fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            rate: self.rate + other.rate,
        }
    }

    fn by(self, factor: Size) -> Self {
        Self {
            value: self.value * factor.value,
            rate: self.rate * factor.value + self.value * factor.rate,
        }
    }

    fn scaled(self, factor: f64) -> Self {
        self.by(Size {
            value: factor,
            rate: 0.0,
        })
    }

    fn cross(self, other: Self) -> Self {
        Self {
            value: cross(&self.value, &other.value),
            rate: cross(&self.rate, &other.value) + cross(&self.value, &other.rate),
        }
    }

    fn dot(self, other: Self) -> Size {
        Size {
            value: self.value.dot(&other.value),
            rate: self.rate.dot(&other.value) + self.value.dot(&other.rate),
        }
    }
}

/// Bounds of the factor $\kappa$ between the motion of one stage and Euler's motion.
struct Pace {
    /// Bound of $\kappa$.
    most: f64,
    /// Bound of $\lvert\dot\kappa\rvert$ (1/s).
    change: f64,
}

impl Pace {
    /// Computes bounds of the factor $\kappa$ and of the time derivative of $\kappa$. Along the path of one discrete
    /// step the angular velocity changes $\kappa$ times as fast as in the exact rotation by Euler's equations. `cosine`
    /// is the cosine of the largest angle by which the step turns the body, `speed` a bound of the angular rate
    /// (rad/s).
    fn of(cosine: f64, speed: f64) -> Self {
        let m = (1.0 - cosine) / (1.0 + cosine);
        let most = (1.0 + m) * (1.0 + m) / (1.0 - m);
        let (p, q) = (1.0 + m, 2.0 + 3.0 * m);
        let slope = speed * m.sqrt() * (2.0 * p * q + most * q * q) / (1.0 - m);
        Self {
            most,
            change: 0.5 * most * slope,
        }
    }
}

/// Returns three bounds along the exact rotation of the body for each principal axis $k$: of the angular rate
/// $\lvert\Omega_k\rvert$, of its time derivative $\lvert\dot\Omega_k\rvert = r_k\lvert\Omega_i\Omega_l\rvert$, and of the second
/// time derivative. Here $r_k = \lvert J_i - J_l\rvert/J_k$, with the principal moments $J$.
fn exact(body: &RigidBody, from: &State) -> [Vector3<f64>; 3] {
    let extent = body.rate_squares(from).map(|y| y.max(0.0).sqrt());
    let j = body.moments();
    let of_axes = |a: &Vector3<f64>, b: &Vector3<f64>| {
        Vector3::from_fn(|k, _| {
            let (i, l) = ((k + 1) % 3, (k + 2) % 3);
            (j[i] - j[l]).abs() / j[k] * (a[i] * b[l])
        })
    };
    let field = of_axes(&extent, &extent);
    let field_rate = of_axes(&field, &extent) + of_axes(&extent, &field);
    [extent, field, field_rate]
}

/// Returns upper bounds of the angular rates of the body about its principal axes, and of the time derivatives of these rates,
/// along the exact rotation from a state.
pub(crate) fn exact_rates(body: &RigidBody, from: &State) -> AxisRates {
    let [rate, acceleration, _] = exact(body, from);
    AxisRates { rate, acceleration }
}

/// Returns upper bounds of the angular rates of the body about its principal axes, and of the time derivatives of these rates,
/// along a flight composed of several steps. Each entry of `fractions` is the length of a step divided by the duration of the
/// flight. The duration is at most `time` (s). Returns `None` if a step could turn the body by too large an angle for the bounds.
/// The difference of two moments must not exceed the third.
pub(crate) fn axis_rates(
    body: &RigidBody,
    from: &State,
    time: f64,
    fractions: &[f64],
) -> Option<AxisRates> {
    let [extent, field, field_rate] = exact(body, from);
    let speed = extent.norm();
    // The rate is at most the sum of the fractions so far times the rate of the body, plus a difference, `off`.
    let mut off = Axes {
        value: Vector3::zeros(),
        rate: Vector3::zeros(),
    };
    let (mut done, mut haste, mut change) = (0.0, 0.0, 0.0);
    for fraction in fractions {
        let c = f64::abs(*fraction);
        let stretch = c * time;
        let square = (stretch * speed) * (stretch * speed);
        if !(square <= MAX_SINE_SQUARE) {
            return None;
        }
        let cosine = (1.0 - square).sqrt();
        let stage = Pace::of(cosine, speed);
        let before = (f64::abs(done), f64::abs(done) + haste, change);
        done += fraction;
        haste += c * (stage.most - 1.0);
        change += c * c * stage.change;
        let pace = f64::abs(done) + haste;
        let part = Size {
            value: stretch,
            rate: c,
        };
        let start = Axes {
            value: extent,
            rate: field * before.1,
        };
        // Change of the angular velocity from the start of the stage to its end.
        let way = Axes {
            value: field * (stretch * stage.most),
            rate: (field + field_rate * (before.1 * stretch)) * (c * stage.most),
        };
        let mean_rate = Axes {
            value: field * (0.5 * (before.1 + pace)),
            rate: (field * (before.2 + change) + field_rate * (before.1 * before.1 + pace * pace))
                * 0.5,
        };
        let mean = Axes {
            value: extent,
            rate: mean_rate.value,
        };
        let g = mean.by(part);
        let g_rate = mean.scaled(c).plus(mean_rate.by(part));
        let growth = g.dot(g_rate);
        // 1/(cos(1 + cos)) and 1/(1 + cos), which increase with the angle.
        let (sum, product) = (1.0 + cosine, cosine + cosine * cosine);
        let along = Size {
            value: 1.0 / product,
            rate: growth.value * (1.0 + 2.0 * cosine) / (cosine * product * product),
        };
        let across = Size {
            value: 1.0 / sum,
            rate: growth.value / (cosine * sum * sum),
        };
        // The rate at the start, rotated by the stage, minus the rate at the end.
        let askew = way.cross(start).by(part).scaled(0.5);
        let turned = way.plus(askew).plus(g.cross(askew).by(across));
        // The rate of the stage itself, minus its fraction of the rate at the end.
        let own = way
            .scaled(0.5 * c)
            .plus(mean_rate.by(part))
            .plus(g.by(growth.times(along)))
            .plus(mean.cross(mean_rate).by(across.times(part.times(part))));
        let once = g.cross(off);
        let back = off.plus(once).plus(g.cross(once).by(across));
        off = back.plus(turned.scaled(before.0)).plus(own);
    }
    Some(AxisRates {
        rate: (extent * f64::abs(done) + off.value) * (1.0 + ROUNDING),
        acceleration: (field * (f64::abs(done) + haste) + off.rate) * (1.0 + ROUNDING),
    })
}
