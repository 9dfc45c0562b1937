//! The orbit of a penny from impact to impact.

use super::law::FEASIBLE_RESTITUTION;
use super::shared_circle::{Arc, Crossing, rotate};
use super::{PennyState, Rim, RollingPenny};
use crate::billiard::march::{March, march};
use crate::billiard::trig::sin_cos_sinc;
use crate::billiard::{BilliardError, Ellipse, Table};
use crate::hybrid::{Ending, Hybrid, Limits, drive};
use carom_impact::Restitution;
use nalgebra::Vector2;
use std::f64::consts::TAU;

/// A wall function up to this is contact, not penetration.
const CONTACT_VALUE: f64 = 16.0 * f64::EPSILON;

/// Above this sine of the angle of incidence the rate of the wall function is read off the state;
/// below it is carried along the circle. Reading it always loses a grazing cascade after 15
/// impacts, carrying it always lets state and rate drift apart.
const GRAZING_SINE: f64 = 1e-2;

/// A rate or second derivative below this fraction of its terms is rounding.
const ROUNDING: f64 = 1e-14;

/// Impacts without time between them after which both rims are locked at the wall.
const LOCKED_IMPACTS: usize = 16;

/// Intervals in a row, each this much shorter than the last but one, that make a Zeno sequence
/// once they are this short in units of the time to cross the table.
const ZENO_IMPACTS: usize = 50;
/// Ratio of an interval to the last but one, below which it is shorter.
const ZENO_RATIO: f64 = 0.98;
/// Interval of a Zeno sequence, in units of the time to cross the table.
const ZENO_INTERVAL: f64 = 1e-10;

/// A penny on a table, with a law of impact.
///
/// # Examples
///
/// The paper's penny on its elliptical table; the first impact:
///
/// ```
/// use carom_motion::billiard::penny::{PennyBilliard, PennyState, Rim, RollingPenny};
/// use carom_motion::billiard::Ellipse;
/// use carom_motion::hybrid::Limits;
/// use carom_impact::Restitution;
/// let penny = RollingPenny::thin_disk(0.01, 0.0025)?;
/// let billiard = PennyBilliard::new(penny, Ellipse::new(0.15, 0.2)?, Restitution::Elastic)?;
/// let start = PennyState {
///     phi: std::f64::consts::FRAC_PI_2,
///     theta_dot: 10.0,
///     phi_dot: 0.2,
///     ..PennyState::default()
/// };
/// let run = billiard.run(start, Limits::impacts(20))?;
/// let first = &run.events[0];
/// assert_eq!(first.rim, Rim::Front);
/// assert!((first.time - 1.8834069201978127).abs() < 1e-14);
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PennyBilliard<T> {
    penny: RollingPenny,
    table: T,
    restitution: Restitution,
    graze: f64,
}

/// One impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Time, s.
    pub time: f64,
    /// Time since the impact before, s.
    pub interval: f64,
    /// The rim that hit.
    pub rim: Rim,
    /// State just after.
    pub state: PennyState,
    /// $(\Omega, \omega)$ just before, rad/s.
    pub velocity_minus: [f64; 2],
    /// The rim point, m.
    pub point: Vector2<f64>,
    /// Speed of the rim into the wall, m/s.
    pub normal_velocity: f64,
    /// Rate after over rate before, reversed.
    pub effective_restitution: f64,
    /// Change of kinetic energy, J.
    pub energy_change_j: f64,
}

/// An orbit with its impacts.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// State at the start.
    pub start: PennyState,
    /// Impacts in the order of time.
    pub events: Vec<Event>,
    /// Why it ended.
    pub ending: Ending<BilliardError>,
    /// Time of the end, s: the time limit, or the last impact.
    pub time: f64,
}

impl Run {
    /// The state at a time (s), by the exact flow from the last impact before it. Times before the
    /// start and after the end extend the motion without impact.
    pub fn state_at(&self, penny: &RollingPenny, time: f64) -> PennyState {
        match self
            .events
            .partition_point(|e| e.time <= time)
            .checked_sub(1)
        {
            Some(last) => {
                let event = &self.events[last];
                penny.flow(&event.state, time - event.time)
            }
            None => penny.flow(&self.start, time),
        }
    }

    /// The state at the end.
    pub fn final_state(&self, penny: &RollingPenny) -> PennyState {
        self.state_at(penny, self.time)
    }
}

