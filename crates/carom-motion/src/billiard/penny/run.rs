//! Runs of the penny from impact to impact.

use super::orbit::{Event, Orbit, Step};
use super::{PennyBilliard, PennyState, RollingPenny};
use crate::billiard::{BilliardError, Table};
use crate::hybrid::{Ending, Hybrid, Limits, drive};

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
}
