//! Worlds with and without joints, as a session needs them.

use super::World;
use super::entries::{names_of_pair, quaternion};
use super::joints::playback::Film;
use super::joints::report::{open_coordinates, velocity};
use super::joints::{Jointed, report as joint_report};
use super::report;
use super::setup::{Setup, sample_times};
use super::several::{Asked, Comparison, shared_laws};
use crate::common::list;
use crate::config::Input;
use crate::{Overrides, ScenarioError};
use carom_report::Record;
use carom_variational::State;
use carom_world::hybrid::OwnedEvent;
use carom_world::jointed::{
    self, JointContact, JointEvent, JointImpact, JointSample, JointedEnd, JointedEvent,
    JointedLasting, JointedSession, JointedState,
};
use carom_world::{
    Event, Free, Impact, LastingPoint, Machine, RunEnd, Sample, Session, SessionError, SessionOf,
    WorldEvent, WorldState,
};
use nalgebra::Vector3;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Event of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionEvent {
    /// Kind of the event: `impact`, `established`, `mode` or `released`.
    pub kind: &'static str,
    /// Entry of the event: that of the record for an impact, else `time`, the names of the contact and, for a mode, `mode`.
    pub entry: Value,
    /// Time (s).
    pub time: f64,
    /// Contact of the event; of an impact at several contacts the first of them. `None` for an impact without a contact.
    pub contact: Option<SessionContact>,
    /// Impulse of an impact at this contact, on its first body in space (N s); at a limit its impulse along the coordinate (N s or
    /// N m s), and zeros. Zero for the other kinds.
    pub impulse: [f64; 3],
}

/// Contact of an event of a session, by indices in the order of all states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionContact {
    /// Contact of a body with a body or a plane; bodies are counted first.
    Pair {
        /// Index of the first body.
        first: usize,
        /// Index of the other body or plane.
        second: usize,
    },
    /// Limit of a joint coordinate.
    Limit {
        /// Index of the coordinate.
        coordinate: usize,
        /// True for the upper limit.
        upper: bool,
    },
}

/// State of all bodies and joint coordinates of a session, in the order of [`Session::bodies`](crate::Session::bodies) and [`Session::coordinates`](crate::Session::coordinates).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionState {
    /// Time (s).
    pub time: f64,
    /// Position of each center of mass in space (m).
    pub position: Vec<[f64; 3]>,
    /// Rotation of each body from body to space: unit quaternion w, x, y, z with w ≥ 0.
    pub quaternion: Vec<[f64; 4]>,
    /// Velocity of each center of mass in space (m/s).
    pub velocity: Vec<[f64; 3]>,
    /// Angular velocity of each body in space (rad/s).
    pub angular_velocity: Vec<[f64; 3]>,
    /// Joint coordinates (rad or m).
    pub joint_position: Vec<f64>,
    /// Rates of the joint coordinates (rad/s or m/s).
    pub joint_velocity: Vec<f64>,
}

/// Parts of a state to which a session is set; `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NewState {
    /// Position of each center of mass in space (m).
    pub position: Option<Vec<[f64; 3]>>,
    /// Rotation of each body from body to space: unit quaternion w, x, y, z.
    pub quaternion: Option<Vec<[f64; 4]>>,
    /// Velocity of each center of mass in space (m/s).
    pub velocity: Option<Vec<[f64; 3]>>,
    /// Angular velocity of each body in space (rad/s).
    pub angular_velocity: Option<Vec<[f64; 3]>>,
    /// Joint coordinates (rad or m).
    pub joint_position: Option<Vec<f64>>,
    /// Rates of the joint coordinates (rad/s or m/s).
    pub joint_velocity: Option<Vec<f64>>,
}

/// Recorded event or sample of a session.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum Item<E, S> {
    Event(Box<E>),
    Sample(Box<S>),
}

impl<E, S> Item<E, S> {
    /// True if the item can be one of a world.
    pub(super) fn is_of<M: Machine<Event = E, State = S>>(&self, machine: &M) -> bool {
        match self {
            Self::Event(event) => machine.has_event(event),
            Self::Sample(state) => machine.has_state(state),
        }
    }
}

/// Record of a session so far.
pub(super) type Tape<M> = Vec<Item<<M as Machine>::Event, <M as Machine>::State>>;

/// World that is read from its keys.
pub(super) enum Wholes {
    Free(World),
    Jointed(Jointed),
}