/// An orbit that is followed one impact at a time, without allocating.
#[derive(Clone, Debug)]
pub(crate) struct Orbit<'a, T> {
    billiard: &'a PennyBilliard<T>,
    place: Place,
    impacts: usize,
    intervals: [f64; 2],
    locked: usize,
    shrinking: usize,
}

/// Place of an orbit.
#[derive(Clone, Copy, Debug)]
enum Place {
    Start(PennyState),
    Wall(Contact),
}

/// Just after an impact.
#[derive(Clone, Copy, Debug)]
struct Contact {
    time: f64,
    rim: Rim,
    point: Vector2<f64>,
    heading: Vector2<f64>,
    state: PennyState,
    /// Rate of the wall function at the rim, negative.
    rate: f64,
}

/// A rim about to hit.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    rim: Rim,
    interval: f64,
    point: Vector2<f64>,
    heading: Vector2<f64>,
    gradient: Vector2<f64>,
    rate: f64,
}

/// Next event of an orbit.
enum Next {
    Arrival(Arrival),
    End(Ending<BilliardError>),
}

/// Result of one step of an orbit.
pub(crate) enum Step {
    Impact(Event),
    End(Ending<BilliardError>),
}

/// An orbit with what is to be told of its impacts.
struct Course<'a, T, V> {
    orbit: Orbit<'a, T>,
    /// Time of the end as far as it is known: the latest impact (s).
    time: f64,
    visit: V,
}

impl<T: Table, V: FnMut(&Event)> Hybrid for Course<'_, T, V> {
    type Error = BilliardError;

    fn n_impacts(&self) -> usize {
        self.orbit.impacts
    }

    fn proceed(&mut self, limits: &Limits) -> Result<Option<Ending<BilliardError>>, BilliardError> {
        match self.orbit.step(limits.duration)? {
            Step::Impact(event) => {
                self.time = event.time;
                (self.visit)(&event);
                Ok(None)
            }
            Step::End(ending) => {
                // An orbit that never hits again goes on to the time asked for.
                let goes_on = match ending {
                    Ending::Completed => true,
                    Ending::NeverHits | Ending::AtRest => limits.duration.is_finite(),
                    _ => false,
                };
                if goes_on {
                    self.time = limits.duration;
                }
                Ok(Some(ending))
            }
        }
    }
}

impl<T: Table> PennyBilliard<T> {
    /// A penny on a table.
    ///
    /// # Errors
    ///
    /// [`BilliardError::TableTooSmall`] if the disk does not fit, and
    /// [`BilliardError::Impact`] for an invalid restitution.
    pub fn new(
        penny: RollingPenny,
        table: T,
        restitution: Restitution,
    ) -> Result<Self, BilliardError> {
        restitution.validate()?;
        let semi_axis = 0.5 * table.width();
        if semi_axis <= penny.radius() {
            return Err(BilliardError::TableTooSmall {
                semi_axis,
                radius: penny.radius(),
            });
        }
        Ok(Self {
            penny,
            table,
            restitution,
            graze: 1e-12,
        })
    }

    /// Sets the fraction of the rim's speed below which a normal velocity ends the orbit as
    /// [`Ending::GrazingCascade`]; $10^{-12}$ by default, 0 to follow the cascade as far as it
    /// goes.
    #[must_use]
    pub fn with_graze(mut self, graze: f64) -> Self {
        self.graze = graze.max(0.0);
        self
    }

    /// The penny.
    pub fn penny(&self) -> &RollingPenny {
        &self.penny
    }

    /// The table.
    pub fn table(&self) -> &T {
        &self.table
    }

    /// The law of impact.
    pub fn restitution(&self) -> Restitution {
        self.restitution
    }

    /// Follows an orbit.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NonFinite`] and [`BilliardError::PenetratingStart`]. What stops an orbit on its
    /// way, such as [`BilliardError::InfeasibleLaw`], is [`Ending::Stopped`].
    pub fn run(&self, start: PennyState, limits: Limits) -> Result<Run, BilliardError> {
        let mut events = Vec::new();
        let (ending, time) = self.follow(start, limits, |event| events.push(*event))?;
        Ok(Run {
            start,
            events,
            ending,
            time,
        })
    }

