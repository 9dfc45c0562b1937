//! Computation of an impact as a sequence of phases.

use super::arc::Arc;
use super::events::{End, Event, EventPoint, Events, Normal, Phase, TraceMode};
use super::flow::{Flow, centrifugal, normalized};
use super::inertia::ContactInertia;
use super::line::Line;
use super::options::ImpactOptions;
use super::recorder::Recorder;
use super::state::State;
use super::tail::Tail;
use crate::TwoBodyError;
use crate::tolerances::{MAX_STEPS, ROUNDING};
use carom_numeric::roots;

/// Sliding speed, as a fraction of the contact velocity, that counts as rest.
const REST: f64 = 4.0 * f64::EPSILON;

/// Fraction of the initial sliding speed below which sliding is treated as straight until rest.
const SLOW: f64 = 1e-15;

/// Largest angle (rad), estimated by one Newton step, between the sliding direction and an invariant direction at which a
/// tail is tried.
const TAIL_ANGLE: f64 = 0.35;

/// Number of parts into which a dense trace divides an arc or a line.
const SAMPLES: u32 = 12;

/// Tangential mode of a contact at the end of an impact: sliding without a stop, sticking, or sliding again after a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum FinalMode {
    /// The contact slides throughout.
    #[default]
    Slip,
    /// The contact came to rest and stuck.
    Stick,
    /// The contact came to rest and slides on, along the centrifugal direction.
    ResumedSlip,
}

impl FinalMode {
    /// Returns the identifier of the final mode in records: `slip`, `stick` or `resumed-slip`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Slip => "slip",
            Self::Stick => "stick",
            Self::ResumedSlip => "resumed-slip",
        }
    }
}

/// An impact during its computation, in scaled units.
pub(crate) struct Run<'a, R> {
    w: &'a ContactInertia,
    flow: Flow,
    mu: f64,
    pub(crate) state: State,
    pub(crate) normal: Normal,
    pub(crate) events: Events,
    pub(crate) mode: FinalMode,
    pub(crate) steps: usize,
    tolerance: f64,
    /// Parameter of the present state on its arc.
    at: f64,
    recorder: &'a mut R,
}

impl<'a, R: Recorder> Run<'a, R> {
    pub(crate) fn new(
        w: &'a ContactInertia,
        velocity: [f64; 3],
        mu: f64,
        restitution: f64,
        options: &ImpactOptions,
        recorder: &'a mut R,
    ) -> Self {
        let [x, y, z] = velocity;
        let state = State {
            sliding: [x, y],
            rho: (x * x + y * y).sqrt(),
            normal_velocity: z,
            ..State::default()
        };
        Self {
            w,
            flow: Flow::new(w, mu),
            mu,
            state,
            normal: Normal::new(-z, restitution, options),
            events: Events::default(),
            mode: FinalMode::Slip,
            steps: 0,
            tolerance: options.tolerance,
            at: 0.0,
            recorder,
        }
    }

    /// Computes all phases of the impact to its end. Returns an error if the number of steps exceeds its limit.
    pub(crate) fn finish(&mut self) -> Result<(), TwoBodyError> {
        let start = self.state;
        self.recorder.point(&self.state, self.normal.energy);
        let over = if start.rho <= REST * (start.rho + start.normal_velocity.abs()) {
            false
        } else if self.mu == 0.0 {
            self.line(&Line::frictionless(self.w))?
        } else {
            self.slide()?
        };
        if !over && !self.go_on_from_rest()? {
            // On an unbounded line the normal velocity increases, so that it must end.
            return Err(self.unfinished());
        }
        self.polish(&start);
        Ok(())
    }

    fn unfinished(&self) -> TwoBodyError {
        TwoBodyError::ImpactStepLimit {
            steps: self.steps,
            normal_impulse: self.state.impulse[2],
        }
    }

    fn record(&mut self, event: Event) {
        self.recorder.event(event, &self.state);
        self.events.push(EventPoint {
            event,
            impulse: self.state.impulse,
            velocity: [
                self.state.sliding[0],
                self.state.sliding[1],
                self.state.normal_velocity,
            ],
            energy: self.normal.energy,
        });
    }

