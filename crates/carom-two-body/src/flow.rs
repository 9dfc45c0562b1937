//! Flow of the sliding velocity: its radial and transverse rates, and the zeros of the latter.

use super::inertia::ContactInertia;
use crate::tolerances::{LAST_NEWTON_STEP, LONGEST_NEWTON_TURN, TURN_ROUNDING};

/// Coulomb sliding at a contact, in units of its own rate.
///
/// With the sliding velocity $\gamma = \rho s$, $s = (\cos\theta, \sin\theta)$, and $t = (-\sin\theta, \cos\theta)$, Jia
/// & Wang, Eq. (31), reads $\rho' = f$, $\rho\theta' = g$ with
///
/// $$ f = s\cdot(d - \mu B s), \qquad g = t\cdot(d - \mu B s). $$
///
/// With the parameter $\sigma$, $dI_z = \rho d\sigma$, nothing is singular at $\rho = 0$, and in Cartesian components the
/// only remaining nonlinearity is $\rho = |\gamma|$:
///
/// $$ \frac{d\gamma}{d\sigma} = \rho d - \mu B\gamma. $$
///
/// `rate` $= \mu(b_{11} + b_{22}) + |d_1| + |d_2|$ bounds all coefficients, and $\sigma$ is measured in units of its
/// inverse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    /// $\mu B$ divided by the rate.
    pub(crate) a11: f64,
    pub(crate) a12: f64,
    pub(crate) a22: f64,
    /// $d$ divided by the rate.
    pub(crate) a1: f64,
    pub(crate) a2: f64,
    pub(crate) rate: f64,
    pub(crate) wzz: f64,
    /// $\mu d$.
    pub(crate) pull: [f64; 2],
    /// True if $w_{zz} > \mu|d|$, so that the normal velocity never decreases.
    pub(crate) is_monotone: bool,
}

impl Flow {
    pub(crate) fn new(w: &ContactInertia, mu: f64) -> Self {
        let rate = mu * (w.b11 + w.b22) + w.d1.abs() + w.d2.abs();
        let per_rate = if rate > 0.0 { 1.0 / rate } else { 0.0 };
        let scaled = mu * per_rate;
        let pull = [mu * w.d1, mu * w.d2];
        Self {
            a11: scaled * w.b11,
            a12: scaled * w.b12,
            a22: scaled * w.b22,
            a1: w.d1 * per_rate,
            a2: w.d2 * per_rate,
            rate,
            wzz: w.wzz,
            pull,
            is_monotone: pull[0] * pull[0] + pull[1] * pull[1] < w.wzz * w.wzz,
        }
    }

    /// Computes how sliding changes in the direction with the components `c` and `s`: the rate $f$ of the sliding speed, the rate
    /// $g$ of the polar angle of sliding, and the derivative $g'$ of that rate by the angle. All rates are per unit normal
    /// impulse and divided by the field `rate`, an upper bound of the coefficients.
    #[inline]
    pub(crate) fn rates(&self, [c, s]: [f64; 2]) -> (f64, f64, f64) {
        let (bx, by) = (self.a11 * c + self.a12 * s, self.a12 * c + self.a22 * s);
        let f = c * (self.a1 - bx) + s * (self.a2 - by);
        let g = c * (self.a2 - by) - s * (self.a1 - bx);
        // g' = -f - mu t.B t, and s.B s + t.B t is the trace.
        let tbt = self.a11 + self.a22 - (c * bx + s * by);
        (f, g, -f - tbt)
    }

    /// Computes the change of the normal velocity per unit normal impulse, $v_z' = w_{zz} - \mu d\cdot s$, while the
    /// contact slides in the direction $s$. $w_{zz}$ is the normal inverse inertia, $\mu$ the friction coefficient, $d$ the
    /// coupling (change of the sliding velocity per unit normal impulse).
    #[inline]
    pub(crate) fn normal_rate(&self, [c, s]: [f64; 2]) -> f64 {
        self.wzz - self.pull[0] * c - self.pull[1] * s
    }

