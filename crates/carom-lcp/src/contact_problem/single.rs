//! Closed-form solution of a single contact.
//!
//! Let $G$ be the Delassus matrix with normal n and tangents t, $b$ the velocities before the impact and $\mu$ the friction
//! coefficient. With $g = G_{tn}$, $S = G_{tt} - gg^T/G_{nn}$ and $w = b_t - gb_n/G_{nn}$, the tangential impulse of a contact
//! that slides with the velocity $u_t = -a\lambda_t$ is $\lambda_t(a) = -(S + a)^{-1}w$, where $a > 0$ is the unknown root at
//! which
//!
//! $$ f(a) = \lVert\lambda_t(a)\rVert + \frac{\mu}{G_{nn}}(b_n + g\cdot\lambda_t(a)) $$
//!
//! vanishes. The contact sticks if $f(0) \le 0$. Since $f(\infty) < 0$, a solution always exists. There may be up to three:
//! **the least $a$ is taken**, which loses the most energy.
//!
//! The iteration approaches the least root from the left. Since $\lVert\lambda_t(a)\rVert$ is convex, a parabola bounds $f$
//! from below, and the zero of the parabola is never beyond the root. The iteration uses Newton steps where $f$ itself is convex.
//!
//! Cf. Bonnefon & Daviet, *Quartic formulation of Coulomb 3D frictional contact*, 2011.

use super::law::Triple;
use carom_numeric::kernel::norm;

/// The iteration ends with a step below this fraction of the root: it changes no digit.
const LAST_STEP: f64 = 1e-16;

/// Eigenvalues of the tangential block below this fraction of the largest count as zero. They belong to rows
/// that are zero or parallel: an impulse along them has no effect.
const FLAT: f64 = 1e-14;

/// Largest number of steps towards the least root; a handful is usual.
const MAX_STEPS: usize = 200;

/// Block of one contact in the Delassus matrix, in the eigenvectors of $S = G_{tt} - gg^T/G_{nn}$,
/// $g = G_{tn}$.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// Normal entry $G_{nn}$.
    normal: f64,
    friction: f64,
    /// First eigenvector of $S$; the second is perpendicular to it.
    axis: [f64; 2],
    /// Eigenvalues of $S$; infinite along a direction in which an impulse has no effect.
    stiff: [f64; 2],
    /// $g$ in the eigenvectors of $S$.
    coupling: [f64; 2],
    /// Entries of $G_{tt}$ in the original tangents: first diagonal, off-diagonal, second diagonal.
    tangent: [f64; 3],
    /// $g$ in the original tangents.
    given_coupling: [f64; 2],
    /// Prescribed slip direction, in the original tangents.
    slip: Option<[f64; 2]>,
}

impl Block {
    /// Prepares the solution of a problem with one contact from its 3 × 3 block of the Delassus matrix.
    /// `entry(i, j)` returns an entry of this symmetric block, with index 0 for the normal, 1 and 2 for the
    /// tangents. `friction` is the friction coefficient.
    pub(super) fn new(entry: impl Fn(usize, usize) -> f64, friction: f64) -> Self {
        let normal = entry(0, 0);
        let g = [entry(1, 0), entry(2, 0)];
        let tangent = [entry(1, 1), entry(2, 1), entry(2, 2)];
        let s = [
            tangent[0] - g[0] * g[0] / normal,
            tangent[1] - g[0] * g[1] / normal,
            tangent[2] - g[1] * g[1] / normal,
        ];
        let (values, axis) = eigen(s);
        let flat = FLAT * tangent[0].max(tangent[2]);
        let stiff = values.map(|s| if s > flat { s } else { f64::INFINITY });
        Self {
            normal,
            friction,
            axis,
            stiff,
            coupling: into_axes(axis, g),
            tangent,
            given_coupling: g,
            slip: None,
        }
    }

    /// Returns the contact with a prescribed slip direction: a unit vector in the tangent plane. Friction then acts
    /// opposite to this vector. With `None` no direction is prescribed.
    pub(super) fn with_slip(self, slip: Option<[f64; 2]>) -> Self {
        Self { slip, ..self }
    }

    /// Solves the frictional impact of one contact from the velocities without impulses: normal and two tangents. The normal
    /// impulse lies between `floor` and `cap`.
    pub(super) fn solve(&self, velocity: [f64; 3], floor: f64, cap: f64) -> Triple {
        let free = self.unbounded(velocity);
        if free[0] < floor {
            return self.saturated(velocity, floor);
        }
        if free[0] > cap {
            return self.saturated(velocity, cap);
        }
        free
    }

