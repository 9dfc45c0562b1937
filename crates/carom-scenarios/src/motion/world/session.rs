//! Sessions of worlds with and without joints, by names and numbers.

use super::World;
use super::joints::Jointed;
use super::setup::is_before;
use super::several::{Asked, Comparison};
use super::whole::{Item, SessionEvent, SessionState, Tape, Whole, Wholes};
use crate::config::Input;
use crate::{Overrides, ScenarioError};
use carom_report::Record;
use carom_world::saved::Digest;
use carom_world::{Machine, SessionError, SessionOf};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// Session of a world `W`, with its record so far.
#[derive(Debug)]
pub(super) struct Track<M: Machine, W> {
    pub(super) whole: Arc<W>,
    pub(super) session: SessionOf<M>,
    pub(super) records: bool,
    pub(super) tape: Tape<M>,
    /// Number of samples so far.
    pub(super) samples: usize,
    /// Events of the calls whose events were not returned yet.
    pub(super) fresh: Vec<M::Event>,
    pub(super) asked: Asked,
    pub(super) comparison: Comparison,
}

impl<M: Machine, W: Whole<M>> Clone for Track<M, W> {
    fn clone(&self) -> Self {
        let mut out = Self {
            whole: Arc::clone(&self.whole),
            session: self.session.clone(),
            records: self.records,
            tape: self.tape.clone(),
            samples: self.samples,
            fresh: self.fresh.clone(),
            asked: Asked::default(),
            comparison: self.comparison.clone(),
        };
        out.listen();
        out
    }
}

impl<M: Machine, W: Whole<M>> Track<M, W> {
    pub(super) fn new(whole: Arc<W>, session: SessionOf<M>, records: bool) -> Self {
        let mut out = Self {
            whole,
            session,
            records,
            tape: Tape::<M>::new(),
            samples: 0,
            fresh: Vec::new(),
            asked: Asked::default(),
            comparison: Comparison::default(),
        };
        out.listen();
        out
    }

    /// Starts again.
    fn restart(&mut self) {
        let whole = Arc::clone(&self.whole);
        let session = whole.begin();
        *self = Self::new(whole, session, self.records);
    }

    /// Lets the law of the session keep the problems that this track compares.
    pub(super) fn listen(&mut self) {
        if self.records {
            let laws = super::several::shared_laws(self.whole.setup(), Some(self.asked.clone()));
            self.session.set_laws(laws);
        }
    }

    /// Notes the events that the session has returned by `told`.
    fn note(&mut self, event: M::Event, events: &mut Vec<SessionEvent>) {
        events.push(self.whole.entry(&event));
        self.fresh.push(event.clone());
        if self.records {
            let (comparison, asked) = (&mut self.comparison, &self.asked);
            self.whole.compare(comparison, asked, &event);
            self.tape.push(Item::Event(Box::new(event)));
        }
    }

    /// Returns the time of the next sample (s) up to `time`; none while nothing is recorded, but the start.
    fn next_sample(&self, time: f64) -> Option<f64> {
        let step = self.whole.setup().output.sample_step;
        let is_start = self.samples == 0;
        let next = self.samples as f64 * step;
        let is_wanted = is_start || (self.records && step > 0.0);
        (is_wanted && next <= time).then_some(next)
    }

