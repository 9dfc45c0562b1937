//! One step of curved sliding as a Taylor polynomial.

use super::flow::Flow;
use super::state::State;

/// Order of the polynomials.
pub(super) const ORDER: usize = 20;

/// Longest arc, in units of the rate.
const LONGEST: f64 = 16.0;

/// Longest arc where the normal velocity can fall. A direction turns by less than this, so that it
/// stays below a half turn and crosses the line of $d$ at most once.
const HALF_TURN: f64 = 3.0;

/// Rounding of a polynomial whose first coefficient is one.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Reciprocals of 1, 2, ...
const RECIPROCAL: [f64; ORDER + 2] = {
    let mut table = [0.0; ORDER + 2];
    let mut k = 1;
    while k < ORDER + 2 {
        table[k] = 1.0 / k as f64;
        k += 1;
    }
    table
};

/// Taylor polynomials of the sliding velocity over one step, in units of the sliding speed at its
/// start: $u = \gamma/\rho_0$, $r = \rho/\rho_0$, with
///
/// $$ u' = a r - A u, \qquad r^2 = u\cdot u, $$
///
/// so that two symmetric Cauchy products a coefficient suffice. Impulse and normal velocity are
/// linear in their integrals, the work of the normal impulse takes one more product.
#[derive(Clone, Debug)]
pub(super) struct Arc {
    x: [f64; ORDER + 1],
    y: [f64; ORDER + 1],
    r: [f64; ORDER + 1],
    /// Coefficients of $v_z$.
    normal: [f64; ORDER + 1],
    /// Coefficients of $\int v_z r$, the first being zero.
    work: [f64; ORDER + 1],
    /// Normal impulse per parameter at the start, $\rho_0$ over the rate.
    unit: f64,
    rho: f64,
    mu: f64,
    /// Largest parameter for which the truncation error is below the tolerance.
    pub(super) length: f64,
}

impl Arc {
    /// Expands the flow at a sliding state.
    pub(super) fn expand(flow: &Flow, mu: f64, state: &State, tolerance: f64) -> Self {
        let mut x = [0.0; ORDER + 1];
        let mut y = [0.0; ORDER + 1];
        let mut r = [0.0; ORDER + 1];
        let rho = state.rho;
        x[0] = state.sliding[0] / rho;
        y[0] = state.sliding[1] / rho;
        r[0] = 1.0;
        for k in 0..ORDER {
            let n = k + 1;
            let q = RECIPROCAL[n];
            x[n] = q * (flow.a1 * r[k] - flow.a11 * x[k] - flow.a12 * y[k]);
            y[n] = q * (flow.a2 * r[k] - flow.a12 * x[k] - flow.a22 * y[k]);
            // Coefficient n of u.u - r^2 without the term r_0 r_n.
            let mut sum = x[0] * x[n] + y[0] * y[n];
            let half = n / 2;
            let odd = n % 2;
            for j in 1..half + odd {
                sum += x[j] * x[n - j] + y[j] * y[n - j] - r[j] * r[n - j];
            }
            if odd == 0 {
                sum += 0.5 * (x[half] * x[half] + y[half] * y[half] - r[half] * r[half]);
            }
            r[n] = sum;
        }
        let unit = rho / flow.rate;
        let mut normal = [0.0; ORDER + 1];
        normal[0] = state.normal_velocity;
        for k in 0..ORDER {
            let rate = flow.wzz * r[k] - flow.pull[0] * x[k] - flow.pull[1] * y[k];
            normal[k + 1] = unit * rate * RECIPROCAL[k + 1];
        }
        let mut work = [0.0; ORDER + 1];
        for k in 0..ORDER {
            let mut sum = 0.0;
            for j in 0..=k {
                sum += normal[j] * r[k - j];
            }
            work[k + 1] = sum * RECIPROCAL[k + 1];
        }
        // The work is a product and converges more slowly than its factors.
        let per_work = 1.0 / (work[1].abs() + work[2].abs());
        let size = |k: usize| {
            let sliding = x[k].abs().max(y[k].abs()).max(r[k].abs());
            sliding.max(work[k].abs() * per_work)
        };
        let reach = |k: usize| ((tolerance / size(k)).log2() * RECIPROCAL[k]).exp2();
        let length = reach(ORDER).min(reach(ORDER - 1)).min(if flow.is_monotone {
            LONGEST
        } else {
            HALF_TURN
        });
        let mut arc = Self {
            x,
            y,
            r,
            normal,
            work,
            unit,
            rho,
            mu,
            length,
        };
        // What the polynomials leave of r = |u| measures what their last coefficients may hide, and
        // against the speed at the end, so that the direction is as good as the speed.
        while arc.defect(arc.length, tolerance) {
            arc.length *= 0.85;
        }
        arc
    }

    /// Whether $|r - |u||$ exceeds the tolerance at a parameter.
    fn defect(&self, t: f64, tolerance: f64) -> bool {
        let [x, y] = self.sliding(t);
        let speed = (x * x + y * y).sqrt();
        let gap = (Self::value(&self.r, t) - speed).abs();
        gap > tolerance * speed + ROUNDING
    }

    #[inline]
    fn value(coefficients: &[f64; ORDER + 1], t: f64) -> f64 {
        coefficients.iter().rev().fold(0.0, |sum, c| sum * t + c)
    }

    #[inline]
    fn integral(coefficients: &[f64; ORDER + 1], t: f64) -> f64 {
        let mut sum = 0.0;
        for k in (0..=ORDER).rev() {
            sum = sum * t + coefficients[k] * RECIPROCAL[k + 1];
        }
        sum * t
    }