impl Wholes {
    /// Reads a world, and returns it with a record that has its parameters.
    pub(super) fn read(overrides: &Overrides) -> Result<(Self, Record), ScenarioError> {
        let scenario = super::scenario_world()?;
        let input = Input::new(scenario.name, scenario.default_toml, overrides)?;
        let read = || {
            let (config, record) = World::read(&input, None)?;
            let imported = config.imported.is_some();
            let (mut whole, record) = if config.is_jointed() {
                let jointed = Jointed::new(&config, &|key| input.is_given(key))?;
                (Self::Jointed(jointed), record)
            } else {
                let (world, record) = World::new(&config, &input, record)?;
                (Self::Free(world), record)
            };
            if let (true, Some(imported)) = (imported, config.imported) {
                let imported = Some(Arc::new(imported));
                match &mut whole {
                    Self::Free(world) => world.imported = imported,
                    Self::Jointed(jointed) => jointed.imported = imported,
                }
            }
            Ok((whole, record))
        };
        read().map_err(|error| input.locate(error))
    }
}

/// World of a session of the machine `M`.
pub(super) trait Whole<M: Machine>: Sized {
    /// Starts a session.
    fn begin(&self) -> SessionOf<M>;

    /// Returns the settings of the run.
    fn setup(&self) -> &Arc<Setup>;

    /// Returns the names of the bodies.
    fn bodies(&self) -> Vec<&str>;

    /// Returns the names of the joint coordinates, but those of spherical joints.
    fn coordinates(&self) -> Vec<&str>;

    /// Returns the indices of the joint coordinates that the user sees, among all.
    fn open(&self) -> (Vec<usize>, usize);

    /// Returns for each body true if a joint places it.
    fn hangs(&self) -> Vec<bool>;

    /// Returns all that decides the motion besides the world and the seed: laws, scheme and limits.
    fn laws(&self) -> String;

    /// Returns an event as the user sees it.
    fn entry(&self, event: &M::Event) -> SessionEvent;

    /// Returns a state as the user sees it.
    fn shown(&self, state: &M::State) -> SessionState;

    /// Compares the laws at an event.
    fn compare(&self, comparison: &mut Comparison, asked: &Asked, event: &M::Event);

    /// Returns the lasting contacts as the user sees them.
    fn contacts(&self, session: &mut SessionOf<M>)
    -> Result<Vec<Map<String, Value>>, SessionError>;

    /// Returns the balance of the energy.
    fn energy(&self, end: &M::End) -> Value;

    /// Returns this world with a run that ends at `time` (s), if the run has no other end.
    fn until(&self, time: Option<f64>) -> Self;

    /// Writes a run to its record.
    fn record(
        &self,
        tape: &Tape<M>,
        end: &M::End,
        comparison: Comparison,
        record: &mut Record,
    ) -> Result<(), ScenarioError>;
}

/// Returns the settings of a run that ends at `time` (s).
fn setup_until(setup: &Arc<Setup>, time: Option<f64>) -> Arc<Setup> {
    match time {
        Some(time) if time != setup.limits.duration => {
            let mut own = Setup::clone(setup);
            own.limits = own.limits.with_duration(time);
            own.samples = sample_times(own.output.sample_step, time);
            Arc::new(own)
        }
        _ => Arc::clone(setup),
    }
}

/// First contact of an impact, and its impulse.
type FirstContact<C> = (C, [f64; 3]);

/// Returns an event as the user sees it. `impact` gives time, entry and first contact of an impact, `names` the entries that name a
/// contact, `place` the contact by its indices.
fn entry<I, C: Copy>(
    event: &OwnedEvent<I, C>,
    impact: impl FnOnce(&I) -> (f64, Value, Option<FirstContact<C>>),
    names: impl FnOnce(C) -> Map<String, Value>,
    place: impl FnOnce(C) -> Option<SessionContact>,
) -> SessionEvent {
    let of_contact = |time: f64, contact: C| {
        let mut entry = names(contact);
        entry.insert("time".to_owned(), json!(time));
        entry
    };
    let (time, entry, first) = match event {
        OwnedEvent::Impact(one) => impact(one),
        OwnedEvent::Established { time, contact } | OwnedEvent::Released { time, contact } => {
            let entry = Value::Object(of_contact(*time, *contact));
            (*time, entry, Some((*contact, [0.0; 3])))
        }
        OwnedEvent::Mode {
            time,
            contact,
            slides,
        } => {
            let mut entry = of_contact(*time, *contact);
            let mode = if *slides { "sliding" } else { "sticking" };
            entry.insert("mode".to_owned(), json!(mode));
            (*time, Value::Object(entry), Some((*contact, [0.0; 3])))
        }
        _ => (f64::NAN, Value::Null, None),
    };
    let (contact, impulse) = first.unzip();
    SessionEvent {
        kind: event.name(),
        entry,
        time,
        contact: contact.and_then(place),
        impulse: impulse.unwrap_or_default(),
    }
}

