//! Course of a run: event-driven integration, time stepping, or the one after the other.
//!
//! A run goes from sample to sample, and a session from call to call, through this one loop. Looking at a time changes nothing: the
//! schedulers keep the step or the flight within which the time lies.

use crate::events::{Event, HandedOver, RunEnd, Sample, WorldEvent};
use crate::force::Shown;
use crate::handover::{MOST_IMPACTS, Relay, reason};
use crate::pair_table::Pair;
use crate::run::{EventRun, Run};
use crate::spec::{Laws, World};
use crate::stepping::{Executor, Serial, StepRun, StepRunOf, Stepping};
use crate::{Input, MotionError, SessionError, limits};
use carom_motion::hybrid::{Ending, Limits};
use carom_numeric::time::Time;
use carom_variational::State;

/// World of a run with its laws, options and limits. A run without laws is stepped in time; one with both hands over.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'w> {
    pub(crate) world: &'w World,
    pub(crate) laws: Option<&'w Laws<'w>>,
    pub(crate) steps: Option<(&'w Stepping, &'w dyn Executor)>,
    pub(crate) limits: &'w Limits,
}

/// Scheduler of a run: `W` is the world, `L` the laws, `X` the executor.
#[derive(Clone, Debug)]
enum Scheduler<W, L, X> {
    Events(Box<EventRun<W, L>>),
    Steps(Box<StepRunOf<W, X>>),
}

/// Run between two calls of a session.
#[derive(Clone, Debug)]
pub struct Paused {
    scheduler: Scheduler<(), (), ()>,
    progress: Progress,
}

/// Paused run as it is stored: that of an event-driven run with the entries of its queue.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) enum Saved<E, S> {
    Events(E, Vec<crate::events::Entry>, Progress),
    Steps(S, Progress),
}

#[cfg(feature = "serde")]
impl Paused {
    /// Returns the bytes of the run.
    pub(crate) fn save(&self) -> Vec<u8> {
        let progress = self.progress.clone();
        carom_numeric::bytes::encode(&match &self.scheduler {
            Scheduler::Events(run) => Saved::Events(&**run, run.entries(), progress),
            Scheduler::Steps(run) => Saved::Steps(run.saved(), progress),
        })
    }

    /// True if no event is left before the time of the run, and a run by time stepping is at its line of the grid.
    fn is_timely(&self, step: f64) -> bool {
        let Progress { time, ended, .. } = &self.progress;
        let is_next = match &self.scheduler {
            Scheduler::Events(run) => {
                let entries = run.entries();
                run.ended.is_some() || entries.iter().all(|next| next.time.high >= *time)
            }
            Scheduler::Steps(run) => run.is_at_line(*time, step),
        };
        time.is_finite() && (ended.is_some() || is_next)
    }

    /// Reads a run, which may take `memory` (bytes). `None` if it is no run of this world.
    pub(crate) fn load(setting: &Setting<'_>, bytes: &[u8], memory: usize) -> Option<Self> {
        type Read = Saved<EventRun<(), ()>, crate::stepping::SavedSteps>;
        let saved: Read = carom_numeric::bytes::decode(bytes, memory).ok()?;
        let (scheduler, progress) = match saved {
            Saved::Events(run, entries, progress) => {
                let run = run.complete(setting, entries)?;
                (Scheduler::Events(Box::new(run)), progress)
            }
            Saved::Steps(run, progress) => {
                let run = run.complete(setting)?;
                (Scheduler::Steps(Box::new(run)), progress)
            }
        };
        let paused = Self {
            scheduler,
            progress,
        };
        paused.is_timely(setting.world.time_step).then_some(paused)
    }
}

impl Paused {
    /// Returns the progress of the run.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns the lasting contacts, each with true if it slides.
    pub(crate) fn contacts(&self) -> Vec<(Pair, bool)> {
        match &self.scheduler {
            Scheduler::Events(run) => run.lasting.all().collect(),
            Scheduler::Steps(run) => run.contacts(),
        }
    }
}

/// Progress of a run: its time, and how it ended.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Progress {
    /// Time up to which all events are handled (s).
    pub(crate) time: f64,
    /// Reason for the end; `None` while the run can go on.
    #[cfg_attr(feature = "serde", serde(with = "crate::saved::ending"))]
    pub(crate) ended: Option<Ending<MotionError>>,
    handed_over: Option<HandedOver>,
}

/// Run in progress.
#[derive(Clone)]
pub(crate) struct Course<'w> {
    setting: Setting<'w>,
    scheduler: Scheduler<&'w World, &'w Laws<'w>, &'w dyn Executor>,
    pub(crate) progress: Progress,
}

