//! Stored runs.

use super::{
    Balance, CollisionIntegrator, Event, ForceParameter, Grid, Impact, IntegratorError, Reaction,
    RunEnd, State,
};
use carom_derivative::sensitivity::Sensitivity;
use carom_mechanism::MechanicalSystem;
use carom_variational::TimeGrid;

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
    /// Energy balance at each of these.
    pub balances: Vec<Balance>,
    /// Events in their order.
    pub log: Vec<LogEntry>,
    /// Ending of the run.
    pub end: RunEnd,
}

impl Trajectory {
    /// Runs an integrator and keeps everything, also of a run that stops on its way.
    ///
    /// # Errors
    ///
    /// The errors of [`CollisionIntegrator::run`]: faults of the initial state only.
    pub fn record<S: MechanicalSystem + ?Sized>(
        integrator: &CollisionIntegrator<'_, S>,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
    ) -> Result<Self, IntegratorError> {
        Self::record_observed(integrator, initial, grid, max_impacts, &mut |_, _| ())
    }

    /// [`record`](Self::record), and tells `observe` the time (s) of every state and event, and the impacts so far.
    ///
    /// # Errors
    ///
    /// The errors of [`record`](Self::record).
    pub fn record_observed<S: MechanicalSystem + ?Sized>(
        integrator: &CollisionIntegrator<'_, S>,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
        observe: &mut dyn FnMut(f64, usize),
    ) -> Result<Self, IntegratorError> {
        let mut recorder = Recorder::default();
        let mut impacts = 0;
        let end = integrator.run(initial, grid, max_impacts, &mut |event: Event<'_>| {
            let time = match &event {
                Event::Sample(grid) => grid.state.time,
                Event::Impact(impact) => impact.time,
                Event::Established { time, .. }
                | Event::Mode { time, .. }
                | Event::Released { time, .. } => *time,
            };
            impacts += usize::from(matches!(event, Event::Impact(_)));
            recorder.note(event);
            observe(time, impacts);
        })?;
        Ok(recorder.trajectory(end))
    }

    /// Record with the derivative of the final state, as
    /// [`CollisionIntegrator::run_with_sensitivity`] gives it.
    ///
    /// # Errors
    ///
    /// The errors of [`record`](Self::record).
    pub fn record_with_sensitivity<S: MechanicalSystem + ?Sized>(
        integrator: &CollisionIntegrator<'_, S>,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
        parameters: &[ForceParameter<'_>],
    ) -> Result<(Self, Sensitivity), IntegratorError> {
        let mut recorder = Recorder::default();
        let (end, sensitivity) = integrator.run_with_sensitivity(
            initial,
            grid,
            max_impacts,
            parameters,
            &mut |event| recorder.note(event),
        )?;
        Ok((recorder.trajectory(end), sensitivity))
    }

    /// The impacts in their order.
    pub fn impacts(&self) -> impl Iterator<Item = &Impact> {
        self.log.iter().filter_map(|entry| match entry {
            LogEntry::Impact(impact) => Some(impact.as_ref()),
            _ => None,
        })
    }
}

/// A trajectory that is being recorded.
#[derive(Default)]
struct Recorder {
    states: Vec<State>,
    reactions: Vec<Vec<Reaction>>,
    balances: Vec<Balance>,
    log: Vec<LogEntry>,
}

impl Recorder {
    fn note(&mut self, event: Event<'_>) {
        match event {
            Event::Sample(Grid {
                state,
                reactions: lasting,
                balance,
                ..
            }) => {
                self.states.push(state.clone());
                self.balances.push(balance);
                self.reactions.push(lasting.to_vec());
            }
            Event::Impact(impact) => self.log.push(LogEntry::Impact(Box::new(impact.clone()))),
            Event::Established { time, contact } => {
                self.log.push(LogEntry::Established { time, contact });
            }
            Event::Released { time, contact } => {
                self.log.push(LogEntry::Released { time, contact });
            }
            Event::Mode { .. } => (),
        }
    }

    fn trajectory(self, end: RunEnd) -> Trajectory {
        Trajectory {
            states: self.states,
            reactions: self.reactions,
            balances: self.balances,
            log: self.log,
            end,
        }
    }
}
