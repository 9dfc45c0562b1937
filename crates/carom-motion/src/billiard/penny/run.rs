//! Runs of the penny from impact to impact.

use super::orbit::{Event, Orbit, Step};
use super::{PennyBilliard, PennyState, RollingPenny};
use crate::billiard::{BilliardError, Table, error};
use crate::hybrid::{Ending, Hybrid, Limits, drive};

/// Stored orbit of a penny on a table: initial state, impacts, and reason of the end.
#[must_use = "the reason for the end may be an error"]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// State at the start.
    pub start: PennyState,
    /// Impacts in order of time.
    pub events: Vec<Event>,
    /// Reason for the end of the run.
    pub ending: Ending<BilliardError>,
    /// Time of the end, s: the time limit, or the time of the last impact.
    pub time: f64,
}

impl Run {
    /// Returns the state of the penny at a time (s), computed in closed form from the last impact before it. For times before
    /// the start and after the end the motion is extended without impacts.
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

    /// Returns the state of the penny at the end of this orbit.
    pub fn final_state(&self, penny: &RollingPenny) -> PennyState {
        self.state_at(penny, self.time)
    }
}
/// Orbit in progress, with the function that receives its impacts.
struct Course<'a, T, V> {
    orbit: Orbit<'a, T>,
    /// Time of the latest impact (s), or of the end when it is known.
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
                // An orbit that never hits again continues to the requested time.
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
    /// Computes the orbit of the penny from a state until one of the `limits` (time, number of impacts) is reached, and
    /// stores all impacts.
    ///
    /// # Errors
    ///
    /// [`BilliardError::InvalidDuration`], [`BilliardError::NonFinite`] and [`BilliardError::PenetratingStart`]. A later error,
    /// such as [`BilliardError::InfeasibleLaw`], ends the orbit with [`Ending::Stopped`].
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

    /// Computes the orbit of the penny like [`run`](Self::run), and passes each impact to `visit` instead of storing it;
    /// allocates no memory. Returns the reason for which the orbit ended, and the time of the end (s).
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
        error::duration(limits.duration)?;
        let mut course = Course {
            orbit: self.orbit(start)?,
            time: 0.0,
            visit,
        };
        let ending = drive(&mut course, &limits);
        Ok((ending, course.time))
    }
}
