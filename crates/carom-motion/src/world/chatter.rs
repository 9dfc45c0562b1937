//! Pairs that touch again and again within a step.
//!
//! While bodies roll, rock and slide against each other, contacts may open and close without end within
//! a time in which nothing moves. That is no accumulation of the impacts of one contact, whose times
//! shrink geometrically, but it would stop the motion all the same. A pair that touches too often
//! between two lines of the grid is *held*: it belongs to the step until the next line, as a contact
//! that pushes where it must and never pulls, and the step is not split any more. So every line of the
//! grid is reached with a bounded number of events. Impacts whose intervals shrink geometrically are not held:
//! they last from where they accumulate.

use crate::world::MotionError;
use crate::world::events::Event;
use crate::world::lasting::Lasting;
use crate::world::run::{EVENTS_PER_INSTANT, Run};
use crate::world::spec::OnZeno;
use crate::world::time::Time;
use crate::world::touch_count::TouchCount;

/// Touches of a pair between two lines of the grid, before it is held.
const MOST: usize = 24;

/// Limit for a contact that was held until the line before.
const MOST_AGAIN: usize = 2;

impl Run<'_, '_> {
    /// The line of the grid at or before a time.
    pub(crate) fn line(&self, time: Time) -> f64 {
        (time.high / self.world.time_step + 1e-6).floor()
    }

    /// True if a pair is held until the next line of the grid.
    pub(crate) fn is_held(&self, pair: (usize, usize), time: Time) -> bool {
        let of_pair = self.chatter.get(pair);
        of_pair.is_some_and(|c| c.held && c.line == self.line(time))
    }

    /// Largest distance that points of an island can come in a step that is not split (m); 0 if it can be split.
    pub(crate) fn reach(&self, bodies: &[usize], pairs: &[(usize, usize)], time: Time) -> f64 {
        if !pairs.iter().any(|pair| self.is_held(*pair, time)) {
            return 0.0;
        }
        let world = self.world;
        let speed = |i: &usize| {
            let (velocity, spin) = world.velocity(*i, &self.motions[*i].state);
            velocity.norm() + spin.norm() * world.bodies[*i].radius
        };
        let fastest = bodies.iter().map(speed).fold(0.0, f64::max);
        2.0 * world.time_step * (fastest + world.flights.gravity.norm() * world.time_step)
    }

    /// Counts a touch of a pair; whether there are too many of them.
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
            // A pair that restitutes comes to the end of its impacts, where the run ends.
            OnZeno::Stop => restitution > 0.0,
            OnZeno::Continue => true,
        };
        if never_held {
            let limit = EVENTS_PER_INSTANT;
            return match chatter.count > limit {
                true => Err(MotionError::EventLimit {
                    limit,
                    time: time.high,
                }),
                false => Ok(false),
            };
        }
        let most = if chatter.was_held { MOST_AGAIN } else { MOST };
        Ok(chatter.count > most)
    }

    /// Holds a pair from a time to the next line of the grid, and sets it and others going.
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
            (self.observe)(Event::Established {
                time: time.high,
                contact: pair,
            });
        }
        self.restart(&bodies, time)
    }
}
