//! One step of curved sliding as a Taylor polynomial.

use super::flow::Flow;
use super::state::State;
use crate::tolerances::ROUNDING;
use carom_numeric::roots;

/// Order of the Taylor polynomials.
pub(crate) const ORDER: usize = 20;

/// Number of coefficients of a polynomial.
pub(crate) const SIZE: usize = ORDER + 1;

/// Longest arc, in the parameter $\sigma$ of the flow (units of the inverse rate).
const LONGEST: f64 = 16.0;

/// Longest arc if the normal velocity can fall. The sliding direction turns by less than this angle (rad), so that it
/// turns by less than half a turn and crosses the line of $d$ at most once.
const HALF_TURN: f64 = 3.0;

/// Reciprocals of 1, 2, ...; entry 0 is unused.
pub(crate) const RECIPROCAL: [f64; ORDER + 2] = {
    let mut table = [0.0; ORDER + 2];
    let mut k = 1;
    while k < ORDER + 2 {
        table[k] = 1.0 / k as f64;
        k += 1;
    }
    table
};

/// Powers $1, t, t^2, \dots$. A polynomial is their scalar product with its coefficients, which avoids the latency of
/// Horner's rule.
pub(crate) struct Powers(pub(crate) [f64; SIZE]);

impl Powers {
    #[inline]
    pub(crate) fn of(t: f64) -> Self {
        let mut powers = [1.0; SIZE];
        powers[1] = t;
        for k in 2..SIZE {
            powers[k] = powers[k / 2] * powers[k - k / 2];
        }
        Self(powers)
    }

    /// Returns the factors $1, t/2, t^2/3, \dots$ for the powers $1, t, t^2, \dots$ stored here. Each factor times $t$ is the
    /// integral of the corresponding power from 0 to $t$.
    #[inline]
    pub(crate) fn integral(&self) -> Self {
        let mut powers = self.0;
        for (power, q) in powers.iter_mut().zip(&RECIPROCAL[1..]) {
            *power *= q;
        }
        Self(powers)
    }

    #[inline]
    pub(crate) fn dot(&self, coefficients: &[f64; SIZE]) -> f64 {
        let mut sums = [0.0; 4];
        for (p, c) in self.0.chunks_exact(4).zip(coefficients.chunks_exact(4)) {
            for lane in 0..4 {
                sums[lane] += p[lane] * c[lane];
            }
        }
        let last = self.0[ORDER] * coefficients[ORDER];
        (sums[0] + sums[2]) + (sums[1] + sums[3]) + last
    }
}

const _: () = assert!(
    SIZE % 4 == 1,
    "the scalar product takes four lanes and one more"
);

/// Approximates the binary logarithm of a positive number with an error below 0.09. The bits of the number are read as a
/// fixed-point number.
#[inline]
fn binary_logarithm(x: f64) -> f64 {
    (x.to_bits() as f64) * carom_numeric::power(2.0f64, -52) - 1023.0
}

/// Approximates 2 to the power `x`; the inverse of [`binary_logarithm`] for exponents from -1000 to 1000.
#[inline]
fn power_of_two(x: f64) -> f64 {
    f64::from_bits(((x.clamp(-1000.0, 1000.0) + 1023.0) * carom_numeric::power(2.0f64, 52)) as u64)
}

/// Taylor polynomials of the sliding velocity $\gamma$ and the sliding speed $\rho$ over one step, relative to the
/// sliding speed $\rho_0$ at its start: $u = \gamma/\rho_0$, $r = \rho/\rho_0$, with
///
/// $$ u' = a r - A u, \qquad r^2 = u\cdot u, $$
///
/// where $a$ and $A$ are the coupling and the friction matrix of the [`Flow`]. So two symmetric Cauchy products per
/// coefficient suffice. Impulse and normal velocity are linear in the integrals of $u$ and $r$; the work of the normal
/// impulse takes one more product.
#[derive(Clone, Debug)]
pub(crate) struct Arc {
    pub(crate) x: [f64; SIZE],
    pub(crate) y: [f64; SIZE],
    pub(crate) r: [f64; SIZE],
    /// Coefficients of the normal velocity $v_z$.
    normal: [f64; SIZE],
    /// Coefficients of $\int v_z r$; the first is zero.
    work: [f64; SIZE],
    /// Normal impulse per unit of the parameter at the start: $\rho_0$ divided by the rate.
    pub(crate) unit: f64,
    pub(crate) rho: f64,
    mu: f64,
    /// Largest parameter at which the truncation error is below the tolerance.
    length: f64,
}

/// Coefficients of an arc during their computation. Each new coefficient adds its products with the earlier ones to the
/// sums that later coefficients need, in loops of fixed length and without reductions.
struct Series {
    x: [f64; SIZE],
    y: [f64; SIZE],
    r: [f64; SIZE],
    /// Half the coefficients of $u\cdot u - r^2$, without the terms that contain the first coefficients.
    sums: [f64; SIZE],
    normal: [f64; SIZE],
    work: [f64; SIZE],
}