impl<'w> Course<'w> {
    /// Creates a run at its start.
    fn new(setting: Setting<'w>) -> Self {
        let (world, steps) = (setting.world, setting.steps);
        let scheduler = match setting.laws {
            Some(laws) => {
                let mut run = Run::new(world, laws, setting.limits);
                run.crowd_limit = steps.map(|_| MOST_IMPACTS);
                Scheduler::Events(Box::new(run))
            }
            None => {
                let none = (&Stepping::default(), &Serial as &dyn Executor);
                let (stepping, executor) = steps.unwrap_or(none);
                let run = StepRun::new(world, Relay::of_start(world), stepping, executor);
                Scheduler::Steps(Box::new(run))
            }
        };
        Self {
            setting,
            scheduler,
            progress: Progress::default(),
        }
    }

    /// Starts a run: handles the contacts at the start.
    pub(crate) fn start(setting: Setting<'w>) -> Self {
        let mut course = Self::new(setting);
        if !course.is_over() {
            let begun = match &mut course.scheduler {
                Scheduler::Events(run) => run.begin(),
                Scheduler::Steps(run) => run.begin(),
            };
            course.note(begun);
        }
        course
    }

    /// Returns the run without its world, laws and executor.
    pub(crate) fn pause(self) -> Paused {
        Paused {
            scheduler: match self.scheduler {
                Scheduler::Events(run) => Scheduler::Events(Box::new(run.with((), ()))),
                Scheduler::Steps(run) => Scheduler::Steps(Box::new(run.with((), ()))),
            },
            progress: self.progress,
        }
    }

    /// Continues a run; `setting` is that of its start. Returns `None` if it lacks what the scheduler needs.
    pub(crate) fn resume(setting: Setting<'w>, paused: Paused) -> Option<Self> {
        let world = setting.world;
        let scheduler = match paused.scheduler {
            Scheduler::Events(run) => Scheduler::Events(Box::new(run.with(world, setting.laws?))),
            Scheduler::Steps(run) => Scheduler::Steps(Box::new(run.with(world, setting.steps?.1))),
        };
        Some(Self {
            setting,
            scheduler,
            progress: paused.progress,
        })
    }

    /// Returns the events that are not reported yet.
    pub(crate) fn events(&mut self) -> &mut Vec<WorldEvent> {
        match &mut self.scheduler {
            Scheduler::Events(run) => &mut run.events,
            Scheduler::Steps(run) => &mut run.events,
        }
    }

    /// Handles all events up to the time `until` (s), or one event if `one`. Nothing happens after the end of the run.
    pub(crate) fn advance(&mut self, until: f64, one: bool) {
        while self.progress.ended.is_none() && (!one || self.events().is_empty()) {
            if let Some(end) = self.decided() {
                self.progress.time = self.progress.time.max(end.min(until));
                if let (Scheduler::Events(run), true) = (&mut self.scheduler, end <= until) {
                    self.progress.ended = run.ended.take();
                }
                return;
            }
            if self.is_over() {
                return;
            }
            if until == f64::INFINITY
                && let Some(ending) = self.stays()
            {
                self.progress.ended = Some(ending);
                return;
            }
            let before = self.now();
            let proceeded = match &mut self.scheduler {
                Scheduler::Events(run) => run.proceed(until),
                Scheduler::Steps(run) => run.proceed(until),
            };
            if matches!(proceeded, Ok(false)) {
                self.progress.time = self.progress.time.max(until);
                return;
            }
            self.note(proceeded.map(|_| ()));
            if self.now() > before {
                self.progress.time = self.progress.time.max(self.now().min(until));
            }
        }
    }

    /// Applies an input at the present time. A refusal changes nothing.
    pub(crate) fn input(&mut self, input: &Input) -> Result<(), SessionError> {
        let (world, time) = (self.setting.world, self.progress.time);
        input.check(world.n_bodies(), 0)?;
        if let Input::State { .. } = input {
            let (shown, _) = self.show(time)?;
            let bodies = world.bodies.iter().zip(&shown).enumerate();
            let states: Vec<State> = bodies
                .map(|(i, (body, state))| input.changed(i, body, state))
                .collect();
            world.check_start(&states, time)?;
        }
        self.progress.ended = None;
        if *input == Input::Cut {
            return Ok(());
        }
        let went = match &mut self.scheduler {
            Scheduler::Events(run) => run.input(input, time),
            Scheduler::Steps(run) => run.input(input, time),
        };
        self.note_input(went)
    }

