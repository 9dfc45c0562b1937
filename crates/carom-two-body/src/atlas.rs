//! Precomputed hodographs of a contact: one between each two neighboring invariant directions.

use super::arc::{Arc, Path};
use super::flow::{Flow, centrifugal};
use super::inertia::ContactInertia;
use super::invariant::{InvariantDirections, invariant_directions};
use super::state::State;
use super::tail::Tail;
use crate::tolerances::{MONOTONE_SLOPE, TAIL_RATE};
use carom_numeric::roots;
use std::f64::consts::TAU;

/// Distance (rad) from a repelling direction at which the tabulated hodographs start. Closer to it, each impact is
/// expanded separately until it reaches this distance.
const OFFSET: f64 = 1e-3;

/// Largest number of arcs of one hodograph.
const MAX_LEGS: usize = 48;

/// Smallest sliding speed at the end of a tabulated arc, relative to that at its start. The rest of an impact is computed
/// as a difference along the arc, and its energy is quadratic in the speed, so that a smaller ratio would lose digits.
const SLOWEST: f64 = 0.4;

/// Ratio of closing speed to sliding speed below which tables are not used. Such an impact is short compared to an arc,
/// and its energy, a difference along the arc, would lose digits with the square of this ratio.
const SHORT: f64 = 0.1;

/// One arc of a tabulated hodograph, with unit sliding speed and zero normal velocity at its start.
#[derive(Clone, Debug)]
pub(crate) struct Leg {
    arc: Arc,
    turns: ([f64; 2], usize),
    end: State,
    /// Angle (rad) by which sliding has turned at the start of the leg.
    turned: f64,
    /// Angle (rad) by which sliding turns on the leg.
    turn: f64,
    /// Slopes of the arc's parameter as a function of the angle at both ends of the leg, each divided by the mean slope.
    /// [`guess`](Self::guess) interpolates with them.
    slopes: [f64; 2],
}

impl Leg {
    /// Estimates the path parameter of this tabulated arc at which the sliding direction has turned by the angle `turned` (rad)
    /// since the start of the sector. The inverse function is interpolated by a cubic Hermite polynomial, or linearly if the
    /// cubic polynomial is not monotone.
    fn guess(&self, turned: f64) -> f64 {
        let s = (turned - self.turned) / self.turn;
        let [a, b] = self.slopes;
        let bent = s * (1.0 - s) * ((a - 1.0) * (1.0 - s) - (b - 1.0) * s);
        let share = if a.max(b) < MONOTONE_SLOPE {
            s + bent
        } else {
            s
        };
        self.arc.end() * share
    }
}

/// Hodograph between two neighboring invariant directions.
#[derive(Clone, Debug)]
struct Sector {
    /// Polar angle (rad) of the direction from which sliding turns away, and the sign of its turning.
    from: f64,
    sign: f64,
    /// Angle (rad) between the two directions.
    width: f64,
    /// Angles (rad) at the ends of the legs; the first leg starts at [`OFFSET`].
    turned: Vec<f64>,
    legs: Vec<Leg>,
    tail: Option<Tail>,
}

/// All precomputed data, which depend only on inverse inertia and friction.
#[derive(Clone, Debug)]
pub(crate) struct Atlas {
    sectors: Vec<Sector>,
    pub(crate) flow: Flow,
    pub(crate) centrifugal: Option<([f64; 2], f64)>,
}

/// Point at which an impact enters a tabulated hodograph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) legs: &'a [Leg],
    pub(crate) at: f64,
    pub(crate) tail: Option<Tail>,
}