    /// Computes the sliding phase of the impact until the contact comes to rest or the impact ends. Returns true if the impact
    /// has ended.
    fn slide(&mut self) -> Result<bool, TwoBodyError> {
        let start = self.state.rho;
        let mut tail = None;
        let mut is_start = true;
        loop {
            let direction = normalized(self.state.sliding);
            let (f, g, slope) = self.flow.rates(direction);
            let is_slow = self.state.rho <= SLOW * start && f < 0.0;
            let is_straight = g.abs() <= ROUNDING;
            if is_straight || is_slow || (is_start && self.is_brief(direction)) {
                if is_start && is_straight {
                    self.record(Event::StraightSlip);
                }
                let lambda = f * self.flow.rate;
                let ray = Line::straight(self.w, self.mu, direction, lambda, self.state.rho);
                self.recorder.phase(TraceMode::Straight);
                return self.line(&ray);
            }
            is_start = false;
            if !R::DENSE
                && f < 0.0
                && g.abs() < -TAIL_ANGLE * slope
                && let Some((delta, rest)) = self.rest_by_tail(&mut tail, direction)
            {
                if let Some(tail) = &tail {
                    self.recorder.tail(tail, &self.state, delta, &rest);
                }
                self.normal.energy -= rest.work - self.state.work;
                self.state = rest;
                return Ok(false);
            }
            if self.steps == MAX_STEPS {
                return Err(self.unfinished());
            }
            self.steps += 1;
            let arc = Arc::expand(&self.flow, self.mu, &self.state, self.tolerance);
            self.recorder.arc_begins(&arc, &self.state);
            if self.curve(&arc) {
                return Ok(true);
            }
        }
    }

    /// True if the impact ends before its sliding direction turns by more than rounding errors, so that sliding counts as
    /// straight.
    fn is_brief(&self, direction: [f64; 2]) -> bool {
        let rise = self.flow.normal_rate(direction);
        let [px, py] = self.flow.pull;
        let bend = self.flow.wzz + px.abs() + py.abs();
        // If the normal velocity increases, the normal impulse is at most 2 |v_z| divided by its rate.
        let duration = 2.0 * self.state.normal_velocity.abs();
        rise > 0.0
            && duration * self.flow.rate * (bend / rise)
                <= f64::EPSILON * 0.1 * self.state.rho * rise
    }

    /// Returns the angle (rad) from the limiting direction of a tail to the present sliding direction `direction`. A tail is the
    /// power series for the last part of sliding before rest. If `tail` is empty, or its limiting direction is far from the
    /// present one, a new series is computed and stored there. Returns `None` if the series does not apply at this angle.
    fn tail_angle(&self, tail: &mut Option<Tail>, direction: [f64; 2]) -> Option<f64> {
        if let Some(tail) = tail.as_ref().filter(|t| t.is_near(direction)) {
            return tail.angle(direction);
        }
        let invariant = self.flow.nearest_invariant(direction)?;
        *tail = Tail::around(self.w, &self.flow, invariant, self.tolerance);
        tail.as_ref()?.angle(direction)
    }

    /// Tries to compute the rest of sliding by a tail, the power series for the last part of sliding before rest. Returns the
    /// angle (rad) from the limiting direction of the series to the present sliding direction, and the state at rest. Returns
    /// `None` if the series does not apply in the present state, or if an event, such as the end of compression, occurs before
    /// rest. A new series is computed where necessary and stored in `tail`.
    fn rest_by_tail(&self, tail: &mut Option<Tail>, direction: [f64; 2]) -> Option<(f64, State)> {
        let delta = self.tail_angle(tail, direction)?;
        let rest = tail
            .as_ref()?
            .rest(self.w, &self.flow, &self.state, delta)?;
        let (now, then) = (self.state.normal_velocity, rest.normal_velocity);
        let quiet = match self.normal.phase {
            Phase::Compression => now <= 0.0 && then < 0.0,
            Phase::Restitution => {
                let ends = match self.normal.end {
                    End::EnergyZero => self.normal.energy - (rest.work - self.state.work) <= 0.0,
                    End::Impulse(end) => rest.impulse[2] >= end,
                    End::Velocity(end) => then >= end,
                };
                now >= 0.0 && then > 0.0 && !ends
            }
        };
        quiet.then_some((delta, rest))
    }

    /// Advances the impact along a step of curved sliding and processes the events on this step. Returns true if the impact ended
    /// on the step.
    fn curve(&mut self, arc: &Arc) -> bool {
        let base = self.state;
        self.at = 0.0;
        let end = arc.end();
        let (turns, count) = arc.turning_points(&self.flow);
        let mut from = 0.0;
        let turns = turns.into_iter().take(count);
        let ends = turns.filter(|t| *t > 0.0).chain(std::iter::once(end));
        for to in ends {
            if self.monotone_piece(arc, &base, from, to) {
                return true;
            }
            if R::TURNS && to < end {
                self.recorder.arc_turns(to, &arc.at(&base, to));
            }
            from = to;
        }
        self.move_to(arc, &base, end);
        self.recorder.point(&self.state, self.normal.energy);
        false
    }