/// Returns the first contact of an impact of jointed bodies: a point, else a limit.
fn first_of(impact: &JointImpact) -> Option<FirstContact<JointContact>> {
    let point = impact.touches.first().map(|touch| {
        let (first, second) = (touch.first, touch.second);
        (JointContact::Pair { first, second }, touch.impulse.into())
    });
    let limit = impact.hits.first().map(|hit| {
        let contact = JointContact::Limit(hit.contact);
        (contact, [hit.impulse, 0.0, 0.0])
    });
    point.or(limit)
}

/// Returns a contact point as the user sees it.
fn point(of: &LastingPoint, [first, second]: [&str; 2]) -> Map<String, Value> {
    let mut entry = names_of_pair(first, second);
    for (key, value) in [
        ("point", list(&of.point)),
        ("normal", list(&of.normal)),
        ("gap", json!(of.gap)),
        ("slides", json!(of.slides)),
    ] {
        entry.insert(key.to_owned(), value);
    }
    entry
}

/// Returns the states of bodies as the user sees them; `velocity` gives the velocities of a body.
fn shown(
    time: f64,
    states: &[State],
    velocity: impl Fn(usize, &State) -> (Vector3<f64>, Vector3<f64>),
) -> SessionState {
    let mut out = SessionState {
        time,
        ..SessionState::default()
    };
    for (body, state) in states.iter().enumerate() {
        let (v, w) = velocity(body, state);
        out.position.push(state.position.into());
        out.quaternion.push(quaternion(&state.rotation));
        out.velocity.push(v.into());
        out.angular_velocity.push(w.into());
    }
    out
}

impl Whole<Free> for World {
    fn begin(&self) -> Session {
        self.session(None)
    }

    fn setup(&self) -> &Arc<Setup> {
        &self.setup
    }

    fn bodies(&self) -> Vec<&str> {
        (0..self.world.n_bodies())
            .map(|b| self.world.name(b))
            .collect()
    }

    fn coordinates(&self) -> Vec<&str> {
        Vec::new()
    }

    fn open(&self) -> (Vec<usize>, usize) {
        (Vec::new(), 0)
    }

    fn hangs(&self) -> Vec<bool> {
        vec![false; self.world.n_bodies()]
    }

    fn laws(&self) -> String {
        let scheme = (self.scheme, self.hands_over);
        format!("{:?} {scheme:?}", self.setup.laws())
    }

    fn entry(&self, event: &WorldEvent) -> SessionEvent {
        let names = |(a, b)| names_of_pair(self.world.name(a), self.world.name(b));
        let impact = |impact: &Impact| {
            let first = impact.contacts.first();
            let first = first.map(|c| ((c.first, c.second), c.impulse.into()));
            (impact.time, self.impact(impact), first)
        };
        let place = |(first, second)| Some(SessionContact::Pair { first, second });
        entry(event, impact, names, place)
    }

    fn shown(&self, state: &WorldState) -> SessionState {
        shown(state.time, &state.states, |b, s| self.world.velocity(b, s))
    }

    fn compare(&self, comparison: &mut Comparison, asked: &Asked, event: &WorldEvent) {
        if let OwnedEvent::Impact(impact) = event {
            comparison.note(self, asked, impact);
        }
    }

    fn contacts(&self, session: &mut Session) -> Result<Vec<Map<String, Value>>, SessionError> {
        let points = session.contacts()?;
        let one = |p: &LastingPoint| point(p, [p.first, p.second].map(|t| self.world.name(t)));
        Ok(points.iter().map(one).collect())
    }

    fn energy(&self, end: &RunEnd) -> Value {
        report::energy_balance(self, end).json()
    }

    fn until(&self, time: Option<f64>) -> Self {
        Self {
            setup: setup_until(&self.setup, time),
            asked: Asked::default(),
            ..self.clone()
        }
    }

    fn record(
        &self,
        tape: &Tape<Free>,
        end: &RunEnd,
        comparison: Comparison,
        record: &mut Record,
    ) -> Result<(), ScenarioError> {
        let mut log = report::Log::new(self);
        for item in tape {
            match item {
                Item::Event(event) => log.note(&event.view()),
                Item::Sample(state) => {
                    let WorldState {
                        time,
                        states,
                        contacts,
                        ..
                    } = &**state;
                    log.note(&Event::Sample(Sample::new(*time, states, contacts)));
                }
            }
        }
        log.finish(end);
        log.comparison = comparison;
        report::report(self, &log, end, record)?;
        if let Some(imported) = &self.imported {
            imported.report(&[], &mut record.results);
        }
        Ok(())
    }
}

