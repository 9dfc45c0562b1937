//! Derivatives of the last part of sliding before rest.

use super::arc_variation::{LANES, Lanes, SLIDING_LANES};
use super::flow::Flow;
use super::inertia::ContactInertia;
use super::state::State;
use super::tail::{Rates, TERMS, Tail, circular};
use crate::tolerances::NEGLIGIBLE;

/// Number of components of $a$ and $A$ parallel and perpendicular to an invariant direction: $a = (\alpha, \beta)$, $A =
/// \begin{pmatrix} m + h & k \cr k & m - h \end{pmatrix}$.
const COMPONENTS: usize = 5;

type Components = [f64; COMPONENTS];

/// Derivatives of the impulse and of the path that remain before rest.
pub(crate) struct Left {
    /// Remaining path $\int \rho dI_z$.
    pub(crate) path: f64,
    /// Derivatives of the remaining normal impulse and of the remaining path.
    pub(crate) by_normal_impulse: Lanes,
    pub(crate) by_path: Lanes,
}

/// Power series of a quantity and of its derivatives by the components.
struct Series {
    of: [f64; TERMS],
    by: [Components; TERMS],
}

impl Series {
    /// Solves $Mfq + gq' = -1$ for a power series $q$ in the angle from the limiting direction of sliding, and differentiates the
    /// coefficients of $q$ by the components of the sliding equation. $f$ and $g$ are the power series of the rates of sliding
    /// speed and direction (`rates`), $M$ is `degree`, and `terms` is the largest power that is computed. The components are
    /// those of the normal coupling and of the friction matrix, parallel and perpendicular to the limiting direction.
    fn solve(rates: &Rates, degree: f64, terms: usize) -> Self {
        let Rates { f, g } = rates;
        let mut of = [0.0; TERMS];
        let factor = |n: usize, j: usize| degree * f[j] + (n - j) as f64 * g[j + 1];
        let divisor = |n: usize| 1.0 / (degree * f[0] + n as f64 * g[1]);
        for n in 0..=terms {
            let mut left = if n == 0 { 1.0 } else { 0.0 };
            for j in 1..=n {
                left += factor(n, j) * of[n - j];
            }
            of[n] = -divisor(n) * left;
        }
        let mut by = [[0.0; COMPONENTS]; TERMS];
        for n in 0..terms {
            let mut left = [0.0; COMPONENTS];
            for j in 0..=n {
                let (radial, turning) = by_components(j);
                let (value, slope) = (degree * of[n - j], (n - j + 1) as f64 * of[n - j + 1]);
                for i in 0..COMPONENTS {
                    left[i] += radial[i] * value + turning[i] * slope;
                }
            }
            for j in 1..=n {
                let factor = factor(n, j);
                for i in 0..COMPONENTS {
                    left[i] += factor * by[n - j][i];
                }
            }
            let divisor = divisor(n);
            by[n] = left.map(|left| -divisor * left);
        }
        Self { of, by }
    }

    /// Evaluates the first `terms` terms of this power series at the angle `delta` (rad). Returns the value, the derivative by
    /// the angle, and the derivatives by the components of the sliding equation. The components are those of the normal coupling
    /// and of the friction matrix, parallel and perpendicular to the limiting direction of sliding.
    fn at(&self, delta: f64, terms: usize) -> (f64, f64, Components) {
        let (mut value, mut slope) = (0.0, 0.0);
        let mut by = [0.0; COMPONENTS];
        for n in (0..terms).rev() {
            slope = slope * delta + value;
            value = value * delta + self.of[n];
            for (by, coefficient) in by.iter_mut().zip(self.by[n]) {
                *by = *by * delta + coefficient;
            }
        }
        (value, slope, by)
    }
}

/// Returns power-series coefficient `n` of the derivatives of two rates by the components of the sliding equation: first for the
/// rate $f$ of the sliding speed, then for the rate $g$ of the sliding direction. The components are those of the normal coupling
/// and of the friction matrix, parallel and perpendicular to the limiting direction of sliding.
#[inline]
fn by_components(n: usize) -> (Components, Components) {
    let q = circular(n);
    let twice = q * (1u64 << n) as f64;
    let mean = if n == 0 { -1.0 } else { 0.0 };
    if n.is_multiple_of(2) {
        ([q, 0.0, mean, -twice, 0.0], [0.0, q, 0.0, 0.0, -twice])
    } else {
        ([0.0, q, mean, 0.0, -twice], [-q, 0.0, 0.0, twice, 0.0])
    }
}

