//! Orbit of the penny, computed one impact at a time.

use super::arrival::{Arrival, CONTACT_VALUE, Contact, Next};
use super::law::FEASIBLE_RESTITUTION;
use super::{PennyBilliard, PennyState, Rim};
use crate::billiard::{BilliardError, Table};
use crate::hybrid::Ending;
use nalgebra::Vector2;
use std::f64::consts::TAU;

/// Number of consecutive impacts at one instant after which both rims count as locked at the wall.
const LOCKED_IMPACTS: usize = 16;

/// Number of consecutive intervals, each shorter than [`ZENO_RATIO`] times the last but one, that make a Zeno sequence,
/// if the last interval is shorter than [`ZENO_INTERVAL`].
const ZENO_IMPACTS: usize = 50;
/// Ratio of an interval to the last but one, below which the intervals count as shrinking.
const ZENO_RATIO: f64 = 0.98;
/// Largest interval of a Zeno sequence, as a fraction of the time to cross the table.
const ZENO_INTERVAL: f64 = 1e-10;

/// Impact of a penny with the wall of its table: time, rim point, and state after the impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Time of the impact, s.
    pub time: f64,
    /// Time since the previous impact, s.
    pub interval: f64,
    /// Rim point that hit the wall, front or back.
    pub rim: Rim,
    /// State just after the impact.
    pub state: PennyState,
    /// Rates of rolling and turning $(\Omega, \omega)$ just before the impact, rad/s.
    pub velocity_minus: [f64; 2],
    /// Position of the rim point at the impact, m.
    pub point: Vector2<f64>,
    /// Speed of the rim towards the wall before the impact, m/s.
    pub normal_velocity: f64,
    /// Minus the ratio of the time derivatives of the wall function after and before the impact.
    pub effective_restitution: f64,
    /// Change of kinetic energy in the impact, J; negative for a loss.
    pub energy_change_j: f64,
}
/// Orbit that is computed one impact at a time, without allocating.
#[derive(Clone, Debug)]
pub(crate) struct Orbit<'a, T> {
    billiard: &'a PennyBilliard<T>,
    place: Place,
    pub(super) impacts: usize,
    intervals: [f64; 2],
    locked: usize,
    shrinking: usize,
}

/// Present place of an orbit: the start, or a wall contact just after an impact.
#[derive(Clone, Copy, Debug)]
enum Place {
    Start(PennyState),
    Wall(Contact),
}
/// Result of one step of an orbit.
pub(crate) enum Step {
    Impact(Event),
    End(Ending<BilliardError>),
}
impl<T: Table> PennyBilliard<T> {
    /// Creates an orbit of the billiard that starts in the state `start`, before any impact.
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
}

impl<T: Table> Orbit<'_, T> {
    /// Advances the orbit to its next impact and returns that impact, or the ending of the orbit. The orbit is completed if the
    /// next impact is later than `duration` (s).
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
        // Uses the angle after rounding, so that the rim point of the stored state is on the wall after many turns, too.
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

    /// Returns the ending of the orbit if the intervals between impacts are zero or shrink to zero, else `None`. `time` (s) and
    /// `state` belong to the instant just after the latest impact, or to the start; `arrival` is the next impact.
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
            // Limit of two interleaved geometric series.
            let ratio = interval / last_but_one;
            let accumulation = time + (last * ratio + interval) / (1.0 - ratio);
            return Some(Ending::Zeno { accumulation });
        }
        None
    }
}

/// Returns the angle of the unit vector `heading` (rad). The multiple of a full turn is chosen so that the angle is nearest to
/// `near`.
fn unwrapped(heading: Vector2<f64>, near: f64) -> f64 {
    let angle = libm::atan2(heading.y, heading.x);
    angle + TAU * ((near - angle) / TAU).round()
}
