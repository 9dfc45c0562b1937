//! Derivatives of sliding along one step, as Taylor polynomials computed together with those of the step.

use super::arc::{Arc, ORDER, Powers, RECIPROCAL, SIZE};
use super::flow::Flow;
use super::inertia::ContactInertia;

/// Number of parameters that change sliding: $b_{11}, b_{12}, b_{22}, d_1, d_2, \gamma_x, \gamma_y, \mu$. Each has one
/// lane.
pub(crate) const LANES: usize = 8;

/// One number for each of these parameters.
pub(crate) type Lanes = [f64; LANES];

/// Lanes of the sliding velocity.
pub(crate) const SLIDING_LANES: [usize; 2] = [5, 6];

/// Number of coefficients on which an arc depends in addition to its start: $A_{11}, A_{12}, A_{22}, a_1, a_2$.
const RATES: usize = 5;

/// Number of coefficients whose derivatives are computed. The derivatives by the last one follow from homogeneity.
const FOLLOWED: usize = RATES - 1;

/// Derivatives of a state at a fixed parameter of its phase. The derivatives of the impulse are linear in these.
#[derive(Clone, Copy)]
pub(crate) struct Deltas {
    pub(crate) sliding: [Lanes; 2],
    pub(crate) normal_impulse: Lanes,
}

impl Deltas {
    /// Derivatives before any change.
    pub(crate) const NONE: Self = Self {
        sliding: [[0.0; LANES]; 2],
        normal_impulse: [0.0; LANES],
    };
}

/// Derivatives of $u$, of $\int r dt$ and of the excess $\int (r^2 - u_0\cdot u) dt$.
type Response = [f64; 4];

/// Taylor polynomials of the derivatives of sliding along an arc, in the units of the arc,
///
/// $$ \delta u' = a \delta r - A \delta u + \delta a r - \delta A u, \qquad r \delta r = u\cdot\delta u, $$
///
/// with respect to four of the five coefficients in $A$ and $a$, in parallel. The derivative by the fifth follows from
/// scaling all of them, $\delta u = tu'$. A change of $u$ along itself keeps its form; a rotation, $\delta u = (-u_y,
/// u_x)$, is a rotation of the start together with one of $A$ and $a$.
pub(crate) struct ArcVariation {
    arc: Option<Arc>,
    base: Deltas,
    x: [[f64; FOLLOWED]; SIZE],
    y: [[f64; FOLLOWED]; SIZE],
    r: [[f64; FOLLOWED]; SIZE],
    /// Coefficients of the rate of the excess, and of its derivatives. The first is zero: in a short time the work of
    /// friction is nearly $\mu u_0\cdot u$.
    excess: [f64; SIZE],
    excesses: [[f64; FOLLOWED]; SIZE],
    /// Coefficients of $A$ and $a$, and the index of the largest one, whose derivatives are not computed.
    rates: [f64; RATES],
    left_out: usize,
    /// Change of these coefficients by each parameter.
    changes: [[f64; RATES]; LANES],
}

impl ArcVariation {
    /// Prepares the derivatives of sliding by the parameters of a contact with inverse inertia `w` and friction coefficient `mu`.
    /// No step of sliding is contained yet; [`expand`](Self::expand) adds one.
    pub(crate) fn new(flow: &Flow, w: &ContactInertia, mu: f64) -> Self {
        let rates = [flow.a11, flow.a12, flow.a22, flow.a1, flow.a2];
        let largest = |a: usize, b: usize| {
            if rates[b].abs() > rates[a].abs() {
                b
            } else {
                a
            }
        };
        let per_rate = if flow.rate > 0.0 {
            1.0 / flow.rate
        } else {
            0.0
        };
        let mut changes = [[0.0; RATES]; LANES];
        for (k, own) in [w.b11, w.b12, w.b22].into_iter().enumerate() {
            changes[k][k] = mu * per_rate;
            changes[LANES - 1][k] = own * per_rate;
        }
        changes[3][3] = per_rate;
        changes[4][4] = per_rate;
        let none = [[0.0; FOLLOWED]; SIZE];
        Self {
            arc: None,
            base: Deltas::NONE,
            x: none,
            y: none,
            r: none,
            excess: [0.0; SIZE],
            excesses: none,
            rates,
            left_out: (0..RATES).fold(0, largest),
            changes,
        }
    }