    fn unbounded(&self, [normal, x, y]: [f64; 3]) -> Triple {
        // Without normal approach there is no impact, even if friction would make the contact approach.
        let is_approaching = normal < 0.0;
        if !is_approaching {
            return [0.0; 3];
        }
        let frictionless = [-normal / self.normal, 0.0, 0.0];
        if self.friction == 0.0 {
            return frictionless;
        }
        if let Some(slip) = self.slip {
            let [x, y] = self.given_coupling;
            let effective = self.normal - self.friction * (x * slip[0] + y * slip[1]);
            // Friction that lets the contact approach faster than its push opens it has no answer (Painlevé).
            if effective > 0.0 {
                return self.dragged(-normal / effective, slip);
            }
            return frictionless;
        }
        let w = into_axes(self.axis, [x, y]);
        let w = [
            w[0] - self.coupling[0] * (normal / self.normal),
            w[1] - self.coupling[1] * (normal / self.normal),
        ];
        let ratio = self.friction / self.normal;
        let (g, s) = (self.coupling, self.stiff);
        let mut a = 0.0;
        let mut l = [0.0; 2];
        for step in 0..MAX_STEPS {
            let r = [1.0 / (s[0] + a), 1.0 / (s[1] + a)];
            l = [-w[0] * r[0], -w[1] * r[1]];
            let length = norm(&l);
            let push = normal + g[0] * l[0] + g[1] * l[1];
            let f = length + ratio * push;
            if f <= 0.0 && step == 0 {
                let t = from_axes(self.axis, l);
                return [-push / self.normal, t[0], t[1]];
            }
            let is_short = f > 0.0 && length > 0.0;
            if !is_short {
                break;
            }
            let m = [l[0] * r[0], l[1] * r[1]];
            let slope = -(l[0] * m[0] + l[1] * m[1]) / length - ratio * (g[0] * m[0] + g[1] * m[1]);
            // The second derivative of the length is positive. The second derivative of the other terms is at
            // least `-curvature` from here on.
            let bend = |k: usize| f64::max(0.0, -g[k] * m[k] * r[k]);
            let curvature = 2.0 * ratio * (bend(0) + bend(1));
            let root = (slope * slope + 2.0 * curvature * f).sqrt();
            let h = if slope <= 0.0 {
                2.0 * f / (root - slope)
            } else {
                (slope + root) / curvature
            };
            let next = a + h;
            let is_step = next > a && next.is_finite();
            if !is_step {
                break;
            }
            let is_last = h <= LAST_STEP * next;
            a = next;
            if is_last {
                break;
            }
        }
        let length = norm(&l);
        let t = from_axes(self.axis, l);
        [length / self.friction, t[0], t[1]]
    }

    /// Returns the solution of a contact that slips in the prescribed unit direction `[x, y]` with the normal impulse
    /// `push`: the friction impulse is opposite to this direction.
    fn dragged(&self, push: f64, [x, y]: [f64; 2]) -> Triple {
        let drag = -self.friction * push;
        [push, drag * x, drag * y]
    }

    /// Computes the tangential impulse $\lambda_t$ of one contact whose normal impulse is fixed at $p$ = `cap`. The
    /// result minimizes $\frac12\lambda_t^TG_{tt}\lambda_t + (b_t + gp)\cdot\lambda_t$ over the friction disc. Here
    /// $b_t$ is the tangential velocity before the impact. $G_{tt}$ and $g$ are the tangential and mixed parts of the
    /// contact's block of the Delassus matrix.
    fn saturated(&self, [_, x, y]: [f64; 3], cap: f64) -> Triple {
        if let Some(slip) = self.slip {
            return self.dragged(cap, slip);
        }
        let (values, axis) = eigen(self.tangent);
        let flat = FLAT * values[0].max(values[1]);
        let s = values.map(|s| if s > flat { s } else { f64::INFINITY });
        let w = into_axes(
            axis,
            [
                x + self.given_coupling[0] * cap,
                y + self.given_coupling[1] * cap,
            ],
        );
        let radius = self.friction * cap;
        if radius == 0.0 {
            return [cap, 0.0, 0.0];
        }
        let (mut a, mut l) = (0.0, [0.0; 2]);
        for step in 0..MAX_STEPS {
            let r = [1.0 / (s[0] + a), 1.0 / (s[1] + a)];
            l = [-w[0] * r[0], -w[1] * r[1]];
            let length = norm(&l);
            if length <= radius && step == 0 {
                let [x, y] = from_axes(axis, l);
                return [cap, x, y];
            }
            let is_short = length > radius;
            if !is_short {
                break;
            }
            // Newton's method on the reciprocal length, which is concave in a: the iterates approach from the
            // left.
            let drop = (l[0] * l[0] * r[0] + l[1] * l[1] * r[1]) / length;
            let h = (length - radius) / radius * (length / drop);
            let next = a + h;
            let is_step = next > a && next.is_finite();
            if !is_step {
                break;
            }
            let is_last = h <= LAST_STEP * next;
            a = next;
            if is_last {
                break;
            }
        }
        let length = norm(&l);
        let factor = if length > 0.0 { radius / length } else { 0.0 };
        let [x, y] = from_axes(axis, [l[0] * factor, l[1] * factor]);
        [cap, x, y]
    }
}

/// Computes the two eigenvalues of the symmetric matrix $(s_0, s_1; s_1, s_2)$ and the unit eigenvector of the
/// first one.
fn eigen(s: [f64; 3]) -> ([f64; 2], [f64; 2]) {
    if s[1] == 0.0 {
        return ([s[0], s[2]], [1.0, 0.0]);
    }
    // One Jacobi rotation.
    let theta = (s[2] - s[0]) / (2.0 * s[1]);
    let t = theta.signum() / (theta.abs() + norm(&[theta, 1.0]));
    let c = 1.0 / norm(&[t, 1.0]);
    ([s[0] - t * s[1], s[2] + t * s[1]], [c, -t * c])
}

#[inline]
fn into_axes(axis: [f64; 2], x: [f64; 2]) -> [f64; 2] {
    [
        axis[0] * x[0] + axis[1] * x[1],
        axis[0] * x[1] - axis[1] * x[0],
    ]
}

#[inline]
fn from_axes(axis: [f64; 2], x: [f64; 2]) -> [f64; 2] {
    [
        axis[0] * x[0] - axis[1] * x[1],
        axis[1] * x[0] + axis[0] * x[1],
    ]
}