    /// Ends (`begins` false) or begins the force that a caller holds on a body.
    pub(crate) fn hold(&mut self, body: usize, begins: bool) -> Result<(), SessionError> {
        let time = self.progress.time;
        if !self.setting.world.is_mobile(body) {
            return Ok(());
        }
        let went = match &mut self.scheduler {
            Scheduler::Events(run) => run.apply_held(body, begins, time),
            Scheduler::Steps(run) => run.apply_held(body, begins, time),
        };
        self.note_input(went)
    }

    fn note_input(&mut self, went: Result<(), MotionError>) -> Result<(), SessionError> {
        self.note(went);
        match &self.progress.ended {
            Some(Ending::Stopped(error)) => Err(error.clone().into()),
            _ => Ok(()),
        }
    }

    /// Notes how a part of the run went. After an error time stepping continues where it can.
    fn note(&mut self, went: Result<(), MotionError>) {
        if let Err(error) = went
            && !self.hands_over(&error)
        {
            if let Scheduler::Events(run) = &mut self.scheduler {
                run.stop();
            }
            self.progress.ended = Some(Ending::Stopped(error));
            self.progress.time = self.now();
        }
    }

    /// Returns the time at which the run is to end (s), if that is decided.
    fn decided(&self) -> Option<f64> {
        match &self.scheduler {
            Scheduler::Events(run) if run.ended.is_some() => Some(run.now.high),
            _ => None,
        }
    }

    /// Switches to time stepping after an error of event-driven integration. Returns false if the run cannot go on.
    fn hands_over(&mut self, error: &MotionError) -> bool {
        let (Scheduler::Events(run), Some((stepping, executor))) =
            (&mut self.scheduler, self.setting.steps)
        else {
            return false;
        };
        let Some(relay) = run.relay(error) else {
            return false;
        };
        self.progress.handed_over = Some(HandedOver {
            time: relay.time,
            kind: reason(error).into(),
            message: error.to_string(),
        });
        let mut run = StepRun::new(self.setting.world, relay, stepping, executor);
        let begun = run.begin();
        self.scheduler = Scheduler::Steps(Box::new(run));
        self.note(begun);
        true
    }

    /// Returns true if the run has ended, in particular by its number of impacts.
    fn is_over(&mut self) -> bool {
        let n_impacts = match &self.scheduler {
            Scheduler::Events(run) => run.n_impacts,
            Scheduler::Steps(run) => run.n_impacts,
        };
        if self.progress.ended.is_none() && n_impacts >= self.setting.limits.impacts {
            self.progress.ended = Some(Ending::MaxImpacts);
            self.progress.time = self.now();
        }
        self.progress.ended.is_some()
    }

    /// Returns the time of the latest event or step (s).
    fn now(&self) -> f64 {
        match &self.scheduler {
            Scheduler::Events(run) => run.now.high,
            Scheduler::Steps(run) => run.time,
        }
    }

    /// Returns the reason for which a run without a duration is over, if it is.
    fn stays(&self) -> Option<Ending<MotionError>> {
        match &self.scheduler {
            Scheduler::Events(run) => run.stays(),
            Scheduler::Steps(run) => run.is_at_rest().then_some(Ending::AtRest),
        }
    }

    /// Returns the states of all bodies and the forces of contacts at `time` (s), up to which all events are handled. The run does not
    /// change.
    pub(crate) fn show(&mut self, time: f64) -> Result<Shown, MotionError> {
        match &mut self.scheduler {
            Scheduler::Events(run) => run.show(time),
            Scheduler::Steps(run) => run.show(time),
        }
    }

    /// Ends the run at its present time.
    pub(crate) fn finish(&mut self) -> RunEnd {
        let Progress {
            time,
            ended,
            handed_over,
        } = self.progress.clone();
        let ending = ended.unwrap_or(Ending::Completed);
        let mut end = match &mut self.scheduler {
            Scheduler::Events(run) => {
                let time = match ending {
                    Ending::Completed => Time::new(time),
                    _ => run.now,
                };
                run.finish(time, ending)
            }
            Scheduler::Steps(run) => run.finish(time, ending),
        };
        if let (Some(counts), Some(_)) = (&mut end.stepping, &handed_over) {
            counts.handed_over = 1;
        }
        end.handed_over = handed_over;
        end
    }