    /// Finds an invariant direction, in which sliding does not turn, near the direction `start`. Newton's method solves for a
    /// zero of the rate at which sliding turns. Returns `None` if the method does not converge, or if the zero is far from
    /// `start`.
    pub(crate) fn nearest_invariant(&self, start: [f64; 2]) -> Option<[f64; 2]> {
        let [mut c, mut s] = start;
        for _ in 0..8 {
            let (_, g, slope) = self.rates([c, s]);
            let delta = -g / slope;
            if delta.is_nan() || delta.abs() > LONGEST_NEWTON_TURN {
                return None;
            }
            // Rotation by the half-angle formulas, orthonormal up to rounding.
            let half = 0.5 * delta;
            let q = 1.0 / (1.0 + half * half);
            let (dc, ds) = ((1.0 - half * half) * q, delta * q);
            (c, s) = (c * dc - s * ds, s * dc + c * ds);
            if delta.abs() < TURN_ROUNDING {
                return Some(normalized([c, s]));
            }
            if delta.abs() < LAST_NEWTON_STEP {
                // Converged quadratically.
                let norm = normalized([c, s]);
                let (_, g, slope) = self.rates(norm);
                let delta = -g / slope;
                return Some(normalized([
                    norm[0] - norm[1] * delta,
                    norm[1] + norm[0] * delta,
                ]));
            }
        }
        None
    }
}

#[inline]
pub(crate) fn normalized([x, y]: [f64; 2]) -> [f64; 2] {
    let norm = (x * x + y * y).sqrt();
    [x / norm, y / norm]
}

/// Computes the direction in which sliding restarts from rest if the contact cannot stick. Returns the unit vector $s$ of this
/// direction, and the rate $\lambda > 0$ of the sliding speed per normal impulse. They satisfy $d - \mu B s = \lambda s$ with the
/// coupling $d$ (change of the sliding velocity per unit normal impulse), the tangential inverse inertia $B$ and the friction
/// coefficient $\mu$; Jia & Wang, Theorem 5 and Corollary 6.
///
/// The vector $s = (\mu B + \lambda)^{-1} d$ has unit length for exactly one $\lambda > 0$, the root of the function
/// $1/|s(\lambda)| - 1$. The function is concave and increasing, so that Newton's method converges monotonically from below.
pub(crate) fn centrifugal(w: &ContactInertia, mu: f64) -> ([f64; 2], f64) {
    let (m11, m12, m22) = (mu * w.b11, mu * w.b12, mu * w.b22);
    let square = w.d1 * w.d1 + w.d2 * w.d2;
    // |s| >= d.s/|d| >= |d|^3/(d.(mu B + lambda)d), the Cauchy inequality.
    let along = m11 * w.d1 * w.d1 + 2.0 * m12 * w.d1 * w.d2 + m22 * w.d2 * w.d2;
    let mut lambda = (square.sqrt() - along / square).max(0.0);
    let mut direction = [0.0, 0.0];
    for _ in 0..100 {
        let (p, q) = (m11 + lambda, m22 + lambda);
        let det = p * q - m12 * m12;
        let solve = |x: f64, y: f64| [(q * x - m12 * y) / det, (p * y - m12 * x) / det];
        let s = solve(w.d1, w.d2);
        let norm2 = s[0] * s[0] + s[1] * s[1];
        let norm = norm2.sqrt();
        direction = [s[0] / norm, s[1] / norm];
        let y = solve(s[0], s[1]);
        let step = norm2 * (norm - 1.0) / (s[0] * y[0] + s[1] * y[1]);
        if step.is_nan() || step <= 0.0 {
            break;
        }
        lambda += step;
        if step <= LAST_NEWTON_STEP * lambda {
            // The next step would be the square of this one; the direction includes this step already.
            direction = normalized([s[0] - step * y[0], s[1] - step * y[1]]);
            break;
        }
    }
    (direction, lambda)
}