    /// Follows an orbit and hands each impact to a function; nothing is allocated. Returns why it
    /// ended, and when.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub fn follow(
        &self,
        start: PennyState,
        limits: Limits,
        visit: impl FnMut(&Event),
    ) -> Result<(Ending<BilliardError>, f64), BilliardError> {
        let mut course = Course {
            orbit: self.orbit(start)?,
            time: 0.0,
            visit,
        };
        let ending = drive(&mut course, &limits);
        Ok((ending, course.time))
    }

    pub(crate) fn orbit(&self, start: PennyState) -> Result<Orbit<'_, T>, BilliardError> {
        start.validate()?;
        for (rim, part) in [(Rim::Front, "the front rim"), (Rim::Back, "the back rim")] {
            let value = self.table.value(self.penny.rim(&start, rim));
            if value.is_nan() || value > CONTACT_VALUE {
                return Err(BilliardError::PenetratingStart { part, value });
            }
        }
        Ok(Orbit {
            billiard: self,
            place: Place::Start(start),
            impacts: 0,
            intervals: [f64::INFINITY; 2],
            locked: 0,
            shrinking: 0,
        })
    }

    /// Velocity of a rim point, $R(\Omega t + \sigma\omega s)$.
    #[inline]
    fn rim_velocity(&self, rim: Rim, heading: Vector2<f64>, state: &PennyState) -> Vector2<f64> {
        let r = self.penny.radius();
        rotate(
            heading,
            Vector2::new(r * state.theta_dot, r * rim.sign() * state.phi_dot),
        )
    }

    /// The first arrival from a start that need not be on the wall.
    fn first_arrival(&self, state: &PennyState) -> Next {
        if state.theta_dot == 0.0 && state.phi_dot == 0.0 {
            return Next::End(Ending::AtRest);
        }
        let (sin, cos) = libm::sincos(state.phi);
        let heading = Vector2::new(cos, sin);
        let center = Vector2::new(state.x, state.y);
        let mut first: Option<Arrival> = None;
        for rim in [Rim::Front, Rim::Back] {
            let point = center + rim.sign() * self.penny.radius() * heading;
            let w = self.rim_velocity(rim, heading, state);
            let gradient = self.table.gradient(point);
            let rate = gradient.dot(&w);
            let value = self.table.value(point);
            let exit = if value < -CONTACT_VALUE {
                self.exit(point, w, state.phi_dot, value, rate)
            } else if rate.abs() > ROUNDING * gradient.norm() * w.norm() {
                if rate > 0.0 {
                    return Next::Arrival(Arrival {
                        rim,
                        interval: 0.0,
                        point: self.on_wall(point),
                        heading,
                        gradient,
                        rate,
                    });
                }
                self.exit_from_wall(point, w, state.phi_dot, gradient, rate)
            } else {
                let turned = Vector2::new(-w.y, w.x);
                let bend = (w.transpose() * self.table.hessian(point) * w)[0];
                let turn = state.phi_dot * gradient.dot(&turned);
                let second = bend + turn;
                let rounding = 100.0 * ROUNDING * (bend.abs() + turn.abs());
                if second > rounding {
                    return Next::End(Ending::PressedContact);
                }
                if second >= -rounding {
                    // The rim runs along the wall.
                    continue;
                }
                self.exit(point, w, state.phi_dot, -f64::MIN_POSITIVE, 0.0)
            };
            if let Some(crossing) = exit
                && first.is_none_or(|other| crossing.time < other.interval)
            {
                let turn = rotate(crossing.half_turn, crossing.half_turn);
                let w = rotate(turn, w);
                let point = self.on_wall(point + crossing.chord);
                let gradient = self.table.gradient(point);
                first = Some(Arrival {
                    rim,
                    interval: crossing.time,
                    point,
                    heading: rotate(turn, heading),
                    gradient,
                    rate: gradient.dot(&w),
                });
            }
        }
        first.map_or(Next::End(Ending::NeverHits), Next::Arrival)
    }

    /// Crossing at which a rim inside the wall leaves the table.
    fn exit(
        &self,
        point: Vector2<f64>,
        w: Vector2<f64>,
        omega: f64,
        value: f64,
        rate: f64,
    ) -> Option<Crossing> {
        match self.table.ellipse() {
            Some(ellipse) => Arc::new(ellipse, w, omega).first_exit(ellipse, point, value, rate),
            None => self.march(point, w, omega, value, rate, f64::INFINITY),
        }
    }

    /// Crossing at which a rim that leaves the wall inwards hits it again.
    fn exit_from_wall(
        &self,
        point: Vector2<f64>,
        w: Vector2<f64>,
        omega: f64,
        gradient: Vector2<f64>,
        rate: f64,
    ) -> Option<Crossing> {
        match self.table.ellipse() {
            Some(ellipse) => Arc::new(ellipse, w, omega)
                .crossings_ahead(ellipse, gradient, rate)
                .first()
                .copied(),
            None => self.march(point, w, omega, 0.0, rate, f64::INFINITY),
        }
    }

    /// Next hit on any table within a time (s), by certified steps.
    fn march(
        &self,
        point: Vector2<f64>,
        w: Vector2<f64>,
        omega: f64,
        value: f64,
        rate: f64,
        within: f64,
    ) -> Option<Crossing> {
        let speed = w.norm();
        let bound = speed
            * (self.table.hessian_bound() * speed + self.table.gradient_bound() * omega.abs());
        let return_time = if omega == 0.0 {
            2.0 * self.table.diameter() / speed
        } else {
            TAU / omega.abs()
        };
        let horizon = return_time.min(within);
        let at = |t: f64| {
            let half = 0.5 * omega * t;
            let [sin, cos, sinc] = sin_cos_sinc(half);
            let half_turn = Vector2::new(cos, sin);
            let chord = t * sinc * rotate(half_turn, w);
            Crossing {
                time: t,
                chord,
                half_turn,
            }
        };
        let time = march(
            March {
                value,
                rate,
                bound,
                horizon,
            },
            |t| {
                let crossing = at(t);
                let p = point + crossing.chord;
                let turn = rotate(crossing.half_turn, crossing.half_turn);
                (
                    self.table.value(p),
                    self.table.gradient(p).dot(&rotate(turn, w)),
                )
            },
        )?;
        Some(at(time))
    }

    /// A Newton step onto the wall.
    fn on_wall(&self, point: Vector2<f64>) -> Vector2<f64> {
        let gradient = self.table.gradient(point);
        point - self.table.value(point) / gradient.norm_squared() * gradient
    }

    /// The next arrival after an impact.
    fn next_arrival(&self, contact: &Contact) -> Next {
        let state = &contact.state;
        if state.theta_dot == 0.0 && state.phi_dot == 0.0 {
            return Next::End(Ending::AtRest);
        }
        let w = self.rim_velocity(contact.rim, contact.heading, state);
        let gradient = self.table.gradient(contact.point);
        if contact.rate >= -self.graze * gradient.norm() * w.norm() {
            return Next::End(Ending::GrazingCascade);
        }
        match self.table.ellipse() {
            Some(ellipse) => self.next_on_ellipse(ellipse, contact, w, gradient),
            None => self.next_by_marching(contact, w),
        }
    }

    fn next_on_ellipse(
        &self,
        table: &Ellipse,
        contact: &Contact,
        w: Vector2<f64>,
        gradient: Vector2<f64>,
    ) -> Next {
        let state = &contact.state;
        let (big, small) = (state.theta_dot, state.phi_dot);
        let sigma = contact.rim.sign();
        let arc = Arc::new(table, w, small);
        let ahead = arc.crossings_ahead(table, gradient, contact.rate);
        let Some(same) = ahead.first() else {
            // Only a rate lost in rounding lets a rim that came in never go out.
            return Next::End(Ending::GrazingCascade);
        };
        // The other rim runs this much ahead on the same circle.
        let offset = if arc.is_wide() {
            let ratio = small / big;
            -sigma * 2.0 / big * crate::billiard::trig::atan_over(ratio)
        } else {
            2.0 / small.abs() * libm::atan2(small.abs(), -sigma * big)
        };
        let (other, interval) = if offset >= 0.0 {
            wall_ahead(&ahead, offset)
        } else {
            let behind = arc.crossings_behind(table, gradient, contact.rate);
            match wall_behind(&behind, offset) {
                Some(found) => found,
                None => return Next::End(Ending::GrazingCascade),
            }
        };
        let (rim, crossing, interval) = if interval < same.time {
            (contact.rim.other(), other, interval)
        } else {
            (contact.rim, *same, same.time)
        };
        let turn = rotate(crossing.half_turn, crossing.half_turn);
        let velocity = rotate(turn, w);
        let mut heading = rotate(turn, contact.heading);
        if rim != contact.rim {
            // Both rims have the same velocity at the same place; their headings differ by twice
            // the angle of that velocity.
            let tilt = Vector2::new(big, sigma * small);
            heading = rotate(heading, rotate(tilt, tilt)) / tilt.norm_squared();
        }
        let point = self.on_wall(contact.point + crossing.chord);
        let gradient = self.table.gradient(point);
        let direct = gradient.dot(&velocity);
        let rate = if direct.abs() > GRAZING_SINE * gradient.norm() * w.norm() {
            direct
        } else {
            carried_rate(table, &crossing, w, contact.rate)
        };
        Next::Arrival(Arrival {
            rim,
            interval,
            point,
            heading: heading.normalize(),
            gradient,
            rate,
        })
    }

    fn next_by_marching(&self, contact: &Contact, w: Vector2<f64>) -> Next {
        let omega = contact.state.phi_dot;
        let other = contact.rim.other();
        let across = self.rim_velocity(other, contact.heading, &contact.state);
        let reach = 2.0 * contact.rim.sign() * self.penny.radius();
        let opposite = contact.point - reach * contact.heading;
        let value = self.table.value(opposite).min(0.0);
        let rate = self.table.gradient(opposite).dot(&across);
        let near = self.march(contact.point, w, omega, 0.0, contact.rate, f64::INFINITY);
        // The other rim counts only where it is the first to hit.
        let within = near.as_ref().map_or(f64::INFINITY, |hit| hit.time);
        let far = self
            .march(opposite, across, omega, value, rate, within)
            .filter(|hit| hit.time < within);
        let (rim, point, w, crossing) = match (near, far) {
            (_, Some(hit)) => (other, opposite, across, hit),
            (Some(hit), None) => (contact.rim, contact.point, w, hit),
            (None, None) => return Next::End(Ending::NeverHits),
        };
        let turn = rotate(crossing.half_turn, crossing.half_turn);
        let point = self.on_wall(point + crossing.chord);
        let gradient = self.table.gradient(point);
        Next::Arrival(Arrival {
            rim,
            interval: crossing.time,
            point,
            heading: rotate(turn, contact.heading).normalize(),
            gradient,
            rate: gradient.dot(&rotate(turn, w)),
        })
    }
}