    /// Handles all events up to the time `until` (s), and reports each.
    fn go(&mut self, until: f64, observe: &mut dyn FnMut(Event<'_>)) {
        loop {
            self.advance(until, true);
            if self.events().is_empty() {
                return;
            }
            self.report(observe);
        }
    }

    /// Reports the events that are not reported yet.
    fn report(&mut self, observe: &mut dyn FnMut(Event<'_>)) {
        let mut events = std::mem::take(self.events());
        for event in events.drain(..) {
            observe(event.view());
            if let (Scheduler::Events(run), WorldEvent::Impact(impact)) =
                (&mut self.scheduler, event)
            {
                // The next impact uses its memory.
                run.scratch.impact = Some(impact);
            }
        }
        *self.events() = events;
    }
}

impl Setting<'_> {
    /// Runs from the start to the end of the limits. Reports the states at the times `samples` (s, ascending) and all events to
    /// `observe`.
    fn run(&self, samples: &[f64], observe: &mut dyn FnMut(Event<'_>)) -> RunEnd {
        if let Err(error) = limits::check(self.limits, samples.iter().copied()) {
            let mut course = Course::new(*self);
            course.progress.ended = Some(Ending::Stopped(error));
            return course.finish();
        }
        let mut course = Course::start(*self);
        let within = samples.iter().take_while(|t| **t <= self.limits.duration);
        for &time in within {
            course.go(time, observe);
            let is_reached = match course.progress.ended {
                None => true,
                Some(Ending::Stopped(_)) => false,
                Some(_) => time <= course.progress.time,
            };
            if !is_reached {
                break;
            }
            match course.show(time) {
                Ok((states, contacts)) => {
                    observe(Event::Sample(Sample::new(time, &states, &contacts)));
                }
                Err(error) => course.progress.ended = Some(Ending::Stopped(error)),
            }
        }
        course.go(self.limits.duration, observe);
        let end = course.finish();
        course.report(observe);
        end
    }
}

impl World {
    /// Simulates the world by event-driven integration, from the initial state until one of the `limits` (time, number of
    /// impacts) is reached.
    ///
    /// Reports the states at the times `samples` (s, ascending) and every event to `observe`, in order of time. The
    /// [`Ending`] tells the reason for an early end. A run of infinite duration ends when all bodies are at rest for ever
    /// ([`Ending::AtRest`]), or none will hit another ([`Ending::NeverHits`]); a negative or NaN duration and sample times that are
    /// negative, not finite or not ascending end the run with [`MotionError::InvalidValue`]. All events before the end have been
    /// reported. A [`Session`](crate::Session) is a run that goes on.
    pub fn run<'o>(
        &self,
        laws: &Laws<'_>,
        limits: &Limits,
        samples: &[f64],
        observe: &'o mut (dyn FnMut(Event<'_>) + 'o),
    ) -> RunEnd {
        let setting = Setting {
            world: self,
            laws: Some(laws),
            steps: None,
            limits,
        };
        setting.run(samples, observe)
    }

    /// Simulates the world by event-driven integration as [`run`](Self::run) does. If `run` would stop for one of the reasons
    /// below, this function switches to time stepping ([`run_in_steps`](Self::run_in_steps)) instead.
    ///
    /// The switch is made if an impact law finds no solution, if events follow each other without time between them, if a body has
    /// more than 64 impacts at several contacts within one time step, or if lasting contacts have no forces or too large a step.
    /// Two cases stop the run without a switch: a step in which gravity moves a body by much of its radius, and a step that is too
    /// large for a body that rolls or slides on a curved surface in a world that does not suit time stepping, because time stepping
    /// would change the energy of this body even more. [`RunEnd::handed_over`] contains time and reason of the switch. Without a
    /// switch the result is bitwise equal to that of `run`.
    pub fn run_or_step<'o>(
        &self,
        laws: &Laws<'_>,
        limits: &Limits,
        samples: &[f64],
        (stepping, executor): (&Stepping, &dyn Executor),
        observe: &'o mut (dyn FnMut(Event<'_>) + 'o),
    ) -> RunEnd {
        let setting = Setting {
            world: self,
            laws: Some(laws),
            steps: Some((stepping, executor)),
            limits,
        };
        setting.run(samples, observe)
    }

    /// Simulates the world by time stepping, in steps of its constant step length, until one of the `limits` (time, number of
    /// impacts) is reached.
    ///
    /// `samples` are the times (s, ascending) at which states are reported to `observe`; events are reported like those of
    /// [`run`](Self::run). Impacts follow the impact law `poisson`, at most one step early and never late. `executor` runs
    /// independent tasks, possibly in parallel.
    pub fn run_in_steps<'o>(
        &self,
        stepping: &Stepping,
        limits: &Limits,
        samples: &[f64],
        executor: &dyn Executor,
        observe: &'o mut (dyn FnMut(Event<'_>) + 'o),
    ) -> RunEnd {
        let setting = Setting {
            world: self,
            laws: None,
            steps: Some((stepping, executor)),
            limits,
        };
        setting.run(samples, observe)
    }
}
