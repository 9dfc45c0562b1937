//! State that a run remembers of its contacts and of its friction from event to event.

use super::contact::LimitContact;

/// An interval between impacts that shrinks by less than this does not accumulate.
const SHRINKING: f64 = 0.999;

/// Impacts of a pair that can be an accumulation.
const ACCUMULATING: usize = 4;

/// Impacts accumulate once what is left until then is this fraction of the time step.
const REST: f64 = 1e-6;

/// A pair, by its index, or a limit; a limit that closes at once where a step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Plastic {
    Pair(usize),
    Limit(LimitContact),
    Again(LimitContact),
}

/// Impacts without restitution since the last line of the grid.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlasticTouches {
    pub(super) last: f64,
    pub(super) count: usize,
}

impl PlasticTouches {
    /// Counts an impact; points of one pair are one.
    pub(super) fn note(&mut self, time: f64) {
        if self.count == 0 || self.last != time {
            (self.last, self.count) = (time, self.count + 1);
        }
    }
}

/// A pair that lasts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lasting {
    /// True if its begin has been reported: a pair that never presses is not.
    pub(super) reported: bool,
    /// Mode that was reported last.
    pub(super) slides: Option<bool>,
}

/// Impacts of a pair so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounces {
    /// Time of the latest (s).
    pub(super) last: f64,
    /// Interval before it (s); 0 without one.
    pub(super) interval: f64,
    /// Intervals in a row that shrank.
    pub(super) shrunk: usize,
    /// Time that is left until infinitely many have happened (s).
    pub(super) left: f64,
    /// Line of the grid before the latest, and impacts since then.
    pub(super) line: u64,
    pub(super) count: usize,
}

impl Bounces {
    pub(super) fn note(&mut self, time: f64, line: u64) {
        if self.line != line {
            (self.line, self.count) = (line, 0);
        }
        self.count += 1;
        let interval = time - self.last;
        let shrinks = self.interval > 0.0 && interval < SHRINKING * self.interval;
        self.shrunk = if shrinks { self.shrunk + 1 } else { 0 };
        if shrinks {
            self.left = interval * interval / (self.interval - interval);
        }
        self.interval = if self.last > 0.0 { interval } else { 0.0 };
        self.last = time;
    }

    pub(super) fn accumulates(&self, time_step: f64) -> bool {
        self.shrunk + 1 >= ACCUMULATING && self.left <= REST * time_step
    }
}

/// Impacts that crowd.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crowding {
    /// Slow impacts since the last line of the grid.
    pub(super) impacts: usize,
    /// Line of the grid until which slow contacts are left to the steps; none if they are not.
    pub(super) until: Option<u64>,
    /// Lines for which they were the last time, and the line at which that ended.
    pub(super) lines: u64,
    pub(super) ended: u64,
}

/// Implicit friction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rubbing {
    /// Stops and slips since the last line of the grid.
    pub(super) turns: usize,
    /// Line of the grid at which friction is not implicit any more; none if it is not.
    pub(super) until: Option<u64>,
    /// Lines for which it was implicit the last time, and the line at which that ended.
    pub(super) lines: u64,
    pub(super) ended: u64,
}