impl Jointed {
    fn names(&self, contact: JointContact) -> Map<String, Value> {
        self.named(contact).0
    }
}

impl Whole<jointed::Jointed> for Jointed {
    fn begin(&self) -> JointedSession {
        let laws = shared_laws(&self.setup, None);
        JointedSession::new(Arc::clone(&self.world), laws, self.setup.limits)
    }

    fn setup(&self) -> &Arc<Setup> {
        &self.setup
    }

    fn bodies(&self) -> Vec<&str> {
        let mb = self.world.multibody();
        (0..mb.n_bodies()).map(|body| mb.body_name(body)).collect()
    }

    fn coordinates(&self) -> Vec<&str> {
        let open = open_coordinates(self.world.multibody());
        open.map(|k| self.coordinates[k].as_str()).collect()
    }

    fn open(&self) -> (Vec<usize>, usize) {
        let mb = self.world.multibody();
        (open_coordinates(mb).collect(), mb.n_coordinates())
    }

    fn hangs(&self) -> Vec<bool> {
        let mb = self.world.multibody();
        let mut hangs = vec![false; mb.n_bodies()];
        for joint in mb.joints().iter().filter(|joint| joint.kind.places()) {
            hangs[joint.child] = true;
        }
        hangs
    }

    fn laws(&self) -> String {
        format!("{:?}", self.setup.laws())
    }

    fn entry(&self, event: &JointedEvent) -> SessionEvent {
        let impact = |impact: &JointImpact| (impact.time, self.impact(impact), first_of(impact));
        let mut open = open_coordinates(self.world.multibody());
        let place = |contact| match contact {
            JointContact::Pair { first, second } => Some(SessionContact::Pair { first, second }),
            JointContact::Limit(limit) => {
                let coordinate = open.position(|k| k == limit.coordinate)?;
                let upper = limit.upper;
                Some(SessionContact::Limit { coordinate, upper })
            }
            _ => None,
        };
        entry(event, impact, |c| self.names(c), place)
    }

    fn shown(&self, state: &JointedState) -> SessionState {
        let mb = self.world.multibody();
        let mut out = shown(state.time, &state.posture.states, |b, s| velocity(mb, b, s));
        for k in open_coordinates(mb) {
            out.joint_position.push(state.posture.q[k]);
            out.joint_velocity.push(state.rates[k]);
        }
        out
    }

    fn compare(&self, comparison: &mut Comparison, asked: &Asked, event: &JointedEvent) {
        if let OwnedEvent::Impact(impact) = event {
            comparison.note_joints(self, asked, impact);
        }
    }

    fn contacts(
        &self,
        session: &mut JointedSession,
    ) -> Result<Vec<Map<String, Value>>, SessionError> {
        let name = |thing| self.world.thing_name(thing);
        let one = |lasting: JointedLasting| match lasting {
            JointedLasting::Limit(limit) => self.limit(limit),
            JointedLasting::Point(p) => point(&p, [p.first, p.second].map(name)),
            _ => Map::new(),
        };
        Ok(session.contacts()?.into_iter().map(one).collect())
    }

    fn energy(&self, end: &JointedEnd) -> Value {
        joint_report::energy_balance(self, end).json()
    }

    fn until(&self, time: Option<f64>) -> Self {
        Self {
            setup: setup_until(&self.setup, time),
            ..self.clone()
        }
    }

    fn record(
        &self,
        tape: &Tape<jointed::Jointed>,
        end: &JointedEnd,
        comparison: Comparison,
        record: &mut Record,
    ) -> Result<(), ScenarioError> {
        let mut log = joint_report::Log::new(self, &Asked::default());
        let mut film = Film::new(self);
        let mut note = |event: &JointEvent<'_>| {
            log.note(event);
            film.note(event);
        };
        for item in tape {
            match item {
                Item::Event(event) => note(&event.view()),
                Item::Sample(state) => note(&JointEvent::Sample(JointSample::of(state))),
            }
        }
        log.finish(end);
        log.comparison = comparison;
        joint_report::report(self, &log, end, record)?;
        film.show(end, record);
        if let Some(imported) = &self.imported {
            imported.report(&self.overlapping(), &mut record.results);
        }
        Ok(())
    }
}
