//! Bounds of the rate at which a direction turns along a discrete path. They are the basis of the guarantee against tunneling.
//! Bounds by a norm are fast to compute. For slender bodies they are too large, and [`rates`](crate::rates) has better ones.
//!
//! In body axes, the plane's normal is $d(\alpha) = R(\alpha)^Tn$. With the angular rate $w$ of the path, $\dot d = d\times w$
//! and $\lvert\ddot d\rvert \le \lvert w\rvert^2 + \lvert\dot w\rvert$. So the second derivative of the height of a body point
//! differs from that of free fall by at most $r_{max}(\lvert w\rvert^2 + \lvert\dot w\rvert)$, with $r_{max}$ the largest
//! distance of a body point. This module bounds $w$ and $\dot w$ on $\lbrack 0, t\rbrack$ for the solution $f(\alpha)$ of $r(f;
//! a(\alpha)) = 0$.
//!
//! Let $\lVert x\rVert^2 = x^TJx$, $\lVert a\rVert_\ast^2 = a^TJ^{-1}a$, $J_1$ the smallest moment,
//! $q \ge \lVert a\rVert_\ast/\sqrt{J_1}$, $c = \sqrt{1-q^2}$, $s = \lvert f\rvert^2 \le (1-c)/(1+c)$. From
//! $f\cdot r = 0$: $\lvert f\rvert \le \tfrac q2(1+s)$. With $B = I - S(f) + ff^T$ and
//! $K = -r'(f)$, differentiating twice,
//!
//! $$ Kf' = Ba', \quad Kf'' = 2(a'\times f' + (a'\cdot f')f + (a'\cdot f)f' + (a\cdot f')f') + Ba'', $$
//!
//! and $x\cdot Kx \ge 2c\lVert x\rVert^2$ turns both equations into bounds of $f'$ and $f''$. Finally $w = 2(f' - f\times
//! f')/(1+s)$.

use crate::{AxisRates, RigidBody};

/// Largest $q$ for which bounds are computed: beyond it the proof's range $q < 1$ is nearly exhausted.
const MAX_Q: f64 = 0.98;

/// Upper bounds of the angular rate $w$ of a rigid body and of its time derivative $\dot w$ along a flight. A bound is infinite
/// if none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turning {
    /// Bound of $\lvert w\rvert$ (rad/s).
    pub rate: f64,
    /// Bound of $\lvert\dot w\rvert$ (rad/s²).
    pub acceleration: f64,
}

/// Bounds of the vector $a(\alpha)$ that drives one increment, and of its derivatives.
pub(crate) struct Drive {
    /// Bound of $\lVert a\rVert_\ast/\sqrt{J_1}$.
    pub(crate) q: f64,
    /// Bound of $\lVert Ba'\rVert_\ast/(\sqrt{J_1}(1+s))$, also at least $\lVert a'\rVert_\ast/\sqrt{J_1}$.
    pub(crate) rate: f64,
    /// Bound of $\lvert a'\rvert$.
    pub(crate) first: f64,
    /// Bound of $\lvert a''\rvert$.
    pub(crate) second: f64,
}

impl From<AxisRates> for Turning {
    fn from(rates: AxisRates) -> Self {
        Self {
            rate: rates.rate.norm(),
            acceleration: rates.acceleration.norm(),
        }
    }
}

impl Turning {
    /// Infinite bounds of the angular rate and its derivative, for a flight without known bounds.
    pub const UNKNOWN: Self = Self {
        rate: f64::INFINITY,
        acceleration: f64::INFINITY,
    };

    /// Returns an upper bound of the second time derivative, caused by rotation, of the height of a body point above a plane
    /// (m/s²). `radius` (m) is the distance of the point from the center of mass.
    #[inline]
    pub fn curvature(&self, radius: f64) -> f64 {
        // The factor covers the rounding error of invariants along a flight.
        radius * (self.rate * self.rate + self.acceleration) * (1.0 + 1e-9)
    }

    /// Returns upper bounds of the angular rate and its time derivative while the length of one variational step grows from zero.
    /// `drive` bounds the vector that determines the rotation of the step, and the derivatives of this vector.
    pub(crate) fn of_increment(body: &RigidBody, drive: &Drive) -> Self {
        let smallest = body.moments().x;
        let q = drive.q;
        if !(q <= MAX_Q) {
            return Self::UNKNOWN;
        }
        let c = ((1.0 - q) * (1.0 + q)).sqrt();
        let stretch = 2.0 / (1.0 + c);
        let f = 0.5 * q * stretch;
        let f_rate = drive.rate * stretch / (2.0 * c);
        let turned =
            drive.first * f_rate / smallest + 2.0 * drive.rate * f_rate * f + q * f_rate * f_rate;
        let f_second = (turned + 0.5 * stretch * drive.second / smallest) / c;
        let rate = 2.0 * f_rate / stretch.sqrt();
        let acceleration = 2.0 * f_second / stretch.sqrt() + q * f_rate * rate;
        Self { rate, acceleration }
    }

    /// Returns upper bounds of the angular rate and its time derivative for the product of two rotations: the one bounded by
    /// `self`, followed by the one bounded by `next`.
    pub(crate) fn then(&self, next: &Self) -> Self {
        Self {
            rate: self.rate + next.rate,
            acceleration: self.acceleration + self.rate * next.rate + next.acceleration,
        }
    }
}
