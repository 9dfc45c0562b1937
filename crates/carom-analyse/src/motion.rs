//! Motions through events.

use crate::flow::{EventKind, Flow, Level, Mode, Transition};
use crate::integrate::Integrator;
use crate::scan::{Crossing, Scan};
use crate::{AnalyseError, Settings};
use nalgebra::DVector;
use std::fmt;

/// Place at which returns are counted.
#[derive(Clone)]
#[non_exhaustive]
pub enum Section {
    /// Times `phase`, `phase + period`, ... (s).
    Every {
        /// First time (s).
        phase: f64,
        /// Distance of the times (s).
        period: f64,
    },
    /// Just after an impact, or a closing, at one of these contacts.
    Events(Vec<usize>),
    /// Zero of a function of the state through which it falls.
    Falls(Level),
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every { phase, period } => write!(f, "Every({phase}, {period})"),
            Self::Events(list) => write!(f, "Events({list:?})"),
            Self::Falls(_) => f.write_str("Falls"),
        }
    }
}

impl Section {
    /// Section just after events at these contacts.
    pub fn events(contacts: Vec<usize>) -> Self {
        Self::Events(contacts)
    }

    /// Section at the times `phase + k period` (s).
    pub fn every(phase: f64, period: f64) -> Self {
        Self::Every { phase, period }
    }

    /// Returns the first time of a strobe after `time` (s); `None` for other sections.
    fn strobe(&self, time: f64) -> Option<f64> {
        match self {
            Self::Every { phase, period } => {
                // A start within rounding of a strobe has had it.
                let near = time + period * f64::EPSILON.sqrt();
                let k = ((near - phase) / period).floor() + 1.0;
                Some(phase + k * period)
            }
            _ => None,
        }
    }

    /// True if a transition is a return.
    pub(crate) fn is_return(&self, transition: &Transition) -> bool {
        match self {
            Self::Events(contacts) => transition.happenings.iter().any(|happening| {
                let strikes = matches!(happening.kind, EventKind::Impact | EventKind::Closes);
                strikes && contacts.contains(&happening.contact)
            }),
            _ => false,
        }
    }
}

/// State of a motion.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Motion {
    /// Time (s).
    pub time: f64,
    /// State.
    pub state: DVector<f64>,
    /// Mode.
    pub mode: Mode,
}

/// End of a segment between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A guard of the mode falls through zero.
    Guard(usize),
    /// Time of a strobe.
    Strobe,
    /// The function of the section falls through zero.
    Level,
}

/// Part of a motion in one mode, up to an event or the section.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    /// Mode before the end.
    pub(crate) mode: Mode,
    /// Duration (s).
    pub(crate) duration: f64,
    pub(crate) end: End,
    /// Consequence of the event; `None` at a strobe or a level.
    pub(crate) transition: Option<Transition>,
    /// True if the section is reached at the end.
    pub(crate) returns: bool,
}

impl Motion {
    /// Starts a motion at a time (s) in a state; the flow decides on the mode.
    ///
    /// # Errors
    ///
    /// Errors of [`Flow::start`].
    pub fn start(flow: &dyn Flow, time: f64, state: &[f64]) -> Result<Self, AnalyseError> {
        Ok(Self {
            time,
            state: DVector::from_column_slice(state),
            mode: flow.start(time, state)?,
        })
    }

    /// Follows the motion for a number of returns to the section.
    ///
    /// # Errors
    ///
    /// [`AnalyseError::Stopped`], [`AnalyseError::Accumulation`], and errors of the flow.
    pub fn follow(
        &mut self,
        flow: &dyn Flow,
        section: &Section,
        returns: usize,
        settings: &Settings,
    ) -> Result<(), AnalyseError> {
        self.returns(flow, section, returns, settings).map(|_| ())
    }

    /// Follows the motion to the next event that changes it, or the section. Returns the segment.
    pub(crate) fn segment(
        &mut self,
        flow: &dyn Flow,
        section: &Section,
        settings: &Settings,
    ) -> Result<Segment, AnalyseError> {
        let from = self.time;
        let mode = self.mode.clone();
        for _ in 0..settings.events {
            let end = self.fly(flow, section, settings)?;
            let End::Guard(guard) = end else {
                return Ok(Segment {
                    mode,
                    duration: self.time - from,
                    end,
                    transition: None,
                    returns: true,
                });
            };
            let before = self.mode.clone();
            let transition = flow.transition(&before, guard, self.time, self.state.as_slice())?;
            if !transition.reset.is_empty() {
                let jump =
                    flow.jump(&before, &transition.reset, self.time, self.state.as_slice())?;
                self.state = jump.state;
            }
            self.mode.clone_from(&transition.mode);
            if transition.happenings.is_empty() {
                // The mode's bookkeeping changes, the motion does not.
                continue;
            }
            // A guard of the mode at the end: the contacts that are armed by then may be others than at the start.
            let returns = section.is_return(&transition);
            return Ok(Segment {
                mode: before,
                duration: self.time - from,
                end,
                transition: Some(transition),
                returns,
            });
        }
        Err(AnalyseError::stopped(
            self.time,
            "contacts are armed and disarmed without end",
        ))
    }

    /// Flies on in the present mode until a guard falls through zero, or to the section.
    fn fly(
        &mut self,
        flow: &dyn Flow,
        section: &Section,
        settings: &Settings,
    ) -> Result<End, AnalyseError> {
        let strobe = section.strobe(self.time);
        let level = match section {
            Section::Falls(level) => Some(level),
            _ => None,
        };
        let mode = self.mode.clone();
        let mut scan = Scan::new(
            flow,
            &mode,
            level,
            settings,
            self.time,
            self.state.as_slice(),
        )?;
        let mut integrator = Integrator::new(flow, &mode, false, settings);
        let mut y = integrator.begin(self.state.as_slice());
        let mut length = strobe.map_or(1.0, |end| end - self.time);
        for _ in 0..settings.steps {
            let mut whole = length;
            if let Some(end) = strobe {
                whole = whole.min(end - self.time);
            }
            let (step, taken, next) = integrator.advance(self.time, &y, whole)?;
            match scan.first(&mut integrator, self.time, &y, taken, &step)? {
                Crossing::None => (),
                Crossing::Shorter(shorter) => {
                    length = shorter;
                    continue;
                }
                Crossing::At { length, guard } => {
                    let end = integrator.step(self.time, &y, length)?.end;
                    self.time += length;
                    self.state.copy_from_slice(&end);
                    return Ok(if guard < scan.n_guards() {
                        End::Guard(guard)
                    } else {
                        End::Level
                    });
                }
            }
            y = step.end;
            let reached = strobe.filter(|end| taken >= end - self.time);
            self.time = reached.unwrap_or(self.time + taken);
            self.state.copy_from_slice(&y);
            if reached.is_some() {
                return Ok(End::Strobe);
            }
            length = next;
        }
        Err(AnalyseError::stopped(
            self.time,
            "no event and no section is reached",
        ))
    }

    /// Follows the motion for a number of returns. Returns its segments.
    pub(crate) fn returns(
        &mut self,
        flow: &dyn Flow,
        section: &Section,
        returns: usize,
        settings: &Settings,
    ) -> Result<Vec<Segment>, AnalyseError> {
        let mut out: Vec<Segment> = Vec::new();
        for _ in 0..returns {
            let first = out.len();
            loop {
                let segment = self.segment(flow, section, settings)?;
                let done = segment.returns;
                out.push(segment);
                if done {
                    break;
                }
                if out.len() - first > settings.events {
                    return Err(AnalyseError::Accumulation { time: self.time });
                }
            }
        }
        Ok(out)
    }
}