    /// Advances the impact to path parameter `t` of a step of curved sliding. `base` is the state at the start of the step.
    fn move_to(&mut self, arc: &Arc, base: &State, t: f64) {
        let (energy, work) = (self.normal.energy, self.state.work);
        if R::DENSE {
            for k in 1..SAMPLES {
                let share = f64::from(k) / f64::from(SAMPLES);
                let state = arc.at(base, self.at + (t - self.at) * share);
                self.recorder.point(&state, energy - (state.work - work));
            }
        }
        self.state = arc.at(base, t);
        self.at = t;
        self.recorder.arc_to(t, &self.state);
        self.normal.energy = energy - (self.state.work - work);
    }

    /// Processes the events on the piece from `from` to `to` of a step of curved sliding, on which the normal velocity is
    /// monotone. `base` is the state at the start of the step. Returns true if the impact ended.
    fn monotone_piece(&mut self, arc: &Arc, base: &State, mut from: f64, to: f64) -> bool {
        let last = arc.normal_velocity(to).0;
        let zero = |from: f64, first: f64, level: f64| {
            let value = |t: f64| {
                let (velocity, rate) = arc.normal_velocity(t);
                (velocity - level, rate)
            };
            roots::newton([from, to], [first - level, last - level], value)
        };
        // Compression and restitution alternate, each at most twice on a monotone piece.
        for _ in 0..4 {
            let first = if from == 0.0 {
                base.normal_velocity
            } else {
                arc.normal_velocity(from).0
            };
            match self.normal.phase {
                Phase::Compression => {
                    if last < 0.0 {
                        return false;
                    }
                    let at = if first >= 0.0 {
                        from
                    } else {
                        zero(from, first, 0.0)
                    };
                    self.move_to(arc, base, at);
                    self.state.normal_velocity = 0.0;
                    if self.compression_ends() {
                        return true;
                    }
                    from = at;
                }
                Phase::Restitution => {
                    let falls = last < 0.0;
                    let limit = if falls {
                        if first <= 0.0 {
                            from
                        } else {
                            zero(from, first, 0.0)
                        }
                    } else {
                        to
                    };
                    if let Some(at) = self.restitution_ends(arc, base, from, limit) {
                        self.move_to(arc, base, at);
                        self.end();
                        return true;
                    }
                    if !falls {
                        return false;
                    }
                    self.move_to(arc, base, limit);
                    self.state.normal_velocity = 0.0;
                    self.interrupt();
                    from = limit;
                }
            }
        }
        false
    }

    /// Returns the path parameter at which restitution ends on the piece from `from` to `to` of a step of curved sliding; `None`
    /// if restitution does not end on this piece. `base` is the state at the start of the step.
    fn restitution_ends(&self, arc: &Arc, base: &State, from: f64, to: f64) -> Option<f64> {
        match self.normal.end {
            End::EnergyZero => {
                let stored = self.normal.energy + (self.state.work - base.work);
                let energy = |t: f64| {
                    let (work, rate) = arc.work(t);
                    (stored - work, -rate)
                };
                let last = energy(to).0;
                (last <= 0.0)
                    .then(|| roots::newton([from, to], [energy(from).0.max(0.0), last], energy))
            }
            End::Impulse(end) => {
                let left = |t: f64| {
                    let (impulse, rate) = arc.impulse(t);
                    (base.impulse[2] + impulse - end, rate)
                };
                let last = left(to).0;
                (last >= 0.0)
                    .then(|| roots::newton([from, to], [left(from).0.min(0.0), last], left))
            }
            End::Velocity(end) => {
                let short = |t: f64| {
                    let (velocity, rate) = arc.normal_velocity(t);
                    (velocity - end, rate)
                };
                let last = short(to).0;
                (last >= 0.0)
                    .then(|| roots::newton([from, to], [short(from).0.min(0.0), last], short))
            }
        }
    }

    /// Ends a compression phase in the present state and records the event. Returns true if the impact ends at the same instant.
    fn compression_ends(&mut self) -> bool {
        let stored = self.normal.energy;
        let (event, over) = self.normal.compression_ends(self.state.impulse[2]);
        let left = std::mem::replace(&mut self.normal.energy, stored);
        self.record(event);
        self.recorder.point(&self.state, stored);
        self.normal.energy = left;
        if over {
            self.end();
        } else {
            self.recorder.point(&self.state, left);
        }
        over
    }

    fn interrupt(&mut self) {
        self.normal.interrupted();
        self.record(Event::Interruption);
        self.recorder.point(&self.state, self.normal.energy);
    }

    fn end(&mut self) {
        if matches!(self.normal.end, End::EnergyZero) {
            // Exact: the energy stored by compression was lost or released.
            self.normal.energy = 0.0;
            self.state.work = -self.normal.loss;
        }
        self.record(Event::RestitutionEnd);
        self.recorder.point(&self.state, self.normal.energy);
    }