    /// Advances to `time` (s), or to the first event. Returns false if the time is reached or the run has ended.
    fn advance(
        &mut self,
        time: f64,
        one: bool,
        events: &mut Vec<SessionEvent>,
    ) -> Result<(), SessionError> {
        loop {
            let sample = self.next_sample(time);
            let until = sample.unwrap_or(time);
            while let Some(event) = self.session.next_event(until)? {
                let event = event.clone();
                self.note(event, events);
                if one {
                    return Ok(());
                }
            }
            match sample {
                Some(at) if at <= self.session.time() => {
                    let state = self.session.state()?;
                    self.tape.push(Item::Sample(Box::new(state)));
                    self.samples += 1;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Ends the session, and writes what it has recorded to `record`.
    fn finish(
        &mut self,
        mut record: Record,
        events: &mut Vec<SessionEvent>,
    ) -> Result<Record, ScenarioError> {
        let end = self.session.finish()?;
        for event in self.session.events().to_vec() {
            self.note(event, events);
        }
        let time = self.session.time();
        let step = self.whole.setup().output.sample_step;
        let last = self.samples.saturating_sub(1) as f64 * step;
        let runs = self.session.ending().is_none();
        if runs && self.records && !is_before(last, step, time) {
            let place = self
                .tape
                .iter()
                .rposition(|item| matches!(item, Item::Sample(_)));
            place.map(|place| self.tape.remove(place));
        }
        let whole = self.whole.until(if runs { Some(time) } else { None });
        let comparison = self.comparison.clone();
        whole.record(&self.tape, &end, comparison, &mut record)?;
        Ok(record)
    }
}

/// Session of a world without or with joints.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Free(Box<Track<carom_world::Free, World>>),
    Jointed(Box<Track<carom_world::jointed::Jointed, Jointed>>),
}

/// Calls `$act` with the track of a session.
macro_rules! on {
    ($session:expr, $track:ident => $act:expr) => {
        match &mut $session.kind {
            Kind::Free($track) => $act,
            Kind::Jointed($track) => $act,
        }
    };
}

pub(super) use on;

/// Run of a world, with or without joints, that goes on from call to call.
///
/// It speaks of bodies and coordinates by names and numbers, and ends with a record. [`World::start`] and
/// [`Robot::start`](crate::Robot::start) give the sessions of the library below it, whose events and states are typed.
///
/// # Examples
///
/// ```
/// use carom_scenarios::{Overrides, Session};
///
/// let toml = r#"
///     duration = 1.0
///     contact = { friction = 0.2, restitution = 0.8 }
///     planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
///     [[bodies]]
///     name = "ball"
///     mass = 1.0
///     shape = { type = "sphere", radius = 0.1 }
///     position = [0.0, 0.0, 1.1]
/// "#;
/// let overrides = Overrides { toml: toml.to_owned(), ..Overrides::default() };
/// let mut session = Session::start(&overrides, true)?;
/// let impact = session.next_event(1.0)?.ok_or("an impact")?;
/// assert_eq!((impact.kind, &impact.entry["contacts"][0]["first"]), ("impact", &"ball".into()));
/// session.advance_to(1.0)?;
/// assert_eq!(session.finish()?.results["n_impacts"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) kind: Kind,
    pub(super) overrides: Arc<Overrides>,
    record: Arc<Record>,
    /// Events of the last call, and number of those that were returned.
    pub(super) events: Vec<SessionEvent>,
    pub(super) told: usize,
    /// Forces of the caller along the joint coordinates (N m or N).
    pub(super) control: Vec<f64>,
    /// Digests of world, laws and seed, once they are asked for.
    pub(super) digests: Arc<OnceLock<[Digest; 3]>>,
}

impl Session {
    /// Starts a session of the scenario `world` with the settings `overrides`. If `records`, its record has all events, and samples
    /// as a run has them; else the states at the start and at the end.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] that names key, value and place.
    pub fn start(overrides: &Overrides, records: bool) -> Result<Self, ScenarioError> {
        let (wholes, record) = Wholes::read(overrides)?;
        let kind = match wholes {
            Wholes::Free(world) => {
                let session = world.begin();
                Kind::Free(Box::new(Track::new(Arc::new(world), session, records)))
            }
            Wholes::Jointed(jointed) => {
                let session = jointed.begin();
                Kind::Jointed(Box::new(Track::new(Arc::new(jointed), session, records)))
            }
        };
        let mut out = Self {
            kind,
            overrides: Arc::new(overrides.clone()),
            record: Arc::new(record),
            events: Vec::new(),
            told: 0,
            control: Vec::new(),
            digests: Arc::default(),
        };
        out.begin();
        Ok(out)
    }

    /// Returns the settings with which the session was started, with the seed of the latest [`reset`](Self::reset).
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// Notes the events and the state of the start. A run that stops there says so at the next call.
    fn begin(&mut self) {
        let (mut events, told) = (std::mem::take(&mut self.events), 0);
        self.control = vec![0.0; self.coordinates().len()];
        let _ = on!(self, track => track.advance(0.0, false, &mut events));
        (self.events, self.told) = (events, told);
    }

    /// Starts again, with another `seed` if it is given.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] for a world that cannot be read again.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<(), ScenarioError> {
        let (records, is_finished) =
            on!(self, track => (track.records, track.session.is_finished()));
        if is_finished {
            return Err(SessionError::Finished.into());
        }
        let mut overrides = Overrides::clone(&self.overrides);
        if let Some(seed) = seed {
            overrides.assignments.push(format!("seed={seed}"));
            *self = Self::start(&overrides, records)?;
            return Ok(());
        }
        on!(self, track => {
            track.restart();
        });
        self.events.clear();
        self.told = 0;
        self.begin();
        Ok(())
    }

    /// Returns the names of the bodies, in the order of all states.
    pub fn bodies(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Free(track) => track.whole.bodies(),
            Kind::Jointed(track) => track.whole.bodies(),
        }
    }