    /// Normal velocity.
    #[inline]
    pub(super) fn normal_velocity(&self, t: f64) -> f64 {
        Self::value(&self.normal, t)
    }

    /// Derivative of the normal velocity.
    #[inline]
    pub(super) fn normal_derivative(&self, t: f64) -> f64 {
        let mut sum = 0.0;
        for k in (1..=ORDER).rev() {
            sum = sum * t + k as f64 * self.normal[k];
        }
        sum
    }

    /// Work of the normal impulse since the start of the arc.
    #[inline]
    pub(super) fn work(&self, t: f64) -> f64 {
        self.unit * Self::value(&self.work, t)
    }

    /// Normal impulse since the start of the arc.
    #[inline]
    pub(super) fn impulse(&self, t: f64) -> f64 {
        self.unit * Self::integral(&self.r, t)
    }

    /// Normal impulse per parameter.
    #[inline]
    pub(super) fn impulse_rate(&self, t: f64) -> f64 {
        self.unit * Self::value(&self.r, t)
    }

    /// Sliding velocity over the speed at the start.
    #[inline]
    pub(super) fn sliding(&self, t: f64) -> [f64; 2] {
        [Self::value(&self.x, t), Self::value(&self.y, t)]
    }

    /// The state at a parameter, from the state at the start of the arc.
    pub(super) fn at(&self, base: &State, t: f64) -> State {
        let [x, y] = self.sliding(t);
        let sliding = [self.rho * x, self.rho * y];
        let pull = -self.mu * self.unit;
        State {
            impulse: [
                base.impulse[0] + pull * Self::integral(&self.x, t),
                base.impulse[1] + pull * Self::integral(&self.y, t),
                base.impulse[2] + self.impulse(t),
            ],
            sliding,
            rho: self.rho * (x * x + y * y).sqrt(),
            normal_velocity: self.normal_velocity(t),
            work: base.work + self.work(t),
        }
    }

    /// Cross product of the sliding direction with a vector, and its derivative.
    fn cross(&self, flow: &Flow, t: f64, d: [f64; 2]) -> (f64, f64) {
        let ([x, y], r) = (self.sliding(t), Self::value(&self.r, t));
        let dx = flow.a1 * r - flow.a11 * x - flow.a12 * y;
        let dy = flow.a2 * r - flow.a12 * x - flow.a22 * y;
        (x * d[1] - y * d[0], dx * d[1] - dy * d[0])
    }

    /// $v_z'$ per parameter over the normal impulse at the start, and its derivative.
    fn normal_slope(&self, flow: &Flow, t: f64) -> (f64, f64) {
        let ([x, y], r) = (self.sliding(t), Self::value(&self.r, t));
        let dx = flow.a1 * r - flow.a11 * x - flow.a12 * y;
        let dy = flow.a2 * r - flow.a12 * x - flow.a22 * y;
        let dr = (x * dx + y * dy) / r;
        let [px, py] = flow.pull;
        (
            flow.wzz * r - px * x - py * y,
            flow.wzz * dr - px * dx - py * dy,
        )
    }

    /// Parameters between which the normal velocity is monotone: its interior extrema, at most
    /// two, in order.
    ///
    /// $v_z' = w_{zz} - \mu|d|\cos(\theta - \theta_d)$ is monotone in the direction except where the
    /// direction crosses the line of $d$, which an arc does at most once.
    pub(super) fn turning_points(&self, flow: &Flow) -> ([f64; 2], usize) {
        let mut found = [0.0; 2];
        let mut count = 0;
        if flow.is_monotone {
            return (found, count);
        }
        let end = self.length;
        let cross = |t| self.cross(flow, t, flow.pull);
        let mut cuts = [0.0, end, end];
        let (first, last) = (cross(0.0).0, cross(end).0);
        let mut pieces = 1;
        if first * last < 0.0 {
            cuts[1] = monotone_root([0.0, end], [first, last], cross);
            pieces = 2;
        }
        for piece in 0..pieces {
            let (a, b) = (cuts[piece], cuts[piece + 1]);
            let slope = |t| self.normal_slope(flow, t);
            let (low, high) = (slope(a).0, slope(b).0);
            if low * high < 0.0 && count < 2 {
                found[count] = monotone_root([a, b], [low, high], slope);
                count += 1;
            }
        }
        (found, count)
    }
}

/// Root of a function with one sign change on an interval: Newton's method kept inside a shrinking
/// bracket. `function` returns the value and the derivative; `values` are those at the ends.
#[inline]
pub(super) fn monotone_root(
    [mut low, mut high]: [f64; 2],
    values: [f64; 2],
    function: impl Fn(f64) -> (f64, f64),
) -> f64 {
    if values[0] == 0.0 {
        return low;
    }
    if values[1] == 0.0 {
        return high;
    }
    let rising = values[1] > 0.0;
    let mut at = low + (high - low) * (values[0] / (values[0] - values[1]));
    for _ in 0..100 {
        let (value, slope) = function(at);
        if value == 0.0 {
            return at;
        }
        if (value > 0.0) == rising {
            high = at;
        } else {
            low = at;
        }
        let newton = at - value / slope;
        if (newton - at).abs() <= 2.0 * f64::EPSILON * at.abs() {
            return newton.clamp(low, high);
        }
        // Also where the slope is zero or not a number.
        at = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        if !(low < at && at < high) {
            return at;
        }
    }
    at
}