    /// Continues the impact after sliding has stopped: the contact sticks, or starts to slide again in the direction in which
    /// sliding restarts from rest. Returns true if the impact ended.
    fn go_on_from_rest(&mut self) -> Result<bool, TwoBodyError> {
        self.state.sliding = [0.0; 2];
        self.state.rho = 0.0;
        self.record(Event::SlipZero);
        self.recorder.point(&self.state, self.normal.energy);
        let [x, y] = self.w.demand;
        if x * x + y * y <= self.mu * self.mu {
            self.mode = FinalMode::Stick;
            self.recorder.phase(TraceMode::Stick);
            self.line(&Line::stick(self.w))
        } else {
            self.mode = FinalMode::ResumedSlip;
            if self.mu == 0.0 {
                self.mode = FinalMode::Slip;
                self.recorder.phase(TraceMode::Slip);
                return self.line(&Line::frictionless(self.w));
            }
            self.recorder.phase(TraceMode::Straight);
            let (direction, lambda) = centrifugal(self.w, self.mu);
            self.line(&Line::straight(self.w, self.mu, direction, lambda, 0.0))
        }
    }

    /// Advances the impact along the phase `line`, in which the impulse keeps its direction, and processes the events of this
    /// phase. Returns true if the impact ended in the phase.
    fn line(&mut self, line: &Line) -> Result<bool, TwoBodyError> {
        let k = line.normal_rate;
        let mut left = line.length;
        for _ in 0..8 {
            let v = self.state.normal_velocity;
            match self.normal.phase {
                Phase::Compression => {
                    let at = if k > 0.0 { -v / k } else { f64::INFINITY };
                    if at > left {
                        return self.leave(line, left);
                    }
                    self.advance(line, at);
                    self.state.normal_velocity = 0.0;
                    left -= at;
                    if self.compression_ends() {
                        return Ok(true);
                    }
                }
                Phase::Restitution => {
                    let turn = if k < 0.0 { v / -k } else { f64::INFINITY };
                    let (at, velocity) = match self.normal.end {
                        End::EnergyZero => {
                            let energy = self.normal.energy;
                            let q = v * v + 2.0 * k * energy;
                            if q >= 0.0 {
                                (2.0 * energy / (v + q.sqrt()), q.sqrt())
                            } else {
                                (f64::INFINITY, 0.0)
                            }
                        }
                        End::Impulse(end) => {
                            let at = (end - self.state.impulse[2]).max(0.0);
                            (at, v + k * at)
                        }
                        End::Velocity(end) if k > 0.0 => ((end - v).max(0.0) / k, end.max(v)),
                        End::Velocity(_) => (f64::INFINITY, 0.0),
                    };
                    if at <= left && at <= turn {
                        self.advance(line, at);
                        self.state.normal_velocity = velocity;
                        self.end();
                        return Ok(true);
                    }
                    if turn > left {
                        return self.leave(line, left);
                    }
                    self.advance(line, turn);
                    self.state.normal_velocity = 0.0;
                    left -= turn;
                    self.interrupt();
                }
            }
        }
        Err(self.unfinished())
    }

    fn leave(&mut self, line: &Line, left: f64) -> Result<bool, TwoBodyError> {
        if !left.is_finite() {
            return Err(self.unfinished());
        }
        self.advance(line, left.max(0.0));
        Ok(false)
    }

    fn advance(&mut self, line: &Line, by: f64) {
        let before = self.state.work;
        if R::DENSE {
            for k in 1..SAMPLES {
                let mut state = self.state;
                line.advance(&mut state, by * f64::from(k) / f64::from(SAMPLES));
                self.recorder
                    .point(&state, self.normal.energy - (state.work - before));
            }
        }
        self.recorder.line(&self.state, line, by);
        line.advance(&mut self.state, by);
        self.normal.energy -= self.state.work - before;
    }

    /// Corrects the tangential impulse of a sticking contact so that the sliding velocity $\gamma$ after the impact is exactly
    /// zero, Jia & Wang, Eq. (25). `start` is the state before the impact. The correction removes truncation errors and does not
    /// amplify rounding errors.
    fn polish(&mut self, start: &State) {
        if self.mode != FinalMode::Stick {
            return;
        }
        let [x, y, z] = self.state.impulse;
        let w = self.w;
        let residual = [
            start.sliding[0] + w.b11 * x + w.b12 * y + w.d1 * z,
            start.sliding[1] + w.b12 * x + w.b22 * y + w.d2 * z,
        ];
        let [x, y] = w.solve_tangential(residual);
        self.state.impulse[0] -= x;
        self.state.impulse[1] -= y;
    }
}