impl Series {
    /// Computes the Taylor coefficients of order `N` of curved sliding from those of lower order. `normal` contains $w_{zz}$ and
    /// the two entries of $\mu d$, multiplied by the unit of normal impulse; these numbers determine the rate of the normal
    /// velocity. $w_{zz}$ is the normal inverse inertia, $\mu$ the friction coefficient and $d$ the coupling (change of the
    /// sliding velocity per unit normal impulse).
    #[inline(always)]
    fn coefficient<const N: usize>(&mut self, flow: &Flow, normal: [f64; 3]) {
        let Self {
            x,
            y,
            r,
            sums,
            normal: velocity,
            work,
        } = self;
        let (x0, y0) = (x[0], y[0]);
        let (xk, yk, rk) = (x[N - 1], y[N - 1], r[N - 1]);
        let q = RECIPROCAL[N];
        velocity[N] = q * (normal[0] * rk - normal[1] * xk - normal[2] * yk);
        // Coefficient N - 1 of the velocity is multiplied with all coefficients of r before N - 1, and the last one of r
        // with all earlier ones of the velocity, once each.
        let vk = velocity[N - 1];
        for j in 0..N - 1 {
            if N + j <= ORDER {
                work[N + j] += vk * r[j] + velocity[j] * rk;
            }
        }
        if 2 * N - 1 <= ORDER {
            work[2 * N - 1] += vk * rk;
        }
        work[N] *= q;
        let bx = q * (flow.a11 * xk + flow.a12 * yk);
        let by = q * (flow.a12 * xk + flow.a22 * yk);
        let xn = (q * flow.a1) * rk - bx;
        let yn = (q * flow.a2) * rk - by;
        let rn = (x0 * xn + y0 * yn) + sums[N];
        x[N] = xn;
        y[N] = yn;
        r[N] = rn;
        for j in 1..N {
            if N + j <= ORDER {
                sums[N + j] += xn * x[j] + yn * y[j] - rn * r[j];
            }
        }
        if 2 * N <= ORDER {
            sums[2 * N] += 0.5 * (xn * xn + yn * yn - rn * rn);
        }
    }
}

