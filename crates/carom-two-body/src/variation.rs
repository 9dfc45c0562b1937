//! Derivatives of an impact along its phases.
//!
//! The hodograph does not depend on restitution. So the variational equations of sliding are integrated together with the
//! impact, in the parameter $\sigma$, $dI_z = \rho d\sigma$, along the same Taylor arcs,
//!
//! $$ \frac{d \delta\gamma}{d\sigma} = d \delta\rho - \mu B \delta\gamma + \rho \delta d -
//! (\delta\mu B + \mu \delta B)\gamma, \qquad \delta\rho = s\cdot\delta\gamma, $$
//!
//! then along the tail series to rest, and in closed form on straight lines. Two parameters, $w_{zz}$ and $v_z^-$, do not
//! change sliding. Impulse and normal velocity are linear in sliding velocity and normal impulse. The work of the normal
//! impulse is the work of all impulses minus that of friction: in a phase that begins with sliding velocity $\gamma_0$
//! and normal velocity $v_0$ and adds the tangential impulse $q$ and the normal impulse $T$,
//!
//! $$ \Delta N = v_0 T + \tfrac12 w_{zz} T^2 + d\cdot q T + \tfrac12 q^TBq + \Bigl(\gamma_0\cdot q +
//! \mu\int\rho dI_z\Bigr), $$
//!
//! where the terms in the bracket cancel to first order; the series computes their difference directly.
//!
//! An event $F = 0$ changes all later quantities $y$ by $\Delta y = \delta y - y' \delta F/F'$.

use super::arc::Arc;
use super::arc_variation::{ArcVariation, Deltas, LANES, SLIDING_LANES};
use super::events::Event;
use super::flow::Flow;
use super::impact::{check, respond, velocity_scale};
use super::inertia::ContactInertia;
use super::line::{Line, LineKind};
use super::options::{ImpactOptions, Recompression, RestitutionLaw};
use super::ray::{Ray, first_friction};
use super::recorder::Recorder;
use super::state::State;
use super::tail::Tail;
use super::{ContactImpact, ContactResponse};
use crate::TwoBodyError;
use crate::tolerances::ROUNDED;
use nalgebra::{Matrix3, SMatrix, Vector3};

/// Number of parameters by which the impulse of a two-body impact is differentiated: six entries of the inverse
/// inertia matrix $W$ ($b_{11}, b_{12}, b_{22}$ of its tangential block, $d_1, d_2$ of its coupling, $w_{zz}$),
/// three components of the contact velocity, the friction coefficient $\mu$ and the restitution $e$.
pub const PARAMETERS: usize = 11;

/// Number of parameters without $e$, on which sliding does not depend: the last is $\mu$. It is the index of $e$.
const FLOWS: usize = PARAMETERS - 1;

/// Result of a two-body impact, with the derivatives of its impulse by the inverse inertia, the contact velocity, friction and
/// restitution. [`vary_impact`] computes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VariedImpact {
    /// Impulse, velocity after the impact and events.
    pub impact: ContactImpact,
    /// Derivatives of the impulse by $(b_{11}, b_{12}, b_{22}, d_1, d_2, w_{zz}, \gamma_x, \gamma_y, v_z, \mu, e)$.
    pub impulse: SMatrix<f64, 3, PARAMETERS>,
    /// Derivatives of the normal impulse at the end of sliding, by these parameters; `None` if sliding does not stop.
    pub at_rest: Option<[f64; PARAMETERS]>,
    /// Derivatives of the normal impulse at the end of the first compression, by these parameters.
    pub at_compression: [f64; PARAMETERS],
    /// True if sliding followed a repelling invariant direction until it stopped.
    pub is_repelled: bool,
    /// Direction of sliding at the end, also if sliding stops there; zero without friction.
    pub last_direction: [f64; 2],
    /// Extrema of the normal velocity, with their derivatives. If an extremum is zero, a compression begins or ends
    /// there.
    pub turns: Vec<(f64, [f64; PARAMETERS])>,
}

/// Changes of the data by a unit change of one parameter.
struct Change {
    b: [f64; 3],
    d: [f64; 2],
    wzz: f64,
    velocity: [f64; 3],
    mu: f64,
}

