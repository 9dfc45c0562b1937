//! Stored runs.

use super::{
    Balance, CollisionIntegrator, Event, ForceParameter, Grid, Impact, IntegratorError, Reaction,
    RunEnd, State,
};
use carom_derivative::sensitivity::Sensitivity;
use carom_mechanism::MechanicalSystem;
use carom_variational::TimeGrid;

/// Entry of the event log of a [`Trajectory`]: an impact, or the begin or end of a lasting contact.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LogEntry {
    /// An impact of one or several contacts.
    Impact(Box<Impact>),
    /// A contact that touches without approaching became a lasting contact.
    Established {
        /// Time of the event (s).
        time: f64,
        /// Index of the contact.
        contact: usize,
    },
    /// A lasting contact opened.
    Released {
        /// Time of the event (s).
        time: f64,
        /// Index of the contact.
        contact: usize,
    },
}

/// Stored run of a mechanical system: states at all grid times, and all impacts and contact events.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trajectory {
    /// States at the points of the time grid, from the start on.
    pub states: Vec<State>,
    /// Impulses of the lasting contacts in the step that ends at each grid point.
    pub reactions: Vec<Vec<Reaction>>,
    /// Energy balance at each grid point.
    pub balances: Vec<Balance>,
    /// Impacts and starts and ends of lasting contacts, in order of time.
    pub log: Vec<LogEntry>,
    /// End of the run.
    pub end: RunEnd,
}

impl Trajectory {
    /// Runs an integrator from an initial state over a time grid, and stores all states and events, also if the run stops
    /// early. The run ends after `max_impacts` impacts (`None`: no limit).
    ///
    /// # Errors
    ///
    /// The errors of [`CollisionIntegrator::run`]: those of the initial state.
    pub fn record<S: MechanicalSystem + ?Sized>(
        integrator: &CollisionIntegrator<'_, S>,
        initial: &State,
        grid: &TimeGrid,
        max_impacts: Option<usize>,
    ) -> Result<Self, IntegratorError> {
        Self::record_observed(integrator, initial, grid, max_impacts, &mut |_, _| ())
    }

    /// Runs an integrator and stores all states and events like [`record`](Self::record); also calls `observe` at every state
    /// and event, with its time (s) and the number of impacts so far.
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

    /// Runs an integrator and stores all states and events like [`record`](Self::record), and also returns the derivative of
    /// the final state with respect to the initial state and the given `parameters`, as in
    /// [`CollisionIntegrator::run_with_sensitivity`].
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

    /// Returns the impacts of this run, in order of time.
    pub fn impacts(&self) -> impl Iterator<Item = &Impact> {
        self.log.iter().filter_map(|entry| match entry {
            LogEntry::Impact(impact) => Some(impact.as_ref()),
            _ => None,
        })
    }
}

/// Trajectory under construction.
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