impl Arc {
    /// Expands curved sliding from the state `state` in Taylor polynomials, and finds the step length over which the polynomials
    /// are accurate. `mu` is the friction coefficient; `tolerance` bounds the relative truncation error.
    pub(crate) fn expand(flow: &Flow, mu: f64, state: &State, tolerance: f64) -> Self {
        let rho = state.rho;
        let unit = rho / flow.rate;
        let mut series = Series {
            x: [0.0; SIZE],
            y: [0.0; SIZE],
            r: [0.0; SIZE],
            sums: [0.0; SIZE],
            normal: [0.0; SIZE],
            work: [0.0; SIZE],
        };
        series.x[0] = state.sliding[0] / rho;
        series.y[0] = state.sliding[1] / rho;
        series.r[0] = 1.0;
        series.normal[0] = state.normal_velocity;
        let normal = [unit * flow.wzz, unit * flow.pull[0], unit * flow.pull[1]];
        macro_rules! coefficients {
            ($($n:literal)*) => { $( series.coefficient::<$n>(flow, normal); )* };
        }
        coefficients!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20);
        let Series {
            x,
            y,
            r,
            normal,
            work,
            ..
        } = series;
        let mut arc = Self {
            x,
            y,
            r,
            normal,
            work,
            unit,
            rho,
            mu,
            length: if flow.is_monotone { LONGEST } else { HALF_TURN },
        };
        arc.limit(tolerance);
        arc
    }

    /// Shortens this step of curved sliding until the last terms of its Taylor polynomials, and the error of the sliding
    /// speed at its end, are below `tolerance` (relative).
    fn limit(&mut self, tolerance: f64) {
        // The work is a product, and its series converges more slowly than those of the factors.
        let per_work = 1.0 / (self.work[1].abs() + self.work[2].abs());
        let size = |k: usize| {
            let sliding = self.x[k].abs().max(self.y[k].abs()).max(self.r[k].abs());
            sliding.max(self.work[k].abs() * per_work)
        };
        let reach = |k: usize| {
            let exponent = binary_logarithm(tolerance) - binary_logarithm(size(k));
            power_of_two(exponent * RECIPROCAL[k])
        };
        let reach = reach(ORDER).min(reach(ORDER - 1));
        self.length = self.length.min(reach);
        // The residual of r = |u| measures the error that the last coefficients may not show. It is compared with the
        // speed at the end, so that the direction is as accurate as the speed.
        while self.is_off(self.length, tolerance) {
            self.length *= 0.85;
        }
    }

    /// True if the Taylor polynomials of the sliding velocity $u$ and of the sliding speed $r$ are inconsistent at path parameter
    /// `t`: $|r - |u||$ exceeds `tolerance` times the speed, plus rounding errors.
    fn is_off(&self, t: f64, tolerance: f64) -> bool {
        let powers = Powers::of(t);
        let (x, y) = (powers.dot(&self.x), powers.dot(&self.y));
        let speed = (x * x + y * y).sqrt();
        let gap = (powers.dot(&self.r) - speed).abs();
        gap > tolerance * speed + ROUNDING
    }

    /// Computes the sliding velocity and the sliding speed, $(x, y, r)$, at path parameter `t`, divided by the speed at the start
    /// of the step. The second array contains their derivatives by `t`.
    fn sliding(&self, flow: &Flow, t: f64) -> ([f64; 3], [f64; 3]) {
        let powers = Powers::of(t);
        let [x, y] = [&self.x, &self.y].map(|c| powers.dot(c));
        let r = (x * x + y * y).sqrt();
        let dx = flow.a1 * r - flow.a11 * x - flow.a12 * y;
        let dy = flow.a2 * r - flow.a12 * x - flow.a22 * y;
        ([x, y, r], [dx, dy, (x * dx + y * dy) / r])
    }

    /// Computes the cross product of the sliding velocity at path parameter `t` with the vector `(px, py)`. The velocity is
    /// divided by the speed at the start of the step. The cross product is zero if sliding is parallel to the vector. The second
    /// number is the derivative of the product by `t`.
    fn cross(&self, flow: &Flow, t: f64, [px, py]: [f64; 2]) -> (f64, f64) {
        let ([x, y, _], [dx, dy, _]) = self.sliding(flow, t);
        (x * py - y * px, dx * py - dy * px)
    }

    /// Computes the first and the second derivative of the normal velocity by the path parameter `t`, both divided by the
    /// unit of normal impulse.
    fn normal_slope(&self, flow: &Flow, t: f64) -> (f64, f64) {
        let (values, slopes) = self.sliding(flow, t);
        let [px, py] = flow.pull;
        let combine = |[x, y, r]: [f64; 3]| flow.wzz * r - px * x - py * y;
        (combine(values), combine(slopes))
    }

    /// Returns the path parameter at which this part of curved sliding ends.
    pub(crate) fn end(&self) -> f64 {
        self.length
    }

    /// Finds the extrema of the normal velocity $v_z$ on this step of curved sliding. Returns their path parameters in ascending
    /// order, and their number. The rate $v_z' = w_{zz} - \mu|d|\cos(\theta - \theta_d)$ depends on the sliding direction
    /// $\theta$, with the normal inverse inertia $w_{zz}$, the friction coefficient $\mu$ and the coupling $d$, whose direction
    /// is $\theta_d$. The rate is a monotone function of $\theta$, except where sliding crosses the line of $d$. On one step this
    /// happens at most once.
    pub(crate) fn turning_points(&self, flow: &Flow) -> ([f64; 2], usize) {
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
            cuts[1] = roots::newton([0.0, end], [first, last], cross);
            pieces = 2;
        }
        for piece in 0..pieces {
            let (a, b) = (cuts[piece], cuts[piece + 1]);
            let slope = |t| self.normal_slope(flow, t);
            let (low, high) = (slope(a).0, slope(b).0);
            if low * high < 0.0 && count < 2 {
                found[count] = roots::newton([a, b], [low, high], slope);
                count += 1;
            }
        }
        (found, count)
    }

    /// Computes the normal velocity at path parameter `t`, and its derivative by `t`.
    #[inline]
    pub(crate) fn normal_velocity(&self, t: f64) -> (f64, f64) {
        let powers = Powers::of(t);
        let mut slope = 0.0;
        for k in 1..SIZE {
            slope += (k as f64 * self.normal[k]) * powers.0[k - 1];
        }
        (powers.dot(&self.normal), slope)
    }

    /// Computes the work of the normal impulse from the start of this part of curved sliding to path parameter `t`, and the
    /// derivative of the work by `t`.
    #[inline]
    pub(crate) fn work(&self, t: f64) -> (f64, f64) {
        let powers = Powers::of(t);
        let rate = powers.dot(&self.normal) * powers.dot(&self.r);
        (self.unit * powers.dot(&self.work), self.unit * rate)
    }

    /// Computes the normal impulse from the start of this part of curved sliding to path parameter `t`, and the derivative of the
    /// impulse by `t`.
    #[inline]
    pub(crate) fn impulse(&self, t: f64) -> (f64, f64) {
        let powers = Powers::of(t);
        let value = self.unit * t * powers.integral().dot(&self.r);
        (value, self.unit * powers.dot(&self.r))
    }

    /// Computes the state (impulse, velocity, work) of the contact at path parameter `t`. `base` is the state at the start of
    /// this part of curved sliding.
    pub(crate) fn at(&self, base: &State, t: f64) -> State {
        let powers = Powers::of(t);
        let integral = powers.integral();
        let (x, y) = (powers.dot(&self.x), powers.dot(&self.y));
        let along = self.unit * t;
        let pull = -self.mu * along;
        State {
            impulse: [
                base.impulse[0] + pull * integral.dot(&self.x),
                base.impulse[1] + pull * integral.dot(&self.y),
                base.impulse[2] + along * integral.dot(&self.r),
            ],
            sliding: [self.rho * x, self.rho * y],
            rho: self.rho * (x * x + y * y).sqrt(),
            normal_velocity: powers.dot(&self.normal),
            work: base.work + self.unit * powers.dot(&self.work),
        }
    }
}