impl Change {
    fn along(k: usize) -> Self {
        let one = |i: usize| if i == k { 1.0 } else { 0.0 };
        Self {
            b: [one(0), one(1), one(2)],
            d: [one(3), one(4)],
            wzz: one(5),
            velocity: [one(6), one(7), one(8)],
            mu: one(9),
        }
    }
}

/// Returns the index of parameter `k` among the eight parameters that change sliding; `None` if the parameter does not change
/// sliding. `k` counts the entries of the inverse inertia, the components of the contact velocity, friction and restitution.
fn lane(k: usize) -> Option<usize> {
    match k {
        0..=4 => Some(k),
        6 | 7 => Some(k - 1),
        9 => Some(LANES - 1),
        _ => None,
    }
}

fn times([b11, b12, b22]: [f64; 3], [x, y]: [f64; 2]) -> [f64; 2] {
    [b11 * x + b12 * y, b12 * x + b22 * y]
}

/// Observer that computes the derivatives of an impact.
struct Varied<'a> {
    w: &'a ContactInertia,
    flow: Flow,
    mu: f64,
    restitution: f64,
    options: ImpactOptions,
    /// True if sliding cannot leave its line.
    is_planar: bool,
    /// Normal velocity before the impact, and the size of the contact velocity.
    closing: f64,
    speed: f64,
    now: Deltas,
    /// Derivatives of the work of the normal impulse.
    work: [f64; FLOWS],
    arc: ArcVariation,
    base: Base,
    /// $I_\perp'$ and $v_z'$ at the present state.
    tangential: [f64; 2],
    normal_rate: f64,
    /// Rate of the sliding speed on the last line.
    radial: f64,
    has_slid: bool,
    loss: [f64; PARAMETERS],
    /// Work at the last interruption, and its derivatives.
    kept: (f64, [f64; FLOWS]),
    compressions: usize,
    compression: (f64, f64, [f64; PARAMETERS]),
    at_rest: Option<[f64; PARAMETERS]>,
    is_straight: bool,
    is_repelled: bool,
    turns: Vec<(f64, [f64; PARAMETERS])>,
    impulse: SMatrix<f64, 3, PARAMETERS>,
    units: (f64, f64),
}

/// Start of a phase: the state, and the derivatives of impulse, normal velocity and work.
#[derive(Clone, Copy)]
struct Base {
    state: State,
    impulse: [[f64; 3]; FLOWS],
    normal_velocity: [f64; FLOWS],
    work: [f64; FLOWS],
}

impl<'a> Varied<'a> {
    fn b(&self) -> [f64; 3] {
        [self.w.b11, self.w.b12, self.w.b22]
    }

    fn d(&self) -> [f64; 2] {
        [self.w.d1, self.w.d2]
    }

    /// Returns the derivatives of the sliding velocity and of the normal impulse by parameter `k` (entry of the inverse inertia,
    /// contact velocity or friction) in the present state, at a fixed point of the present phase. Both are zero if the parameter
    /// does not change sliding.
    fn now(&self, k: usize) -> ([f64; 2], f64) {
        match lane(k) {
            Some(lane) => {
                let [x, y] = &self.now.sliding;
                ([x[lane], y[lane]], self.now.normal_impulse[lane])
            }
            None => ([0.0; 2], 0.0),
        }
    }

    /// Returns the derivatives of the normal impulse in the present state by all parameters (inverse inertia, contact velocity,
    /// friction, restitution).
    fn normal_impulses(&self) -> [f64; PARAMETERS] {
        std::array::from_fn(|k| self.now(k).1)
    }