/// Rate of the wall function of a conic where a circle crosses it again, from the rate where it
/// crossed before: $u = -g + |w|\sin\eta d^THd_\perp$ with the chord d, its half turn
/// $\eta$, the Hessian H and $d_\perp$ normal to the chord.
pub(super) fn carried_rate(
    table: &Ellipse,
    crossing: &Crossing,
    w: Vector2<f64>,
    rate: f64,
) -> f64 {
    let along = rotate(crossing.half_turn, w);
    let normal = Vector2::new(-along.y, along.x);
    2.0 * crossing.half_turn.y * table.form(crossing.chord, normal) - rate
}

/// Place and time at which the other rim, `offset` ahead on the circle, goes out. Even entries of `ahead`
/// go out, odd ones in. A rim that rounding puts beyond the wall is taken to the nearer end: it
/// is inside, or hits at once.
fn wall_ahead(ahead: &[Crossing], offset: f64) -> (Crossing, f64) {
    let mut k = 0;
    while k + 2 < ahead.len() {
        let (out, back) = (ahead[k].time, ahead[k + 1].time);
        if offset <= out || offset - out < back - offset {
            break;
        }
        k += 2;
    }
    (ahead[k], (ahead[k].time - offset).max(0.0))
}

/// Crossing of a rim behind: `offset` is negative, and the nearest crossing behind goes out.
fn wall_behind(behind: &[Crossing], offset: f64) -> Option<(Crossing, f64)> {
    let mut k = 0;
    while k + 2 < behind.len() {
        let (back, out) = (behind[k + 1].time, behind[k + 2].time);
        if offset >= back || back - offset < offset - out {
            break;
        }
        k += 2;
    }
    let crossing = behind.get(k)?;
    Some((*crossing, (crossing.time - offset).max(0.0)))
}

