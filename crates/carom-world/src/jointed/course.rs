//! Course of a run of jointed bodies: from sample to sample, or from call to call of a session.

use super::run::{INSTANT, Run, RunOf};
use super::world::{Control, JointEvent, JointSample, JointedEnd, JointedWorld};
use crate::{Input, Laws, MotionError, SessionError, limits};
use carom_motion::hybrid::{Ending, Limits};

/// Run of jointed bodies in progress, or paused (`R`).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Course<R> {
    pub(super) run: R,
    /// Time up to which all events are handled (s).
    pub(super) time: f64,
    /// Reason for the end; `None` while the run can go on.
    #[cfg_attr(feature = "serde", serde(with = "crate::saved::ending"))]
    pub(super) ended: Option<Ending<MotionError>>,
    /// Number of impacts at which the run ends.
    #[cfg_attr(feature = "serde", serde(skip))]
    most_impacts: usize,
}

/// Paused run of jointed bodies.
pub type Paused = Course<RunOf<(), (), (), ()>>;

impl Paused {
    /// Continues the run with its world and its laws.
    pub(super) fn resume<'w>(self, world: &'w JointedWorld, laws: Laws<'w>) -> Course<Run<'w>> {
        self.map(|run| run.with(world, laws, &world.multibody, &world.touch))
    }
}

#[cfg(feature = "serde")]
impl<R> Course<R> {
    /// Sets the number of impacts at which the run ends.
    pub(super) fn with_most_impacts(self, most_impacts: usize) -> Self {
        Self {
            most_impacts,
            ..self
        }
    }
}

impl<R> Course<R> {
    fn map<S>(self, change: impl FnOnce(R) -> S) -> Course<S> {
        Course {
            run: change(self.run),
            time: self.time,
            ended: self.ended,
            most_impacts: self.most_impacts,
        }
    }
}

impl<'w> Course<Run<'w>> {
    /// Creates a run at its start.
    fn new(world: &'w JointedWorld, laws: Laws<'w>, most_impacts: usize) -> Self {
        Self {
            run: Run::new(world, laws),
            time: 0.0,
            ended: None,
            most_impacts,
        }
    }

    /// Starts a run: handles the contacts at the start.
    pub(super) fn start(world: &'w JointedWorld, laws: Laws<'w>, most_impacts: usize) -> Self {
        let mut course = Self::new(world, laws, most_impacts);
        let begun = course.run.begin();
        course.note(begun);
        course
    }

    /// Returns the run without its world and its laws.
    pub(super) fn pause(self) -> Paused {
        self.map(|run| run.with((), (), (), ()))
    }

    /// Handles all events up to the time `until` (s), or one event if `one`. Nothing happens after the end of the run.
    pub(super) fn advance(&mut self, until: f64, one: bool) {
        while self.ended.is_none() && (!one || self.run.events.is_empty()) {
            if until == f64::INFINITY && self.run.rests_for_ever() {
                self.ended = Some(Ending::AtRest);
                return;
            }
            let proceeded = self.run.proceed(until);
            if matches!(proceeded, Ok(false)) {
                self.time = self.time.max(until);
                return;
            }
            self.time = self.time.max(self.run.time.min(until));
            self.note(proceeded.map(|_| ()));
        }
    }

    /// Applies an input at the present time. A refusal changes nothing.
    pub(super) fn input(&mut self, input: &Input) -> Result<(), SessionError> {
        let went = self.run.input(input, self.time)?;
        self.ended = None;
        self.note_input(went)
    }

    /// Notes how an input went.
    pub(super) fn note_input(&mut self, went: Result<(), MotionError>) -> Result<(), SessionError> {
        self.note(went);
        match &self.ended {
            Some(Ending::Stopped(error)) => Err(error.clone().into()),
            _ => Ok(()),
        }
    }

    /// Notes how a part of the run went.
    fn note(&mut self, went: Result<(), MotionError>) {
        let ended = self.run.ended.take();
        self.ended = match went {
            Err(error) if self.run.leaps_after(&error) => None,
            Err(error) => Some(Ending::Stopped(error)),
            Ok(()) if self.run.n_impacts >= self.most_impacts => Some(Ending::MaxImpacts),
            Ok(()) => ended,
        };
        if self.ended.is_some() {
            self.time = self.run.time;
        }
    }

    /// Ends the run at its present time.
    pub(super) fn finish(&mut self) -> JointedEnd {
        let ending = self.ended.clone().unwrap_or(Ending::Completed);
        self.run.finish(self.time, ending)
    }

    /// Handles all events up to the time `until` (s), and reports each.
    fn go(&mut self, until: f64, observe: &mut dyn FnMut(JointEvent<'_>)) {
        loop {
            self.advance(until, true);
            if self.run.events.is_empty() {
                return;
            }
            self.report(observe);
        }
    }

    fn report(&mut self, observe: &mut dyn FnMut(JointEvent<'_>)) {
        for event in self.run.events.drain(..) {
            observe(event.view());
        }
    }

    /// Reports the samples up to the present time.
    fn sample(&mut self, left: &mut &[f64], observe: &mut dyn FnMut(JointEvent<'_>)) {
        while let Some((&time, rest)) = left.split_first()
            && time <= self.time + INSTANT * (1.0 + self.time)
            && !matches!(self.ended, Some(Ending::Stopped(_)))
        {
            *left = rest;
            match self.run.show(time) {
                Ok(shown) => observe(JointEvent::Sample(JointSample::of(&shown))),
                Err(error) => self.ended = Some(Ending::Stopped(error)),
            }
        }
    }

    /// Calls the user's control function for the forces on the joint coordinates until the next grid time.
    fn ask(&mut self, control: &mut Option<&mut Control<'_>>) {
        if let (Some(control), None) = (control, &self.ended) {
            let forces = control(self.run.time, &self.run.posture.q, &self.run.rates);
            let pushed = self.run.push(&forces);
            self.note(pushed);
        }
    }
}

impl JointedWorld {
    /// Simulates the motion of the jointed bodies from the initial state until one of the `limits` (time, number of impacts)
    /// is reached.
    ///
    /// Reports the states at the times `samples` (s, ascending) and all events to `observe`, in order of time. If given,
    /// `control` is called at every grid time (multiples of the time step) with the time (s), the joint coordinates and their
    /// rates; it returns the forces along the coordinates (N or N m) until the next grid time.
    pub fn run<'o>(
        &'o self,
        laws: &Laws<'o>,
        limits: &Limits,
        samples: &'o [f64],
        mut control: Option<&'o mut Control<'o>>,
        observe: &'o mut (dyn FnMut(JointEvent<'_>) + 'o),
    ) -> JointedEnd {
        if let Err(error) = limits::check(limits, samples.iter().copied()) {
            let mut course = Course::new(self, *laws, limits.impacts);
            course.ended = Some(Ending::Stopped(error));
            return course.finish();
        }
        let duration = limits.duration;
        let mut course = Course::start(self, *laws, limits.impacts);
        course.ask(&mut control);
        let mut left = samples;
        loop {
            let stop = match &control {
                Some(_) => course.run.next_line().min(duration),
                None => duration,
            };
            let first = left.first().copied().filter(|time| *time < stop);
            let until = first.unwrap_or(stop);
            let line = course.run.line;
            course.go(until, observe);
            if course.run.line > line {
                course.ask(&mut control);
            }
            course.sample(&mut left, observe);
            if course.ended.is_some() || until >= duration {
                break;
            }
        }
        let end = course.finish();
        course.report(observe);
        end
    }
}