    /// Computes the derivative of the impulse by parameter `k` (entry of the inverse inertia, contact velocity or friction) in
    /// the given state. The result follows from the derivatives of sliding velocity and normal impulse, because the sliding
    /// velocity is $\gamma^- + BI_\perp + dI_z$. $\gamma^-$ is the sliding velocity before the impact, $I_\perp$ and $I_z$ are
    /// the tangential and the normal impulse, and $B$ and $d$ the tangential block and the coupling of the inverse inertia.
    fn impulse(&self, k: usize, state: &State) -> [f64; 3] {
        let [ix, iy, iz] = state.impulse;
        let c = Change::along(k);
        let (sliding, normal) = self.now(k);
        let turned = times(c.b, [ix, iy]);
        let d = self.d();
        let left =
            [0, 1].map(|i| sliding[i] - c.velocity[i] - turned[i] - c.d[i] * iz - d[i] * normal);
        let [x, y] = self.w.solve_tangential(left);
        [x, y, normal]
    }

    /// Computes the derivative of the normal velocity by parameter `k` (entry of the inverse inertia, contact velocity or
    /// friction) in a given state. `[x, y, z]` is the derivative of the impulse by this parameter.
    fn normal_velocity(&self, k: usize, state: &State, [x, y, z]: [f64; 3]) -> f64 {
        let [ix, iy, iz] = state.impulse;
        let c = Change::along(k);
        c.velocity[2]
            + c.d[0] * ix
            + c.d[1] * iy
            + c.wzz * iz
            + self.w.d1 * x
            + self.w.d2 * y
            + self.w.wzz * z
    }

    /// Returns the data of a phase of the impact that starts in the given state: the state, and the derivatives of impulse,
    /// normal velocity and work in this state.
    fn base(&self, state: &State) -> Base {
        let impulse = std::array::from_fn(|k| self.impulse(k, state));
        Base {
            state: *state,
            impulse,
            normal_velocity: std::array::from_fn(|k| self.normal_velocity(k, state, impulse[k])),
            work: self.work,
        }
    }

    /// Adds the derivatives of the work of the normal impulse in a phase from `base` to `state`. The closure `bracket` returns
    /// the derivative of one term of this work, $\gamma_0\cdot q + \mu\int\rho dI_z$, for a parameter, the tangential impulse $q$
    /// of the phase and its derivative. $\gamma_0$ is the sliding velocity at the start of the phase, $\mu$ the friction
    /// coefficient, $\rho$ the sliding speed and $I_z$ the normal impulse.
    fn worked(
        &mut self,
        base: &Base,
        state: &State,
        bracket: impl Fn(usize, [f64; 2], [f64; 2]) -> f64,
    ) {
        let (start, w) = (&base.state, self.w);
        let [qx, qy, time] = [0, 1, 2].map(|i| state.impulse[i] - start.impulse[i]);
        let turned = times(self.b(), [qx, qy]);
        for k in 0..FLOWS {
            let c = Change::along(k);
            let (now, before) = (self.impulse(k, state), base.impulse[k]);
            let [x, y, z] = [0, 1, 2].map(|i| now[i] - before[i]);
            let own = times(c.b, [qx, qy]);
            self.work[k] = base.work[k]
                + base.normal_velocity[k] * time
                + start.normal_velocity * z
                + (0.5 * c.wzz * time + w.wzz * z) * time
                + (c.d[0] * qx + c.d[1] * qy + w.d1 * x + w.d2 * y) * time
                + (w.d1 * qx + w.d2 * qy) * z
                + 0.5 * (own[0] * qx + own[1] * qy)
                + turned[0] * x
                + turned[1] * y
                + bracket(k, [qx, qy], [x, y]);
        }
    }

    /// Advances the derivatives over the last part of sliding before rest, which is computed by the power series `tail`. `from`
    /// is the state at the start of this part, `delta` the angle (rad) from the limiting direction of the series to the sliding
    /// direction, and the argument `rest` the state at rest.
    fn rest(&mut self, tail: &Tail, from: &State, delta: f64, rest: &State) {
        let contact = (self.w, &self.flow, self.mu);
        let before = self.now.sliding;
        let left = tail.left(contact, from, delta, &before);
        let base = self.base(from);
        self.has_slid = true;
        for lane in 0..LANES {
            self.now.normal_impulse[lane] += left.by_normal_impulse[lane];
        }
        self.now.sliding = [[0.0; LANES]; 2];
        let mu = self.mu;
        let gamma = from.sliding;
        self.worked(&base, rest, |k, q, by| {
            let of = |lane: usize| {
                let slid = [0, 1].map(|i| before[i][lane] * q[i] + gamma[i] * by[i]);
                slid[0] + slid[1] + mu * left.by_path[lane]
            };
            lane(k).map_or(0.0, of) + Change::along(k).mu * left.path
        });
        self.tangential = tail.direction.map(|s| -self.mu * s);
        self.normal_rate = self.flow.normal_rate(tail.direction);
    }

