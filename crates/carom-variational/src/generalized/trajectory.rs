//! Stored runs.

use super::{CollisionIntegrator, Event, Impact, IntegratorError, Reaction, RunEnd, State};
use crate::TimeGrid;
use carom_mechanism::MechanicalSystem;

/// One entry of the log of a [`Trajectory`].
#[derive(Clone, Debug, PartialEq)]
pub enum LogEntry {
    /// Contacts hit.
    Impact(Box<Impact>),
    /// A contact that touches without approaching began to last.
    Established {
        /// Time (s).
        time: f64,
        /// Index of the contact.
        contact: usize,
    },
    /// A lasting contact opened.
    Released {
        /// Time (s).
        time: f64,
        /// Index of the contact.
        contact: usize,
    },
}

/// A run with all its states and events.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// States of the grid, from the start on.
    pub states: Vec<State>,
    /// Lasting contacts at each of these.
    pub reactions: Vec<Vec<Reaction>>,
    /// What happened, in its order.
    pub log: Vec<LogEntry>,
    /// How the run ended.
    pub end: RunEnd,
}

impl Trajectory {
    /// Runs an integrator and keeps everything, also of a run that stops on its way.
    ///
    /// # Errors
    ///
    /// Those of [`CollisionIntegrator::run`]: faults of the initial state only.
    pub fn record<S: MechanicalSystem + ?Sized>(
        integrator: &CollisionIntegrator<'_, S>,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
    ) -> Result<Self, IntegratorError> {
        let (mut states, mut reactions, mut log) = (Vec::new(), Vec::new(), Vec::new());
        let end = integrator.run(initial, grid, max_impacts, &mut |event| match event {
            Event::Grid {
                state,
                reactions: lasting,
                ..
            } => {
                states.push(state.clone());
                reactions.push(lasting.to_vec());
            }
            Event::Impact(impact) => log.push(LogEntry::Impact(Box::new(impact.clone()))),
            Event::Established { time, contact } => {
                log.push(LogEntry::Established { time, contact });
            }
            Event::Released { time, contact } => log.push(LogEntry::Released { time, contact }),
        })?;
        Ok(Self {
            states,
            reactions,
            log,
            end,
        })
    }

    /// The impacts in their order.
    pub fn impacts(&self) -> impl Iterator<Item = &Impact> {
        self.log.iter().filter_map(|entry| match entry {
            LogEntry::Impact(impact) => Some(impact.as_ref()),
            _ => None,
        })
    }
}