impl<T: Table> Orbit<'_, T> {
    /// Goes to the next impact, unless it is later than `duration`.
    pub(crate) fn step(&mut self, duration: f64) -> Result<Step, BilliardError> {
        let billiard = self.billiard;
        let (next, time, state) = match &self.place {
            Place::Start(state) => (billiard.first_arrival(state), 0.0, *state),
            Place::Wall(contact) => (billiard.next_arrival(contact), contact.time, contact.state),
        };
        let arrival = match next {
            Next::Arrival(arrival) => arrival,
            Next::End(ending) => return Ok(Step::End(ending)),
        };
        if time + arrival.interval > duration {
            return Ok(Step::End(Ending::Completed));
        }
        let norm = arrival.gradient.norm();
        if norm == 0.0 {
            return Err(BilliardError::WallUnreachable);
        }
        let speed = billiard.penny.radius() * libm::hypot(state.theta_dot, state.phi_dot);
        if arrival.rate <= billiard.graze * norm * speed {
            return Ok(Step::End(Ending::GrazingCascade));
        }
        if let Some(ending) = self.accumulation(time, &arrival, &state) {
            return Ok(Step::End(ending));
        }
        let velocity_minus = [state.theta_dot, state.phi_dot];
        let impact = billiard.penny.impact(
            arrival.rim,
            arrival.heading,
            arrival.gradient,
            velocity_minus,
            arrival.rate,
            billiard.restitution,
        );
        if impact.effective_restitution < FEASIBLE_RESTITUTION {
            return Err(BilliardError::InfeasibleLaw {
                impact: self.impacts + 1,
                effective_restitution: impact.effective_restitution,
            });
        }
        let time = time + arrival.interval;
        let phi = unwrapped(
            arrival.heading,
            state.phi + state.phi_dot * arrival.interval,
        );
        // From the angle as rounded after many turns, so that the state as it stands is on the wall.
        let (sin, cos) = libm::sincos(phi);
        let reach = arrival.rim.sign() * billiard.penny.radius();
        let state = PennyState {
            x: arrival.point.x - reach * cos,
            y: arrival.point.y - reach * sin,
            theta: state.theta + state.theta_dot * arrival.interval,
            phi,
            theta_dot: impact.theta_dot_plus,
            phi_dot: impact.phi_dot_plus,
        };
        self.impacts += 1;
        self.place = Place::Wall(Contact {
            time,
            rim: arrival.rim,
            point: arrival.point,
            heading: arrival.heading,
            state,
            rate: -impact.effective_restitution * arrival.rate,
        });
        Ok(Step::Impact(Event {
            time,
            interval: arrival.interval,
            rim: arrival.rim,
            state,
            velocity_minus,
            point: arrival.point,
            normal_velocity: arrival.rate / norm,
            effective_restitution: impact.effective_restitution,
            energy_change_j: impact.energy_change_j,
        }))
    }

    /// True if the intervals between impacts vanish or shrink to nothing.
    fn accumulation(
        &mut self,
        time: f64,
        arrival: &Arrival,
        state: &PennyState,
    ) -> Option<Ending<BilliardError>> {
        let interval = arrival.interval;
        let crossing_time = self.billiard.table.diameter()
            / (self.billiard.penny.radius() * libm::hypot(state.theta_dot, state.phi_dot));
        let instant = self.impacts > 0 && interval <= f64::EPSILON * crossing_time;
        self.locked = if instant { self.locked + 1 } else { 0 };
        if self.locked >= LOCKED_IMPACTS {
            return Some(Ending::DoubleContact);
        }
        let [last_but_one, last] = self.intervals;
        let shrinks = interval < ZENO_RATIO * last_but_one && last_but_one.is_finite();
        self.shrinking = if shrinks { self.shrinking + 1 } else { 0 };
        self.intervals = [last, interval];
        if self.shrinking >= ZENO_IMPACTS && interval < ZENO_INTERVAL * crossing_time {
            // Two interleaved geometric series.
            let ratio = interval / last_but_one;
            let accumulation = time + (last * ratio + interval) / (1.0 - ratio);
            return Some(Ending::Zeno { accumulation });
        }
        None
    }
}

/// The angle of a unit vector on the branch nearest to a continuous angle.
fn unwrapped(heading: Vector2<f64>, near: f64) -> f64 {
    let angle = libm::atan2(heading.y, heading.x);
    angle + TAU * ((near - angle) / TAU).round()
}