    /// Computes the derivative of the ratio of tangential to normal impulse by parameter `k` (entry of the inverse inertia,
    /// contact velocity or friction), in a phase in which this ratio is constant. `kind` is the kind of the phase, for example
    /// sticking, and `direction` the direction of sliding.
    fn line_change(&self, k: usize, kind: LineKind, direction: [f64; 2]) -> [f64; 2] {
        let c = Change::along(k);
        match kind {
            LineKind::Frictionless => [0.0; 2],
            LineKind::Stick if self.mu == 0.0 => [0.0; 2],
            LineKind::Stick => {
                let turned = times(c.b, self.w.demand);
                let [x, y] = self
                    .w
                    .solve_tangential([c.d[0] - turned[0], c.d[1] - turned[1]]);
                [-x, -y]
            }
            LineKind::Ray => [-c.mu * direction[0], -c.mu * direction[1]],
            LineKind::Resumed => {
                let (_, _, slope) = self.flow.rates(direction);
                let slope = slope * self.flow.rate;
                let across = [-direction[1], direction[0]];
                let (by_b, by_mu) = (times(c.b, direction), times(self.b(), direction));
                let mut turn = 0.0;
                for i in 0..2 {
                    turn -= across[i] * (c.d[i] - self.mu * by_b[i] - c.mu * by_mu[i]);
                }
                let turn = turn / slope;
                [0, 1].map(|i| -c.mu * direction[i] - self.mu * across[i] * turn)
            }
        }
    }

    fn along_line(&mut self, from: &State, line: &Line, by: f64) {
        let direction = if line.kind == LineKind::Resumed || from.rho == 0.0 {
            [
                -line.tangential[0] / self.mu.max(f64::MIN_POSITIVE),
                -line.tangential[1] / self.mu.max(f64::MIN_POSITIVE),
            ]
        } else {
            [from.sliding[0] / from.rho, from.sliding[1] / from.rho]
        };
        if self.normal_rate * line.normal_rate < 0.0 {
            self.turns(from);
        }
        self.tangential = line.tangential;
        self.normal_rate = line.normal_rate;
        self.radial = line.sliding_rate[0] * direction[0] + line.sliding_rate[1] * direction[1];
        let is_slow = from.rho <= ROUNDED * self.speed;
        if line.kind == LineKind::Ray {
            self.has_slid = true;
            self.is_straight |= !is_slow;
            if !self.is_planar && !is_slow {
                self.along_ray(from, direction, by);
                return;
            }
        }
        let mut next = self.now;
        let d = self.d();
        for k in 0..FLOWS {
            let c = Change::along(k);
            let tangential = self.line_change(k, line.kind, direction);
            let rate = c.wzz
                + c.d[0] * line.tangential[0]
                + c.d[1] * line.tangential[1]
                + d[0] * tangential[0]
                + d[1] * tangential[1];
            let velocity = self.normal_velocity(k, from, self.impulse(k, from));
            self.work[k] += (velocity + 0.5 * rate * by) * by;
            let Some(lane) = lane(k) else { continue };
            let (turned, moved) = (times(c.b, line.tangential), times(self.b(), tangential));
            for i in 0..2 {
                next.sliding[i][lane] += (c.d[i] + turned[i] + moved[i]) * by;
            }
        }
        if line.kind == LineKind::Frictionless && (from.rho > 0.0 || d != [0.0; 2]) {
            let (drag, work) = first_friction(from.sliding, d, by);
            let moved = times(self.b(), drag);
            for (sliding, moved) in next.sliding.iter_mut().zip(moved) {
                sliding[LANES - 1] -= moved;
            }
            self.work[FLOWS - 1] -= work;
        }
        self.now = next;
    }

