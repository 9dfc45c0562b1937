//! Derivatives of sliding along one step: Taylor polynomials beside those of the step.

use super::arc::{Arc, ORDER, Powers, RECIPROCAL, SIZE};
use super::flow::Flow;
use super::inertia::ContactInertia;

/// Directions that change sliding: $b_{11}, b_{12}, b_{22}, d_1, d_2, \gamma_x, \gamma_y, \mu$.
pub(super) const LANES: usize = 8;

/// One number for each of the directions.
pub(super) type Lanes = [f64; LANES];

/// The lane of $\mu$.
pub(super) const FRICTION_LANE: usize = 7;

/// The lanes of the sliding velocity.
pub(super) const SLIDING_LANES: [usize; 2] = [5, 6];

/// Derivatives of a state at a fixed parameter of its phase. All others of the state follow from
/// them: the impulse is linear in sliding and normal impulse, the work in impulse and path.
#[derive(Clone, Copy)]
pub(super) struct Deltas {
    pub(super) sliding: [Lanes; 2],
    pub(super) normal_impulse: Lanes,
    /// Of $\int \rho dI_z$, what friction takes over $\mu$.
    pub(super) path: Lanes,
}

/// Taylor polynomials of the derivatives of sliding along an arc, in its units,
///
/// $$ \delta u' = a \delta r - A \delta u + \delta a r - \delta A u, \qquad r \delta r = u\cdot\delta u, $$
///
/// all directions side by side. $\delta(r^2) = 2u\cdot\delta u$ comes with $\delta r$.
pub(super) struct ArcVariation {
    base: Deltas,
    base_path: f64,
    x: [Lanes; SIZE],
    y: [Lanes; SIZE],
    r: [Lanes; SIZE],
    /// Coefficients of $u\cdot\delta u$.
    along: [Lanes; SIZE],
    /// Coefficients of $r^2$.
    square: [f64; SIZE],
    rho: f64,
    unit: f64,
}

impl ArcVariation {
    /// Room for an expansion.
    pub(super) fn new() -> Self {
        let none = [[0.0; LANES]; SIZE];
        Self {
            base: Deltas {
                sliding: [[0.0; LANES]; 2],
                normal_impulse: [0.0; LANES],
                path: [0.0; LANES],
            },
            base_path: 0.0,
            x: none,
            y: none,
            r: none,
            along: none,
            square: [0.0; SIZE],
            rho: 0.0,
            unit: 0.0,
        }
    }

    /// Expands the variational equations along an arc, from path and derivatives at its start.
    pub(super) fn expand(
        &mut self,
        arc: &Arc,
        flow: &Flow,
        w: &ContactInertia,
        mu: f64,
        (path, base): (f64, &Deltas),
    ) {
        self.base = *base;
        self.base_path = path;
        self.rho = arc.rho;
        self.unit = arc.unit;
        let (per_rho, per_rate) = (1.0 / arc.rho, 1.0 / flow.rate);
        let turned = mu * per_rate;
        self.x[0] = base.sliding[0].map(|x| x * per_rho);
        self.y[0] = base.sliding[1].map(|y| y * per_rho);
        for n in 0..SIZE {
            let (mut along, mut speed) = ([0.0; LANES], [0.0; LANES]);
            let mut square = 0.0;
            for j in 0..=n {
                let (u, v) = (arc.x[j], arc.y[j]);
                let (x, y) = (&self.x[n - j], &self.y[n - j]);
                for lane in 0..LANES {
                    along[lane] += u * x[lane] + v * y[lane];
                }
                square += arc.r[j] * arc.r[n - j];
            }
            for j in 1..=n {
                let (s, r) = (arc.r[j], &self.r[n - j]);
                for lane in 0..LANES {
                    speed[lane] += s * r[lane];
                }
            }
            for lane in 0..LANES {
                speed[lane] = along[lane] - speed[lane];
            }
            self.along[n] = along;
            self.r[n] = speed;
            self.square[n] = square;
            if n == ORDER {
                break;
            }
            let q = RECIPROCAL[n + 1];
            let (u, v, s) = (arc.x[n], arc.y[n], arc.r[n]);
            let (bx, by) = (w.b11 * u + w.b12 * v, w.b12 * u + w.b22 * v);
            let own_x = [
                turned * u,
                turned * v,
                0.0,
                -per_rate * s,
                0.0,
                0.0,
                0.0,
                per_rate * bx,
            ];
            let own_y = [
                0.0,
                turned * u,
                turned * v,
                0.0,
                -per_rate * s,
                0.0,
                0.0,
                per_rate * by,
            ];
            let (x, y) = (self.x[n], self.y[n]);
            for lane in 0..LANES {
                let (x, y, r) = (x[lane], y[lane], speed[lane]);
                self.x[n + 1][lane] = q * (flow.a1 * r - flow.a11 * x - flow.a12 * y - own_x[lane]);
                self.y[n + 1][lane] = q * (flow.a2 * r - flow.a12 * x - flow.a22 * y - own_y[lane]);
            }
        }
    }

    /// Path and derivatives at a parameter.
    pub(super) fn at(&self, t: f64) -> (f64, Deltas) {
        let powers = Powers::of(t);
        let integral = powers.integral();
        let along = self.unit * t;
        let mut out = self.base;
        out.sliding = [[0.0; LANES]; 2];
        let (mut speed, mut square) = ([0.0; LANES], [0.0; LANES]);
        for n in 0..SIZE {
            let (power, area) = (powers.0[n], integral.0[n]);
            for lane in 0..LANES {
                out.sliding[0][lane] += power * self.x[n][lane];
                out.sliding[1][lane] += power * self.y[n][lane];
                speed[lane] += area * self.r[n][lane];
                square[lane] += area * self.along[n][lane];
            }
        }
        for lane in 0..LANES {
            out.sliding[0][lane] *= self.rho;
            out.sliding[1][lane] *= self.rho;
            out.normal_impulse[lane] += along * speed[lane];
            out.path[lane] += 2.0 * self.rho * along * square[lane];
        }
        (
            self.base_path + self.rho * along * integral.dot(&self.square),
            out,
        )
    }
}