    /// Returns the names of the joint coordinates, in the order of all states; those of spherical joints are left out.
    pub fn coordinates(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Free(track) => track.whole.coordinates(),
            Kind::Jointed(track) => track.whole.coordinates(),
        }
    }

    /// Returns the time up to which all events are handled (s).
    pub fn time(&self) -> f64 {
        match &self.kind {
            Kind::Free(track) => track.session.time(),
            Kind::Jointed(track) => track.session.time(),
        }
    }

    /// Returns the time step of the grid (s).
    pub fn time_step(&self) -> f64 {
        match &self.kind {
            Kind::Free(track) => track.session.time_step(),
            Kind::Jointed(track) => track.session.time_step(),
        }
    }

    /// Returns the time of the `n`-th next line of the grid (s).
    ///
    /// # Errors
    ///
    /// [`SessionError::NoSteps`] for `n = 0`.
    pub fn line(&self, n: usize) -> Result<f64, SessionError> {
        match &self.kind {
            Kind::Free(track) => track.session.line(n),
            Kind::Jointed(track) => track.session.line(n),
        }
    }

    /// Returns the duration of the world's run (s), which is no end of the session.
    pub fn duration(&self) -> f64 {
        match &self.kind {
            Kind::Free(track) => track.whole.setup().limits.duration,
            Kind::Jointed(track) => track.whole.setup().limits.duration,
        }
    }

    /// Returns `running`, or the name of the ending.
    pub fn status(&self) -> &'static str {
        match &self.kind {
            Kind::Free(track) => track.session.status(),
            Kind::Jointed(track) => track.session.status(),
        }
    }

    /// Returns the error with which the run stopped.
    pub fn error(&self) -> Option<SessionError> {
        let ending = match &self.kind {
            Kind::Free(track) => track.session.ending(),
            Kind::Jointed(track) => track.session.ending(),
        };
        match ending {
            Some(carom_world::hybrid::Ending::Stopped(error)) => Some(error.clone().into()),
            _ => None,
        }
    }

    /// Returns the events of the last call.
    pub fn events(&self) -> &[SessionEvent] {
        &self.events
    }

    /// Takes the events that were not returned yet.
    fn take_events(&mut self) -> Vec<SessionEvent> {
        let mut events = std::mem::take(&mut self.events);
        let told = std::mem::take(&mut self.told);
        events.drain(..told);
        on!(self, track => drop(track.fresh.drain(..told)));
        events
    }

    fn advance(&mut self, time: f64, one: bool) -> Result<(), SessionError> {
        let mut events = self.take_events();
        let went = on!(self, track => track.advance(time, one, &mut events));
        self.events = events;
        went
    }

    /// Advances the run to `time` (s): handles all events up to it, and returns them. After the end of the run nothing happens.
    ///
    /// # Errors
    ///
    /// The errors of [`SessionOf::advance_to`]; [`events`](Self::events) has the events before.
    pub fn advance_to(&mut self, time: f64) -> Result<&[SessionEvent], SessionError> {
        let went = self.advance(time, false);
        self.told = self.events.len();
        went.map(|()| self.events.as_slice())
    }

    /// Advances the run to the `n`-th next line of the grid, and returns the events up to it.
    ///
    /// # Errors
    ///
    /// The errors of [`SessionOf::step`].
    pub fn step(&mut self, n: usize) -> Result<&[SessionEvent], SessionError> {
        self.advance_to(self.line(n)?)
    }

    /// Advances the run to its next event if that comes up to `until` (s), and returns it; else to `until`.
    ///
    /// # Errors
    ///
    /// The errors of [`SessionOf::next_event`].
    pub fn next_event(&mut self, until: f64) -> Result<Option<&SessionEvent>, SessionError> {
        if self.told >= self.events.len() {
            self.advance(until, true)?;
        }
        let place = self.told;
        self.told = (place + 1).min(self.events.len());
        Ok(self.events.get(place))
    }

    /// Returns the state at the present time.
    ///
    /// # Errors
    ///
    /// [`SessionError::Motion`] if a state cannot be computed.
    pub fn state(&mut self) -> Result<SessionState, SessionError> {
        on!(self, track => {
            let state = track.session.state()?;
            Ok(track.whole.shown(&state))
        })
    }

    /// Returns the lasting contacts at the present time: their points, and the limits of joint coordinates as in a record.
    ///
    /// # Errors
    ///
    /// [`SessionError::Motion`] if a state cannot be computed.
    pub fn contacts(&mut self) -> Result<Vec<Map<String, Value>>, SessionError> {
        on!(self, track => track.whole.contacts(&mut track.session))
    }

    /// Returns the entry `energy` of a record that ends at the present time.
    ///
    /// # Errors
    ///
    /// [`SessionError::Finished`] after a panic of a call.
    pub fn energy(&mut self) -> Result<Value, SessionError> {
        on!(self, track => {
            let end = track.session.so_far()?;
            Ok(track.whole.energy(&end))
        })
    }

    /// Ends the run at the present time, and returns its record. That of a recording session that was advanced to the duration of
    /// its world is the record of the run, byte for byte.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Session`] for a second call, and other [`ScenarioError`] if there is no record.
    pub fn finish(&mut self) -> Result<Record, ScenarioError> {
        let mut events = self.take_events();
        let mut record = Record::clone(&self.record);
        let finished = on!(self, track => track.finish(record, &mut events));
        (self.told, self.events) = (events.len(), events);
        record = finished?;
        let overrides = &self.overrides;
        let world = super::scenario_world()?;
        let input = Input::new(world.name, world.default_toml, overrides)?;
        world.complete(record, &input, overrides)
    }
}