    /// Advances the derivatives along straight sliding in an invariant direction $s$, from the state `from` over the normal
    /// impulse `by`. The sliding speed $\rho$ changes at the constant rate $\rho' = \lambda$ per unit normal impulse. $\delta$
    /// denotes a derivative by one parameter, $\gamma$ is the sliding velocity, $B$ the tangential inverse inertia, $d$ the
    /// coupling and $\mu$ the friction coefficient. With $t$ perpendicular to $s$, the perturbation $w = t\cdot\delta\gamma$, $F
    /// = \delta d - \delta(\mu B)s$, $b = \mu t\cdot Bt$ and $k = \mu s\cdot Bt$,
    ///
    /// $$ w' = -b w/\rho + t\cdot F, \qquad \delta\rho' = -k w/\rho + s\cdot F. $$
    fn along_ray(&mut self, from: &State, s: [f64; 2], by: f64) {
        self.is_repelled |= self.flow.rates(s).2 > 0.0;
        let t = [-s[1], s[0]];
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let moved = times(self.b(), t);
        let (b, ratio) = (self.mu * dot(t, moved), dot(s, moved) / dot(t, moved));
        let rays = Ray::new(self.radial, b, from.rho, by);
        let mut next = self.now;
        let d = self.d();
        let turn = self.mu * dot(d, t) / b;
        for k in 0..FLOWS {
            let c = Change::along(k);
            let velocity = self.normal_velocity(k, from, self.impulse(k, from));
            let rate = c.wzz - self.mu * dot(c.d, s) - c.mu * dot(d, s);
            self.work[k] += (velocity + 0.5 * rate * by) * by;
            let Some(lane) = lane(k) else { continue };
            let (own, by_mu) = (times(c.b, s), times(self.b(), s));
            let force = [0, 1].map(|i| c.d[i] - self.mu * own[i] - c.mu * by_mu[i]);
            let (along, across) = (dot(s, force), dot(t, force));
            let start = [0, 1].map(|i| self.now.sliding[i][lane]);
            let (speed, before) = (dot(s, start), dot(t, start));
            let (after, area) = rays.across(before, across);
            let grown = speed + along * by - ratio * (before - after + across * by);
            for i in 0..2 {
                next.sliding[i][lane] = grown * s[i] + after * t[i];
            }
            self.work[k] -= turn * ((before + 0.5 * across * by) * by - area);
        }
        self.now = next;
    }

    /// Records an extremum of the normal velocity in the given state: the normal velocity and its derivatives by all parameters.
    fn turns(&mut self, state: &State) {
        let slopes = std::array::from_fn(|k| {
            if k < FLOWS {
                self.normal_velocity(k, state, self.impulse(k, state))
            } else {
                0.0
            }
        });
        self.turns.push((state.normal_velocity, slopes));
    }

    fn comes_to_rest(&mut self, state: &State) {
        if self.has_slid && self.radial != 0.0 && self.mu > 0.0 {
            let direction = [-self.tangential[0] / self.mu, -self.tangential[1] / self.mu];
            for k in 0..FLOWS {
                let Some(lane) = lane(k) else { continue };
                let [x, y] = [0, 1].map(|i| self.now.sliding[i][lane]);
                let later = -(x * direction[0] + y * direction[1]) / self.radial;
                self.now.normal_impulse[lane] += later;
                self.work[k] += state.normal_velocity * later;
            }
        }
        // Without friction sliding does not stop there.
        if self.mu > 0.0 {
            self.now.sliding = [[0.0; LANES]; 2];
        }
        self.is_repelled &= self.is_straight;
        self.at_rest = Some(if self.has_slid {
            self.normal_impulses()
        } else {
            [0.0; PARAMETERS]
        });
    }

