//! Pairs that touch again and again within a step.
//!
//! While bodies roll, rock and slide against each other, contacts may open and close without end within a time in which no body
//! moves visibly. The intervals do not shrink geometrically, so this is no accumulation of the impacts of one contact (a Zeno
//! point), but it would stop the simulation as well. A pair that touches too often within one interval of the time grid is
//! *held*: until the next grid time it is a lasting contact, which pushes where necessary and never pulls, and the step is not
//! split any more. Every grid time is therefore reached with a bounded number of events. Pairs whose impacts have geometrically
//! shrinking intervals are not held: they become lasting contacts at the accumulation point.

use crate::MotionError;
use crate::events::WorldEvent;
use crate::lasting::Lasting;
use crate::pair_table::Pair;
use crate::run::{EVENTS_PER_INSTANT, Run};
use crate::spec::OnZeno;
use crate::touch_count::TouchCount;
use carom_numeric::time::Time;

/// Largest number of contacts of a pair within one interval of the time grid, before the pair is held.
const MOST: usize = 24;

/// Largest number for a pair that was held in the interval before.
const MOST_AGAIN: usize = 2;

impl Run<'_> {
    /// Returns the number of the latest grid time (multiple of the time step) at or before `time`, counted from 0.
    pub(crate) fn line(&self, time: Time) -> f64 {
        (time.high / self.world.time_step + 1e-6).floor()
    }

    /// Returns true if a pair, because it touched too often, is kept as a lasting contact until the next grid time (multiple of
    /// the time step).
    pub(crate) fn is_held(&self, pair: (usize, usize), time: Time) -> bool {
        let of_pair = self.chatter.get(pair);
        of_pair.is_some_and(|c| c.held && c.line == self.line(time))
    }

    /// Returns an upper bound of the distance (m) by which points of the bodies can approach each other in a step of `length` (s)
    /// that is not split at contact events. Returns 0 if no pair is held, because the step can then be split. A held pair is kept
    /// as a lasting contact until the next grid time (multiple of the time step).
    pub(crate) fn reach(&self, bodies: &[usize], pairs: &[Pair], time: Time, length: f64) -> f64 {
        if !pairs.iter().any(|pair| self.is_held(*pair, time)) {
            return 0.0;
        }
        let world = self.world;
        let speed = |i: &usize| {
            let (velocity, spin) = world.velocity(*i, &self.motions[*i].state);
            velocity.norm() + spin.norm() * world.bodies[*i].radius
        };
        let fastest = bodies.iter().map(speed).fold(0.0, f64::max);
        let pulls = bodies
            .iter()
            .map(|i| world.flights.pull(&world.bodies[*i]).norm());
        2.0 * length * (fastest + pulls.fold(0.0, f64::max) * length)
    }

    /// Counts a new contact of a pair within the current interval of the time grid. Returns true if there were too
    /// many, so that the pair must be kept as a lasting contact until the next grid time (multiple of the time step).
    /// If that is not allowed, such as for a restitution of 1, too many contacts are an error.
    pub(crate) fn chatters(
        &mut self,
        pair: (usize, usize),
        time: Time,
    ) -> Result<bool, MotionError> {
        let line = self.line(time);
        let mut chatter = self.chatter.get(pair).copied().unwrap_or_default();
        if chatter.line != line {
            chatter = TouchCount {
                line,
                was_held: chatter.held && chatter.line + 1.0 == line,
                ..TouchCount::default()
            };
        }
        chatter.count += 1;
        self.chatter
            .insert(pair, chatter, |_, other| other.line + 1.0 < line);
        let restitution = self.world.surface(pair.0, pair.1).restitution;
        let never_held = match self.laws.on_zeno {
            OnZeno::Rest => restitution == 1.0 || self.shrinks(pair, time),
            // The impacts of a pair with restitution come to an accumulation point, where the run ends.
            OnZeno::Stop => restitution > 0.0,
            OnZeno::Continue => true,
        };
        if never_held {
            let limit = EVENTS_PER_INSTANT;
            return if chatter.count > limit {
                Err(MotionError::EventLimit {
                    limit,
                    time: time.high,
                })
            } else {
                Ok(false)
            };
        }
        let most = if chatter.was_held { MOST_AGAIN } else { MOST };
        Ok(chatter.count > most)
    }

    /// Keeps the lasting contacts `pairs` until the next grid time: their steps are no longer split at contact events.
    pub(crate) fn hold_lasting(&mut self, pairs: &[Pair], time: Time) {
        let line = self.line(time);
        for pair in pairs {
            let mut chatter = self.chatter.get(*pair).copied().unwrap_or_default();
            (chatter.line, chatter.held) = (line, true);
            self.chatter
                .insert(*pair, chatter, |_, other| other.line + 1.0 < line);
        }
    }

    /// Turns a pair into a lasting contact from `time` until the next grid time (multiple of the time step). The motion
    /// of its two bodies and of `bodies` is then computed anew from `time` on.
    pub(crate) fn hold(
        &mut self,
        pair: (usize, usize),
        mut bodies: Vec<usize>,
        time: Time,
    ) -> Result<(), MotionError> {
        for thing in [pair.0, pair.1] {
            if self.world.is_mobile(thing) && !bodies.contains(&thing) {
                self.gather(thing, time, &mut bodies)?;
            }
        }
        if let Some(chatter) = self.chatter.get_mut(pair) {
            chatter.held = true;
        }
        if !self.lasting.contains(pair) {
            self.lasting.insert(pair, Lasting::default());
            self.events.push(WorldEvent::Established {
                time: time.high,
                contact: pair,
            });
        }
        self.restart(&bodies, time)
    }
}