impl Atlas {
    pub(crate) fn new(w: &ContactInertia, mu: f64, tolerance: f64) -> Self {
        let flow = Flow::new(w, mu);
        let mut sectors = Vec::new();
        if mu > 0.0
            && let InvariantDirections::Discrete(list) = invariant_directions(w, mu)
        {
            for (k, low) in list.iter().enumerate() {
                let high = &list[(k + 1) % list.len()];
                let width = match (high.angle - low.angle).rem_euclid(TAU) {
                    0.0 => TAU,
                    width => width,
                };
                let (s, c) = libm::sincos(low.angle + 0.5 * width);
                let sign = flow.rates([c, s]).1.signum();
                let (from, to) = if sign > 0.0 { (low, high) } else { (high, low) };
                let tail = Tail::around(w, &flow, to.direction(), tolerance);
                let sector = Sector {
                    from: from.angle,
                    sign,
                    width,
                    turned: Vec::new(),
                    legs: Vec::new(),
                    tail,
                };
                sectors.push(sector.tabulated(&flow, mu, tolerance));
            }
        }
        let [x, y] = w.demand;
        let resumes = mu > 0.0 && x * x + y * y > mu * mu;
        Self {
            sectors,
            centrifugal: resumes.then(|| centrifugal(w, mu)),
            flow,
        }
    }

    /// Finds the point of the precomputed hodographs at which sliding has the given direction. Returns `None` close to a
    /// repelling direction, outside the tabulated range, and for impacts that are short compared with a tabulated arc.
    pub(crate) fn enter(&self, state: &State, direction: [f64; 2]) -> Option<Entry<'_>> {
        if state.normal_velocity.abs() < SHORT * state.rho {
            return None;
        }
        let angle = libm::atan2(direction[1], direction[0]);
        let turned = |sector: &Sector| (sector.sign * (angle - sector.from)).rem_euclid(TAU);
        let sector = self.sectors.iter().find(|s| turned(s) < s.width)?;
        let turned = turned(sector);
        if turned < OFFSET {
            return None;
        }
        let leg = sector.turned.partition_point(|end| *end < turned);
        let legs = sector.legs.get(leg..).filter(|legs| !legs.is_empty())?;
        let arc = &legs[0].arc;
        let guess = legs[0].guess(turned);
        let cross = |t: f64| arc.cross(&self.flow, t, direction);
        let ends = [cross(0.0).0, cross(arc.end()).0];
        if ends[0] * ends[1] > 0.0 {
            return None;
        }
        Some(Entry {
            legs,
            at: roots::newton_from(guess, [0.0, arc.end()], ends, cross),
            tail: sector.tail,
        })
    }
}

impl Sector {
    /// Tabulates the hodograph of this sector, which lies between two neighboring invariant directions (in which sliding does not
    /// turn). Curved sliding with unit initial speed is expanded arc by arc. The table ends where the power series for the end of
    /// sliding applies, or where sliding is straight.
    fn tabulated(mut self, flow: &Flow, mu: f64, tolerance: f64) -> Self {
        let first = self.from + self.sign * OFFSET;
        let (s, c) = libm::sincos(first);
        let mut state = State {
            sliding: [c, s],
            rho: 1.0,
            ..State::default()
        };
        while self.legs.len() < MAX_LEGS {
            let is_tail = self.tail.and_then(|t| t.angle(state.sliding)).is_some();
            if is_tail && flow.rates(state.sliding).1.abs() < TAIL_RATE
                || flow.is_straight(state.sliding)
            {
                break;
            }
            let mut arc = Arc::expand(flow, mu, &state, tolerance);
            let mut end = arc.at(&state, arc.end());
            while end.rho < SLOWEST {
                arc.shorten();
                end = arc.at(&state, arc.end());
            }
            let [x, y] = [end.sliding[0] / end.rho, end.sliding[1] / end.rho];
            let turned = (self.sign * (libm::atan2(y, x) - self.from)).rem_euclid(TAU);
            let before = self.turned.last().copied().unwrap_or(OFFSET);
            if turned <= before {
                break;
            }
            self.turned.push(turned);
            let turn = turned - before;
            let slope = |direction| turn / (arc.end() * flow.rates(direction).1.abs());
            self.legs.push(Leg {
                turns: arc.turning_points(flow),
                turned: before,
                turn,
                slopes: [slope(state.sliding), slope([x, y])],
                arc,
                end,
            });
            state = State {
                sliding: [x, y],
                rho: 1.0,
                ..State::default()
            };
        }
        self
    }
}