    fn compressed(&mut self, state: &State) {
        let first = self.compressions == 0;
        self.compressions += 1;
        let share = 1.0 - self.restitution * self.restitution;
        if first || self.options.recompression == Recompression::EachCompression {
            for (k, work) in self.work.into_iter().enumerate() {
                self.loss[k] += share * (self.kept.1[k] - work);
            }
            self.loss[FLOWS] += -2.0 * self.restitution * (self.kept.0 - state.work);
        }
        if first {
            let mut at = self.normal_impulses();
            for (k, at) in at.iter_mut().enumerate().take(FLOWS) {
                let velocity = self.normal_velocity(k, state, self.impulse(k, state));
                *at -= velocity / self.normal_rate;
            }
            self.compression = (state.impulse[2], -state.work, at);
        }
    }

    fn ends(&mut self, state: &State) {
        let (e, closing) = (self.restitution, self.closing);
        let (at_compression, stored, compression) = self.compression;
        for (k, at_compression_end) in compression.into_iter().enumerate() {
            let (mut by, mut velocity, mut work) = ([0.0; 3], 0.0, 0.0);
            if k < FLOWS {
                by = self.impulse(k, state);
                velocity = self.normal_velocity(k, state, by);
                work = self.work[k];
            }
            let fixed = by[2];
            let one = |other: usize| if k == other { 1.0 } else { 0.0 };
            let total = match self.options.restitution_law {
                RestitutionLaw::Energetic if e == 0.0 => {
                    // Limit of the released energy divided by its rate.
                    fixed - velocity / self.normal_rate
                        + one(FLOWS) * (2.0 * stored / self.normal_rate).sqrt()
                }
                RestitutionLaw::Energetic => fixed - (work + self.loss[k]) / state.normal_velocity,
                RestitutionLaw::Poisson => {
                    (1.0 + e) * at_compression_end + at_compression * one(FLOWS)
                }
                RestitutionLaw::Newton => {
                    let missed = velocity + e * one(8) + closing * one(FLOWS);
                    fixed - missed / self.normal_rate
                }
            };
            let later = total - fixed;
            self.impulse[(0, k)] = by[0] + self.tangential[0] * later;
            self.impulse[(1, k)] = by[1] + self.tangential[1] * later;
            self.impulse[(2, k)] = total;
        }
    }
}

impl Recorder for Varied<'_> {
    const DENSE: bool = false;
    const TURNS: bool = true;

    fn units(&mut self, impulse: f64, velocity: f64) {
        self.units = (impulse, velocity);
    }

    fn point(&mut self, _: &State, _: f64) {}

    fn arc_begins(&mut self, arc: &Arc, state: &State) {
        self.has_slid = true;
        self.base = self.base(state);
        self.arc.expand(arc, &self.now);
    }

    fn arc_to(&mut self, t: f64, state: &State) {
        let (now, by_excess, excess) = self.arc.at(t);
        self.now = now;
        let (base, mu) = (self.base, self.mu);
        self.worked(&base, state, |k, _, _| {
            lane(k).map_or(0.0, |lane| mu * by_excess[lane]) + Change::along(k).mu * excess
        });
        if state.rho > 0.0 {
            let direction = [state.sliding[0] / state.rho, state.sliding[1] / state.rho];
            self.tangential = direction.map(|s| -self.mu * s);
            self.normal_rate = self.flow.normal_rate(direction);
        }
    }

    fn arc_turns(&mut self, t: f64, state: &State) {
        let there = self.arc.at(t).0;
        let now = std::mem::replace(&mut self.now, there);
        self.turns(state);
        self.now = now;
    }

    fn tail(&mut self, tail: &Tail, from: &State, delta: f64, rest: &State) {
        self.rest(tail, from, delta, rest);
    }

    fn line(&mut self, from: &State, line: &Line, by: f64) {
        self.along_line(from, line, by);
    }

    fn event(&mut self, event: Event, state: &State) {
        match event {
            Event::StraightSlip => {}
            Event::SlipZero => self.comes_to_rest(state),
            Event::CompressionEnd | Event::LaterCompressionEnd => self.compressed(state),
            Event::Interruption => self.kept = (state.work, self.work),
            Event::RestitutionEnd => self.ends(state),
        }
    }
}