    /// Returns the indices of those four of the five coefficients of the sliding equation whose derivatives are computed
    /// directly. The derivative by the fifth coefficient follows from the effect of scaling all coefficients.
    fn followed(&self) -> [usize; FOLLOWED] {
        std::array::from_fn(|i| i + usize::from(i >= self.left_out))
    }

    /// Expands the derivatives of sliding along one step of curved sliding, `arc`, in Taylor polynomials. `base` contains the
    /// derivatives at the start of the step.
    pub(crate) fn expand(&mut self, arc: &Arc, base: &Deltas) {
        self.arc = Some(arc.clone());
        self.base = *base;
        let (x0, y0) = (arc.x[0], arc.y[0]);
        let [a11, a12, a22, a1, a2] = self.rates;
        // Change of u' by a unit change of each coefficient, per x, y and r.
        let own = self.followed().map(|k| match k {
            0 => [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
            1 => [[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]],
            2 => [[0.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
            3 => [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]],
            _ => [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        });
        for n in 0..SIZE {
            let (mut along, mut speed) = ([0.0; FOLLOWED], [0.0; FOLLOWED]);
            let mut square = arc.r[n];
            // The derivatives begin with the first power.
            for j in 0..n {
                let (u, v, s) = (arc.x[j], arc.y[j], arc.r[j + 1]);
                let (x, y, r) = (&self.x[n - j], &self.y[n - j], &self.r[n - 1 - j]);
                for i in 0..FOLLOWED {
                    along[i] += u * x[i] + v * y[i];
                    speed[i] += s * r[i];
                }
                square += s * arc.r[n - 1 - j];
            }
            for i in 0..FOLLOWED {
                speed[i] = along[i] - speed[i];
            }
            let (x, y) = (self.x[n], self.y[n]);
            for (i, excess) in self.excesses[n].iter_mut().enumerate() {
                *excess = 2.0 * along[i] - x0 * x[i] - y0 * y[i];
            }
            self.r[n] = speed;
            self.excess[n] = if n == 0 {
                0.0
            } else {
                square - x0 * arc.x[n] - y0 * arc.y[n]
            };
            if n == ORDER {
                break;
            }
            let q = RECIPROCAL[n + 1];
            let (u, v, s) = (arc.x[n], arc.y[n], arc.r[n]);
            for i in 0..FOLLOWED {
                let [by_x, by_y] = own[i].map(|[cx, cy, cr]| cx * u + cy * v + cr * s);
                self.x[n + 1][i] = q * (a1 * speed[i] - a11 * x[i] - a12 * y[i] + by_x);
                self.y[n + 1][i] = q * (a2 * speed[i] - a12 * x[i] - a22 * y[i] + by_y);
            }
        }
    }

    /// Computes the derivatives of sliding velocity and normal impulse by all parameters at path parameter `t` of the step. The
    /// second result contains the derivatives of $e = \int\rho dI_z - \gamma_0\cdot\int s dI_z$ over the step up to `t`, the
    /// third its value. $\rho$ is the sliding speed, $s$ the sliding direction, $I_z$ the normal impulse and $\gamma_0$ the
    /// sliding velocity at the start of the step. With the friction coefficient $\mu$ and the tangential impulse $q$ of the step,
    /// $\mu e = \gamma_0\cdot q + \mu\int\rho dI_z$ is the part of the work of the normal impulse that is due to friction.
    pub(crate) fn at(&self, t: f64) -> (Deltas, Lanes, f64) {
        let Some(arc) = &self.arc else {
            return (self.base, [0.0; LANES], 0.0);
        };
        let powers = Powers::of(t);
        let integral = powers.integral();
        let sum = |powers: &Powers, of: &[[f64; FOLLOWED]; SIZE]| {
            let mut sum = [0.0; FOLLOWED];
            for (power, of) in powers.0.iter().zip(of) {
                for (sum, x) in sum.iter_mut().zip(of) {
                    *sum += power * x;
                }
            }
            sum
        };
        let followed = [
            sum(&powers, &self.x),
            sum(&powers, &self.y),
            sum(&integral, &self.r),
            sum(&integral, &self.excesses),
        ];
        let (x, y) = (powers.dot(&arc.x), powers.dot(&arc.y));
        let r = (x * x + y * y).sqrt();
        let (time, excess) = (t * integral.dot(&arc.r), t * integral.dot(&self.excess));
        let grows = t * powers.dot(&self.excess) - excess;
        let by_rate = self.responses(followed, t, [x, y, r], time, grows);
        let [a11, a12, a22, a1, a2] = self.rates;
        let turn = [-2.0 * a12, a11 - a22, 2.0 * a12, -a2, a1];
        let (x0, y0) = (arc.x[0], arc.y[0]);
        let per_rho = 1.0 / arc.rho;
        let mut out = self.base;
        let mut by_excess = [0.0; LANES];
        let unit = arc.rho * arc.unit;
        for (lane, change) in self.changes.iter().enumerate() {
            let [u, v] = [0, 1].map(|i| self.base.sliding[i][lane] * per_rho);
            let (grown, turned) = (x0 * u + y0 * v, x0 * v - y0 * u);
            let mut sum = [
                grown * x - turned * y,
                grown * y + turned * x,
                grown * time,
                2.0 * grown * excess,
            ];
            for (k, response) in by_rate.iter().enumerate() {
                let weight = change[k] - turned * turn[k];
                for (sum, x) in sum.iter_mut().zip(response) {
                    *sum += weight * x;
                }
            }
            out.sliding[0][lane] = arc.rho * sum[0];
            out.sliding[1][lane] = arc.rho * sum[1];
            out.normal_impulse[lane] += arc.unit * sum[2];
            by_excess[lane] = unit * sum[3];
        }
        (out, by_excess, unit * excess)
    }

    /// Computes the derivatives of sliding by all five coefficients of the sliding equation from those by four coefficients,
    /// `followed`. The fifth follows from the effect of scaling all coefficients. The last two entries of `followed` are
    /// integrals that must still be multiplied by the path parameter `t`. `[x, y, r]`: sliding velocity and speed; `time`:
    /// integral of `r`; `excess`: change of the excess $\int (r^2 - u_0\cdot u) dt$ if all coefficients are scaled, with the
    /// sliding velocity $u$ and its value $u_0$ at the start.
    fn responses(
        &self,
        followed: [[f64; FOLLOWED]; 4],
        t: f64,
        [x, y, r]: [f64; 3],
        time: f64,
        excess: f64,
    ) -> [Response; RATES] {
        let [a11, a12, a22, a1, a2] = self.rates;
        // Scaling all coefficients makes time run faster.
        let mut rest = [
            t * (a1 * r - a11 * x - a12 * y),
            t * (a2 * r - a12 * x - a22 * y),
            t * r - time,
            excess,
        ];
        let mut out = [[0.0; 4]; RATES];
        for (i, k) in self.followed().into_iter().enumerate() {
            out[k] = [
                followed[0][i],
                followed[1][i],
                t * followed[2][i],
                t * followed[3][i],
            ];
            for (rest, x) in rest.iter_mut().zip(out[k]) {
                *rest -= self.rates[k] * x;
            }
        }
        let largest = self.rates[self.left_out];
        if largest != 0.0 {
            out[self.left_out] = rest.map(|x| x / largest);
        }
        out
    }
}