/// Tabulated arc along which an impact moves: scaled, and entered at a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ride<'a> {
    leg: &'a Leg,
    from: f64,
    /// Sliding speed of the impact at the start of the arc.
    scale: f64,
    /// State of the tabulated arc at the entry.
    entry: State,
    /// Normal velocity of the impact at the entry.
    normal_velocity: f64,
}

impl<'a> Ride<'a> {
    /// Prepares a tabulated arc for use in an impact. `from` is the path parameter of the arc at which its sliding direction is
    /// that of `state`, the present state of the impact.
    pub(crate) fn new(leg: &'a Leg, from: f64, state: &State) -> Self {
        let start = State::default();
        let entry = if from == 0.0 {
            State { rho: 1.0, ..start }
        } else {
            leg.arc.at(&start, from)
        };
        Self {
            leg,
            from,
            scale: state.rho / entry.rho,
            entry,
            normal_velocity: state.normal_velocity,
        }
    }

    /// Returns the change of the impact's normal velocity since the arc was entered, from the normal velocity `normal_velocity`
    /// of the tabulated arc.
    fn gain(&self, normal_velocity: f64) -> f64 {
        self.scale * (normal_velocity - self.entry.normal_velocity)
    }

    /// Returns the work of the impact's normal impulse since the arc was entered, from the normal impulse and the work of the
    /// tabulated arc. The result is the work at the constant initial normal velocity, plus the work that results from the change
    /// of this velocity.
    fn work_of(&self, impulse: f64, work: f64) -> f64 {
        let impulse = self.scale * (impulse - self.entry.impulse[2]);
        let steady = self.normal_velocity - self.scale * self.entry.normal_velocity;
        steady * impulse + self.scale * self.scale * (work - self.entry.work)
    }
}

impl Path for Ride<'_> {
    fn start(&self) -> f64 {
        self.from
    }

    fn end(&self) -> f64 {
        self.leg.arc.end()
    }

    fn turning_points(&self, _: &Flow) -> ([f64; 2], usize) {
        self.leg.turns
    }

    fn normal_velocity(&self, t: f64) -> (f64, f64) {
        if t == self.end() {
            let gain = self.gain(self.leg.end.normal_velocity);
            return (self.normal_velocity + gain, 0.0);
        }
        let (value, rate) = self.leg.arc.normal_velocity(t);
        (self.normal_velocity + self.gain(value), self.scale * rate)
    }

    fn work(&self, t: f64) -> (f64, f64) {
        let (impulse, work, rate) = if t == self.end() {
            let end = &self.leg.end;
            (end.impulse[2], end.work, 0.0)
        } else {
            let (impulse, rate) = self.leg.arc.impulse(t);
            (impulse, self.leg.arc.work(t).0, rate)
        };
        let velocity = self.normal_velocity(t).0;
        (self.work_of(impulse, work), velocity * self.scale * rate)
    }

    fn impulse(&self, t: f64) -> (f64, f64) {
        let (impulse, rate) = self.leg.arc.impulse(t);
        (
            self.scale * (impulse - self.entry.impulse[2]),
            self.scale * rate,
        )
    }

    fn at(&self, base: &State, t: f64) -> State {
        let there = if t == self.end() {
            self.leg.end
        } else {
            self.leg.arc.at(&State::default(), t)
        };
        let moved =
            |k: usize| base.impulse[k] + self.scale * (there.impulse[k] - self.entry.impulse[k]);
        State {
            impulse: [moved(0), moved(1), moved(2)],
            sliding: there.sliding.map(|x| x * self.scale),
            rho: there.rho * self.scale,
            normal_velocity: self.normal_velocity + self.gain(there.normal_velocity),
            work: base.work + self.work_of(there.impulse[2], there.work),
        }
    }
}