/// Solves a two-body impact and computes the derivatives of its impulse by inertia, velocity, friction and
/// restitution. `w` is the inverse inertia matrix of the contact, `velocity` the contact velocity before the
/// impact (two tangents, normal). If `is_planar` is true, the contact stays in the plane of its first tangent
/// and the normal. Returns `None` if there is no impact because the contact does not close.
///
/// # Errors
///
/// Returns the errors of [`solve_impact`](super::solve_impact).
pub fn vary_impact(
    w: &ContactInertia,
    velocity: &Vector3<f64>,
    friction: f64,
    restitution: f64,
    options: &ImpactOptions,
    is_planar: bool,
) -> Result<Option<VariedImpact>, TwoBodyError> {
    check(velocity, friction, restitution)?;
    options.check()?;
    let inertia_scale = w.unit_scale();
    let scale = velocity_scale([velocity.x, velocity.y, velocity.z]);
    let mut sliding = [[0.0; LANES]; 2];
    for (sliding, lane) in sliding.iter_mut().zip(SLIDING_LANES) {
        sliding[lane] = 1.0;
    }
    let inertia = w.scaled(inertia_scale);
    let flow = Flow::new(&inertia, friction);
    let mut varied = Varied {
        w: &inertia,
        flow,
        mu: friction,
        restitution,
        options: *options,
        is_planar,
        closing: velocity.z * scale,
        speed: velocity.amax() * scale,
        now: Deltas {
            sliding,
            ..Deltas::NONE
        },
        work: [0.0; FLOWS],
        base: Base {
            state: State::default(),
            impulse: [[0.0; 3]; FLOWS],
            normal_velocity: [0.0; FLOWS],
            work: [0.0; FLOWS],
        },
        arc: ArcVariation::new(&flow, &inertia, friction),
        tangential: [0.0; 2],
        normal_rate: 0.0,
        radial: 0.0,
        has_slid: false,
        loss: [0.0; PARAMETERS],
        kept: (0.0, [0.0; FLOWS]),
        compressions: 0,
        compression: (0.0, 0.0, [0.0; PARAMETERS]),
        at_rest: None,
        is_straight: false,
        is_repelled: false,
        turns: Vec::new(),
        impulse: SMatrix::zeros(),
        units: (1.0, 1.0),
    };
    let response = respond(w, velocity, friction, restitution, options, &mut varied)?;
    let ContactResponse::Impact(impact) = response else {
        return Ok(None);
    };
    let per_impulse = varied.units.0;
    // Size of a parameter's unit in the scaled problem.
    let worth = |k: usize| match k {
        0..=5 => inertia_scale,
        6..=8 => scale,
        _ => 1.0,
    };
    let given = |of: [f64; PARAMETERS]| -> [f64; PARAMETERS] {
        std::array::from_fn(|k| of[k] * per_impulse * worth(k))
    };
    let mut impulse = varied.impulse;
    for (k, mut column) in impulse.column_iter_mut().enumerate() {
        column *= per_impulse * worth(k);
    }
    // These are velocities: only the units of the parameters remain.
    let turns = varied.turns.iter().map(|(value, slopes)| {
        let slopes = std::array::from_fn(|k| slopes[k] * varied.units.1 * worth(k));
        (value * varied.units.1, slopes)
    });
    Ok(Some(VariedImpact {
        turns: turns.collect(),
        impact,
        impulse,
        at_rest: varied.at_rest.map(given),
        at_compression: given(varied.compression.2),
        is_repelled: varied.is_repelled && varied.at_rest.is_some(),
        last_direction: varied
            .tangential
            .map(|x| if friction > 0.0 { -x / friction } else { 0.0 }),
    }))
}

/// Returns the six independent entries of a symmetric change of the inverse inertia matrix (3 × 3; two tangents, normal), in the
/// order of the derivative parameters: $b_{11}, b_{12}, b_{22}$ (tangential block), $d_1, d_2$ (coupling), $w_{zz}$ (normal).
pub fn inertia_entries(change: &Matrix3<f64>) -> [f64; 6] {
    [
        change[(0, 0)],
        change[(0, 1)],
        change[(1, 1)],
        change[(0, 2)],
        change[(1, 2)],
        change[(2, 2)],
    ]
}
