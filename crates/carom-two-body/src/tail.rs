//! The last part of sliding before rest, by power series.

use super::flow::Flow;
use super::inertia::ContactInertia;
use super::state::State;
use crate::tolerances::NEAR_TAIL;

/// Number of coefficients of the power series.
pub(crate) const TERMS: usize = 18;

/// Table of $1/k!$.
const INVERSE_FACTORIAL: [f64; TERMS + 1] = {
    let mut table = [1.0; TERMS + 1];
    let mut k = 1;
    while k <= TERMS {
        table[k] = table[k - 1] / k as f64;
        k += 1;
    }
    table
};

/// Returns coefficient `k` of the power series of cosine (even `k`) or sine (odd `k`): $1/k!$ with the signs +, +, -, -, which
/// repeat.
#[inline]
pub(crate) fn circular(k: usize) -> f64 {
    if k % 4 < 2 {
        INVERSE_FACTORIAL[k]
    } else {
        -INVERSE_FACTORIAL[k]
    }
}

/// Power series of $f$ and $g$ in the angle from an invariant direction.
pub(crate) struct Rates {
    pub(crate) f: [f64; TERMS + 1],
    pub(crate) g: [f64; TERMS + 1],
}

impl Rates {
    pub(crate) fn around(flow: &Flow, direction: [f64; 2]) -> Self {
        let (f0, _, g1) = flow.rates(direction);
        let [c, s] = direction;
        // Components parallel and perpendicular to the direction.
        let along = flow.a1 * c + flow.a2 * s;
        let (bx, by) = (flow.a11 * c + flow.a12 * s, flow.a12 * c + flow.a22 * s);
        let across = c * by - s * bx;
        let half = bx * c + by * s - 0.5 * (flow.a11 + flow.a22);
        let (mut f, mut g) = ([0.0; TERMS + 1], [0.0; TERMS + 1]);
        let mut power = 1.0;
        for k in 0..=TERMS {
            let q = circular(k);
            let (even, odd) = (along - half * power, across - across * power);
            (f[k], g[k]) = if k % 2 == 0 {
                (even * q, odd * q)
            } else {
                (odd * q, -even * q)
            };
            power *= 2.0;
        }
        f[0] = f0;
        g[1] = g1;
        Self { f, g }
    }
}

/// Remaining impulse and work before rest, near an attracting centripetal direction $s^\ast$.
///
/// All hodographs near $s^\ast$ end at the origin along this direction. From a state with sliding speed $\rho$ at the
/// angle $\delta$ from it, the remaining normal impulse is $T = \rho\tau(\delta)$, the remaining change of the normal
/// velocity is $\rho\kappa(\delta)$, and its work is $\int \rho\kappa dI_z = \rho^2\nu(\delta)$,
///
/// $$ f\tau + g\tau' = -1, \qquad \kappa = k_s\tau - (B^{-1}d)\cdot s, \qquad
///    2f\nu + g\nu' = -\kappa. $$
///
/// Since $f(0) < 0$ and $g'(0) < 0$, the divisors $Mf_0 + kg_1$ of the power series ($M$ = 1 or 2) never vanish. All
/// quantities are divided by the rate of the flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    pub(crate) direction: [f64; 2],
    pub(crate) tau: [f64; TERMS],
    nu: [f64; TERMS],
    /// Largest $|\delta|$ (rad) at which the last terms are negligible.
    reach: f64,
    pub(crate) rate: f64,
    slope: f64,
}

