//! History of contacts and of friction that a run keeps between events.

use super::contact::LimitContact;
use super::pressing::PairStep;
use crate::accumulation::{ACCUMULATING, REST, SHRINKING};
use carom_joints::step::{Modes, Step};
use std::collections::BTreeMap;

/// Key of a count of impacts without restitution: a pair by its index, a limit, or (`Again`) a limit that closes at the start of
/// a step just after it opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Plastic {
    Pair(usize),
    Limit(LimitContact),
    Again(LimitContact),
}

/// Impacts without restitution since the last grid time.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PlasticTouches {
    pub(super) last: f64,
    pub(super) count: usize,
}

impl PlasticTouches {
    /// Counts an impact at `time` (s) that has no restitution. Several points of one pair of bodies at one time count once.
    pub(super) fn note(&mut self, time: f64) {
        if self.count == 0 || self.last != time {
            (self.last, self.count) = (time, self.count + 1);
        }
    }
}

/// State of a pair in lasting contact.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Lasting {
    /// True if the begin of the contact has been reported; a pair that never presses is not reported.
    pub(super) reported: bool,
    /// Mode that was reported last: sliding (true) or sticking (false).
    pub(super) slides: Option<bool>,
}

/// Impacts so far of a pair or limit.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Bounces {
    /// Time of the latest impact (s); `None` before the first impact.
    pub(super) last: Option<f64>,
    /// Interval before the latest impact (s); 0 for the first impact.
    pub(super) interval: f64,
    /// Number of successive intervals that shrank.
    pub(super) shrunk: usize,
    /// Estimated time from the latest impact to the accumulation point (s).
    pub(super) left: f64,
    /// Number of grid times passed at the latest impact, and number of impacts since that grid time.
    pub(super) line: u64,
    pub(super) count: usize,
}

impl Bounces {
    pub(super) fn note(&mut self, time: f64, line: u64) {
        if self.line != line {
            (self.line, self.count) = (line, 0);
        }
        self.count += 1;
        let interval = self.last.map_or(0.0, |last| time - last);
        let shrinks = self.interval > 0.0 && interval < SHRINKING * self.interval;
        self.shrunk = if shrinks { self.shrunk + 1 } else { 0 };
        if shrinks {
            self.left = interval * interval / (self.interval - interval);
        }
        self.interval = interval;
        self.last = Some(time);
    }

    pub(super) fn accumulates(&self, time_step: f64) -> bool {
        self.shrunk + 1 >= ACCUMULATING && self.left <= REST * time_step
    }
}

/// Crowded impacts, which time stepping takes over.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Crowding {
    /// Number of slow impacts since the last grid time.
    pub(super) impacts: usize,
    /// Index of the grid time until which time stepping handles slow contacts; `None` if every contact is an event.
    pub(super) until: Option<u64>,
    /// Number of grid intervals of the latest such period, and index of the grid time at which the latest period ended.
    pub(super) lines: u64,
    pub(super) ended: u64,
}

/// Periods of implicit dry friction.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Rubbing {
    /// Number of stops and slips since the last grid time.
    pub(super) turns: usize,
    /// Index of the grid time at which implicit friction ends; `None` if friction is not implicit.
    pub(super) until: Option<u64>,
    /// Number of grid intervals of the latest period of implicit friction, and index of the grid time at which the latest period
    /// ended.
    pub(super) lines: u64,
    pub(super) ended: u64,
}

/// Step of articulations that rest, with all that the equations of the step depend on besides the posture.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Resting {
    /// The step; `None` if the articulations do not rest.
    pub(super) step: Option<Step>,
    /// Length of the step (s).
    pub(super) length: f64,
    /// Modes of the coordinates, and forces of the caller.
    pub(super) modes: Modes,
    /// Lasting pairs, with the distance within which their points count as contacts (m).
    pub(super) pairs: Vec<(usize, f64)>,
    /// Forces of all actuators at the start and at the end of the step (N or N m).
    pub(super) drives: Vec<[f64; 2]>,
    /// Results of the contacts, by pair.
    pub(super) results: BTreeMap<usize, PairStep>,
}