impl Tail {
    /// Computes the path $\int\rho dI_z$ from a sliding state to rest, with the sliding speed $\rho$ and the normal impulse
    /// $I_z$. Also computes the derivatives of this path and of the remaining normal impulse by the parameters. `state` is the
    /// sliding state, `delta` the angle (rad) from the limiting direction of this series to the sliding direction, and `sliding`
    /// contains the derivatives of the sliding velocity in this state. The first argument contains inverse inertia, sliding
    /// equation and friction coefficient.
    pub(crate) fn left(
        &self,
        (w, flow, mu): (&ContactInertia, &Flow, f64),
        state: &State,
        delta: f64,
        sliding: &[Lanes; 2],
    ) -> Left {
        let terms = self.terms(delta);
        let rates = Rates::around(flow, self.direction);
        let (time, path) = (
            Series::solve(&rates, 1.0, terms).at(delta, terms),
            Series::solve(&rates, 2.0, terms).at(delta, terms),
        );
        let components = self.components(w, mu);
        let rho = state.rho;
        let [x, y] = state.sliding.map(|x| x / (rho * rho));
        let unit = rho / self.rate;
        let mut out = Left {
            path: unit * rho * path.0,
            by_normal_impulse: [0.0; LANES],
            by_path: [0.0; LANES],
        };
        for lane in 0..LANES {
            let [u, v] = [sliding[0][lane], sliding[1][lane]];
            let (grown, turned) = (x * u + y * v, x * v - y * u);
            let along = |by: &Components| -> f64 {
                by.iter().zip(&components[lane]).map(|(a, b)| a * b).sum()
            };
            out.by_normal_impulse[lane] =
                unit * (time.0 * grown + time.1 * turned + along(&time.2));
            out.by_path[lane] =
                unit * rho * (2.0 * path.0 * grown + path.1 * turned + along(&path.2));
        }
        out
    }

    /// Returns the number of terms of this power series, for the last part of sliding, that exceed rounding errors at the angle
    /// `delta` (rad) from the limiting direction.
    fn terms(&self, delta: f64) -> usize {
        let size = self.tau[0].abs() * NEGLIGIBLE;
        let mut power = 1.0;
        let mut last = 2;
        for n in 1..TERMS {
            if n as f64 * self.tau[n].abs() * power > size {
                last = n + 2;
            }
            power *= delta.abs();
        }
        last.min(TERMS - 1)
    }

    /// Returns the derivatives of the components of the sliding equation by each parameter (inverse inertia, contact velocity,
    /// friction). The components are those of the coupling $a$ and of the friction matrix $A$, parallel and perpendicular to the
    /// limiting direction of the series.
    fn components(&self, w: &ContactInertia, mu: f64) -> [Components; LANES] {
        let [c, s] = self.direction;
        let per_rate = 1.0 / self.rate;
        let turned = mu * per_rate;
        let half = 0.5 * (c * c - s * s);
        let ones = [
            [0.0, 0.0, 0.5, half, -c * s],
            [0.0, 0.0, 0.0, 2.0 * c * s, c * c - s * s],
            [0.0, 0.0, 0.5, -half, c * s],
        ];
        let mut out = [[0.0; COMPONENTS]; LANES];
        for (lane, (one, own)) in ones.iter().zip([w.b11, w.b12, w.b22]).enumerate() {
            out[lane] = one.map(|x| turned * x);
            for (sum, x) in out[LANES - 1].iter_mut().zip(one) {
                *sum += per_rate * own * x;
            }
        }
        let [first, _] = SLIDING_LANES;
        out[first - 2] = [per_rate * c, -per_rate * s, 0.0, 0.0, 0.0];
        out[first - 1] = [per_rate * s, per_rate * c, 0.0, 0.0, 0.0];
        out
    }
}