impl Tail {
    /// Computes the power series for the last part of sliding before rest, about an invariant direction (in which sliding does
    /// not turn). Returns `None` unless sliding near this direction turns towards it and slows down in it. `tolerance` limits the
    /// angle up to which the series is used.
    pub(crate) fn around(
        w: &ContactInertia,
        flow: &Flow,
        direction: [f64; 2],
        tolerance: f64,
    ) -> Option<Self> {
        let Rates { f, g } = Rates::around(flow, direction);
        let (f0, g1) = (f[0], g[1]);
        if !(f0 < 0.0 && g1 < 0.0) {
            return None;
        }
        let [c, s] = direction;
        let demand = [
            w.demand[0] * c + w.demand[1] * s,
            w.demand[1] * c - w.demand[0] * s,
        ];
        let mut kappa = [0.0; TERMS];
        for (k, kappa) in kappa.iter_mut().enumerate() {
            *kappa = -flow.rate * circular(k) * demand[k % 2];
        }
        let (mut tau, mut nu) = ([0.0; TERMS], [0.0; TERMS]);
        // Each coefficient adds its contribution to the equations of the later ones.
        let (mut tau_sums, mut nu_sums) = ([0.0; TERMS], [0.0; TERMS]);
        tau_sums[0] = -1.0;
        for k in 0..TERMS {
            let turn = k as f64;
            tau[k] = tau_sums[k] / (f0 + turn * g1);
            kappa[k] += w.schur * tau[k];
            nu[k] = (nu_sums[k] - kappa[k]) / (2.0 * f0 + turn * g1);
            let (t, n) = (tau[k], nu[k]);
            let (t_turn, n_turn) = (turn * t, turn * n);
            let later = f[1..].iter().zip(&g[2..]);
            let sums = tau_sums[k + 1..].iter_mut().zip(&mut nu_sums[k + 1..]);
            for ((tau_sum, nu_sum), (fj, gj)) in sums.zip(later) {
                *tau_sum -= fj * t + gj * t_turn;
                *nu_sum -= 2.0 * fj * n + gj * n_turn;
            }
        }
        let reach = |series: &[f64; TERMS], k: usize| {
            let size = series[0].abs();
            libm::exp2(libm::log2(tolerance * size / series[k].abs()) / k as f64)
        };
        let last = TERMS - 1;
        let reach = reach(&tau, last)
            .min(reach(&tau, last - 1))
            .min(reach(&nu, last))
            .min(reach(&nu, last - 1))
            .min(0.5);
        Some(Self {
            direction,
            tau,
            nu,
            reach,
            rate: flow.rate,
            slope: flow.normal_rate(direction),
        })
    }

    /// True if a sliding direction is within 40 degrees of the limiting direction of this power series for the end of sliding, so
    /// that no other series needs to be searched.
    pub(crate) fn is_near(&self, [x, y]: [f64; 2]) -> bool {
        x * self.direction[0] + y * self.direction[1] > NEAR_TAIL
    }

    /// Returns the angle (rad) from the limiting direction of this power series for the end of sliding to the given sliding
    /// direction. Returns `None` if the angle is too large for the series to be accurate.
    pub(crate) fn angle(&self, [x, y]: [f64; 2]) -> Option<f64> {
        let [c, s] = self.direction;
        let (cos, sin) = (x * c + y * s, c * y - s * x);
        if !(cos > 0.0 && sin.abs() <= self.reach) {
            return None;
        }
        let delta = libm::atan2(sin, cos);
        (delta.abs() <= self.reach).then_some(delta)
    }

    /// Computes the normal impulse until rest for unit sliding speed. `delta` is the angle (rad) from the limiting direction of
    /// this power series to the sliding direction.
    fn duration(&self, delta: f64) -> f64 {
        polynomial(&self.tau, delta) / self.rate
    }

    /// Computes by this power series the state at rest that follows the sliding state `state`. `delta` is the angle (rad) from
    /// the limiting direction of the series to the sliding direction. Returns `None` if the normal velocity may have an extremum
    /// before rest.
    pub(crate) fn rest(
        &self,
        w: &ContactInertia,
        flow: &Flow,
        state: &State,
        delta: f64,
    ) -> Option<State> {
        let direction = [state.sliding[0] / state.rho, state.sliding[1] / state.rho];
        if !flow.is_monotone {
            let side = |[x, y]: [f64; 2]| x * flow.pull[1] - y * flow.pull[0];
            let same = flow.normal_rate(direction) * self.slope > 0.0
                && side(direction) * side(self.direction) > 0.0;
            if !same {
                return None;
            }
        }
        let time = state.rho * self.duration(delta);
        let change = w.solve_tangential([
            -(state.sliding[0] + time * w.d1),
            -(state.sliding[1] + time * w.d2),
        ]);
        let gain = w.d1 * change[0] + w.d2 * change[1] + w.wzz * time;
        let normal_velocity = state.normal_velocity + gain;
        let per_rate = state.rho / self.rate;
        let shape = per_rate * per_rate * polynomial(&self.nu, delta);
        Some(State {
            impulse: [
                state.impulse[0] + change[0],
                state.impulse[1] + change[1],
                state.impulse[2] + time,
            ],
            sliding: [0.0; 2],
            rho: 0.0,
            normal_velocity,
            work: state.work + normal_velocity * time - shape,
        })
    }
}

#[inline]
fn polynomial(coefficients: &[f64; TERMS], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}
