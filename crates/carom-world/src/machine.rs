//! Sessions: runs that go on from call to call.

use crate::{Input, MotionError, SessionError, SharedLaws};
use carom_motion::hybrid::Ending;
use nalgebra::Vector3;
use std::fmt::Debug;
use std::sync::Arc;

/// Two times that differ by less than this fraction of the time step are one line of the grid.
const SAME_LINE: f64 = 1e-9;

/// Run in progress, as a session drives it.
pub trait Drive {
    /// Event of the run.
    type Event;
    /// State at one time.
    type State;
    /// Result of the run.
    type End;

    /// Returns the events that are not reported yet.
    fn events(&mut self) -> &mut Vec<Self::Event>;

    /// Handles all events up to the time `until` (s), or one event if `one`. Nothing happens after the end of the run.
    fn advance(&mut self, until: f64, one: bool);

    /// Ends (`begins` false) or begins the force that the caller holds on a body at the present time.
    fn hold(&mut self, body: usize, begins: bool) -> Result<(), SessionError>;

    /// Applies an input at the present time, whose events are handled. A refusal changes nothing.
    fn input(&mut self, input: &Input) -> Result<(), SessionError>;

    /// Returns the state at the present time. The run does not change.
    fn show(&mut self) -> Result<Self::State, MotionError>;

    /// Returns the result of a run that ends at the present time, with the events that the end shows. The run does not change.
    fn end(&self) -> (Self::End, Vec<Self::Event>);
}

/// Time of a paused run (s), and the reason for its end, if it has ended.
pub type Progress<'p> = (f64, Option<&'p Ending<MotionError>>);

/// World of a session with its laws and options.
pub trait Machine: Clone + Debug {
    /// Event of the run.
    type Event: Clone + Debug;
    /// State at one time.
    type State: Clone + Debug;
    /// Result of the run.
    type End;
    /// Run without its world.
    type Paused: Clone + Debug;

    /// Replaces the impact laws.
    fn set_laws(&mut self, laws: SharedLaws);

    /// Sets the force that the caller holds on a body (N).
    fn hold_force(&mut self, body: usize, force: &Vector3<f64>);

    /// Returns the number of bodies.
    fn n_bodies(&self) -> usize;

    /// Starts a run, and returns it with the events of its start.
    fn start(&self) -> (Self::Paused, Vec<Self::Event>);

    /// Returns the time step of the grid (s).
    fn time_step(&self) -> f64;

    /// Returns the progress of a paused run.
    fn progress(paused: &Self::Paused) -> Progress<'_>;

    /// Returns the world, which tells sessions of one world from others.
    fn world(&self) -> &dyn Debug;

    /// Returns the bytes of a paused run, with what its caller holds.
    #[cfg(feature = "serde")]
    fn save(&self, paused: &Self::Paused) -> Vec<u8>;

    /// Reads a run, which may take `memory` (bytes), in a world as it is at a start, and holds what its caller held. `None` if it is
    /// no run of this world.
    #[cfg(feature = "serde")]
    fn load(&mut self, bytes: &[u8], memory: usize) -> Option<Self::Paused>;

    /// Returns the number of bodies, planes and joint coordinates.
    fn size(&self) -> usize;

    /// True if an event can be one of this world.
    fn has_event(&self, event: &Self::Event) -> bool;

    /// True if a state can be one of this world.
    fn has_state(&self, state: &Self::State) -> bool;

    /// Calls `act` with a run that was paused. Returns `None` if the run is not one of this world.
    fn resume<R>(
        &self,
        paused: Self::Paused,
        act: impl FnOnce(&mut dyn Drive<Event = Self::Event, State = Self::State, End = Self::End>) -> R,
    ) -> Option<(Self::Paused, R)>;
}

/// Run that goes on from call to call: [`Session`](crate::Session) of a world,
/// [`JointedSession`](crate::jointed::JointedSession) of jointed bodies.
///
/// The motion depends on the world and its laws alone: however a session is advanced, and whatever is looked at in between, the
/// states, events and energies are those of one run, bit for bit. A copy goes on independently.
#[derive(Clone, Debug)]
pub struct SessionOf<M: Machine> {
    pub(crate) machine: Arc<M>,
    /// The world as it was at the start, without what the caller holds.
    origin: Arc<M>,
    /// `None` only while a call is at work.
    pub(crate) paused: Option<M::Paused>,
    /// Events of the last call, and number of those that `next_event` has returned.
    events: Vec<M::Event>,
    told: usize,
    is_finished: bool,
}

impl<M: Machine> SessionOf<M> {
    pub(crate) fn of(machine: M) -> Self {
        let (paused, events) = machine.start();
        let machine = Arc::new(machine);
        Self {
            origin: Arc::clone(&machine),
            machine,
            paused: Some(paused),
            events,
            told: 0,
            is_finished: false,
        }
    }

    /// Replaces the impact laws: those of a copy can tell apart who calls them.
    pub fn set_laws(&mut self, laws: SharedLaws) {
        Arc::make_mut(&mut self.origin).set_laws(laws.clone());
        Arc::make_mut(&mut self.machine).set_laws(laws);
    }

    fn progress(&self) -> Progress<'_> {
        self.paused.as_ref().map_or((0.0, None), M::progress)
    }

    /// Returns the time up to which all events are handled (s).
    pub fn time(&self) -> f64 {
        self.progress().0
    }

    /// Returns the time step of the grid (s).
    pub fn time_step(&self) -> f64 {
        self.machine.time_step()
    }

    /// Returns the reason for the end of the run; `None` while it can go on.
    pub fn ending(&self) -> Option<&Ending<MotionError>> {
        self.progress().1
    }

    /// Returns `running`, or the name of the [`ending`](Self::ending).
    pub fn status(&self) -> &'static str {
        self.ending().map_or("running", Ending::name)
    }

    /// True after [`finish`](Self::finish).
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns the events of the last call.
    pub fn events(&self) -> &[M::Event] {
        &self.events
    }

    /// Returns the world of the session with its laws, as it was at the start.
    pub fn origin(&self) -> &M {
        &self.origin
    }

    /// Calls `act` with the run.
    pub(crate) fn on_run<R>(
        &mut self,
        act: impl FnOnce(&mut dyn Drive<Event = M::Event, State = M::State, End = M::End>) -> R,
    ) -> Result<R, SessionError> {
        let paused = self.paused.take().ok_or(SessionError::Finished)?;
        let resumed = self.machine.resume(paused, act);
        let (paused, result) = resumed.ok_or(SessionError::Finished)?;
        self.paused = Some(paused);
        Ok(result)
    }

    /// Checks that the session can be advanced to `time` (s).
    fn check(&self, time: f64) -> Result<(), SessionError> {
        if self.is_finished {
            return Err(SessionError::Finished);
        }
        if !time.is_finite() {
            return Err(SessionError::NonFinite { time });
        }
        let now = self.time();
        match self.ending() {
            Some(Ending::Stopped(error)) => Err(error.clone().into()),
            None if time < now => Err(SessionError::TimeBackwards { now, time }),
            _ => Ok(()),
        }
    }

    /// Returns the error with which the run stopped, if it did.
    fn stopped(&self) -> Result<(), SessionError> {
        match self.ending() {
            Some(Ending::Stopped(error)) => Err(error.clone().into()),
            _ => Ok(()),
        }
    }

    /// Advances the run to `time` (s): handles all events up to it, and returns them. After the end of the run nothing happens.
    ///
    /// # Errors
    ///
    /// [`SessionError::TimeBackwards`], [`SessionError::NonFinite`], [`SessionError::Finished`]; and [`SessionError::Motion`] if
    /// the run stops: [`events`](Self::events) has the events before, and each further call returns this error again.
    pub fn advance_to(&mut self, time: f64) -> Result<&[M::Event], SessionError> {
        self.check(time)?;
        let mut events = std::mem::take(&mut self.events);
        events.drain(..std::mem::take(&mut self.told));
        let advanced = self.on_run(|run| {
            run.advance(time, false);
            events.append(run.events());
        });
        (self.told, self.events) = (events.len(), events);
        advanced?;
        self.stopped()?;
        Ok(&self.events)
    }

    /// Advances the run to the `n`-th next line of the grid of its time steps, and returns the events up to it.
    ///
    /// # Errors
    ///
    /// [`SessionError::NoSteps`] for `n = 0`, and those of [`advance_to`](Self::advance_to).
    pub fn step(&mut self, n: usize) -> Result<&[M::Event], SessionError> {
        self.advance_to(self.line(n)?)
    }

    /// Returns the time of the `n`-th next line of the grid (s).
    ///
    /// # Errors
    ///
    /// [`SessionError::NoSteps`] for `n = 0`.
    pub fn line(&self, n: usize) -> Result<f64, SessionError> {
        if n == 0 {
            return Err(SessionError::NoSteps);
        }
        let step = self.time_step();
        let line = (self.time() / step + SAME_LINE).floor();
        Ok((line + n as f64) * step)
    }

    /// Advances the run to its next event if that comes up to `until` (s), and returns it; else to `until`.
    ///
    /// An event that is located within a step after the step is made is returned with its own time, which is before
    /// [`time`](Self::time).
    ///
    /// # Errors
    ///
    /// The errors of [`advance_to`](Self::advance_to).
    pub fn next_event(&mut self, until: f64) -> Result<Option<&M::Event>, SessionError> {
        if self.told >= self.events.len() {
            self.check(until)?;
            let mut events = std::mem::take(&mut self.events);
            events.clear();
            let advanced = self.on_run(|run| {
                run.advance(until, true);
                events.append(run.events());
            });
            (self.events, self.told) = (events, 0);
            advanced?;
            if self.events.is_empty() {
                self.stopped()?;
            }
        } else if self.is_finished {
            return Err(SessionError::Finished);
        }
        let place = self.told;
        self.told = (place + 1).min(self.events.len());
        Ok(self.events.get(place))
    }

    /// Applies an input at the present time, after the events of that time. Its own events belong to the next call.
    ///
    /// # Errors
    ///
    /// [`SessionError`] for an input that does not fit the world, after which nothing has changed; [`SessionError::Motion`] if the
    /// run stops with the input. A run that stopped goes on after [`Input::State`], [`Input::Velocity`] and [`Input::Joint`].
    pub fn input(&mut self, input: &Input) -> Result<(), SessionError> {
        if self.is_finished {
            return Err(SessionError::Finished);
        }
        match self.ending() {
            Some(Ending::Stopped(error)) if !input.revives() => return Err(error.clone().into()),
            Some(Ending::Stopped(_)) | None => (),
            Some(ending) => {
                return Err(SessionError::Ended {
                    status: ending.name(),
                });
            }
        }
        let time = self.time();
        let mut events = std::mem::take(&mut self.events);
        events.drain(..std::mem::take(&mut self.told));
        let went = self.on_run(|run| {
            run.advance(time, false);
            let went = run.input(input);
            events.append(run.events());
            went
        });
        self.events = events;
        went?
    }

    /// Sets the force on a body (N, in space, at its center of mass), which stays until it is set again.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownBody`], and the errors of [`input`](Self::input).
    pub fn set_force(&mut self, body: usize, force: Vector3<f64>) -> Result<(), SessionError> {
        let n_bodies = self.machine.n_bodies();
        if body >= n_bodies {
            return Err(SessionError::UnknownBody { body, n_bodies });
        }
        if let Some(value) = force.iter().find(|x| !x.is_finite()) {
            return Err(SessionError::NonFiniteInput { value: *value });
        }
        self.input(&Input::Cut)?;
        self.on_run(|run| run.hold(body, false))??;
        Arc::make_mut(&mut self.machine).hold_force(body, &force);
        let mut events = std::mem::take(&mut self.events);
        let went = self.on_run(|run| {
            let went = run.hold(body, true);
            events.append(run.events());
            went
        });
        self.events = events;
        went?
    }

    /// Applies an impulse (N s) to a body at a point in space (m), by default its center of mass, and a moment (N m s).
    ///
    /// # Errors
    ///
    /// The errors of [`input`](Self::input).
    pub fn impulse(
        &mut self,
        body: usize,
        impulse: Vector3<f64>,
        at: Option<Vector3<f64>>,
        moment: Vector3<f64>,
    ) -> Result<(), SessionError> {
        self.input(&Input::Impulse {
            body,
            impulse,
            at,
            moment,
        })
    }

    /// Sets velocity (m/s) and angular velocity (rad/s) of a body in space; `None` stays.
    ///
    /// # Errors
    ///
    /// The errors of [`input`](Self::input), and [`SessionError::JointedBody`].
    pub fn set_velocity(
        &mut self,
        body: usize,
        velocity: Option<Vector3<f64>>,
        angular_velocity: Option<Vector3<f64>>,
    ) -> Result<(), SessionError> {
        self.input(&Input::Velocity {
            body,
            velocity,
            angular_velocity,
        })
    }

    /// Returns the state at the present time.
    ///
    /// # Errors
    ///
    /// [`SessionError::Motion`] if a state cannot be computed.
    pub fn state(&mut self) -> Result<M::State, SessionError> {
        Ok(self.on_run(|run| run.show())??)
    }

    /// Returns the result of a run that ends at the present time, with losses and errors up to it; the session goes on.
    ///
    /// # Errors
    ///
    /// [`SessionError::Finished`] after a panic of a call.
    pub fn so_far(&mut self) -> Result<M::End, SessionError> {
        Ok(self.on_run(|run| run.end())?.0)
    }

    /// Ends the run at the present time. [`events`](Self::events) then has the changes of contacts that the end shows. States,
    /// energy and contacts can be read afterwards; the session cannot go on.
    ///
    /// # Errors
    ///
    /// [`SessionError::Finished`] for a second call.
    pub fn finish(&mut self) -> Result<M::End, SessionError> {
        if self.is_finished {
            return Err(SessionError::Finished);
        }
        let time = self.time();
        let mut events = std::mem::take(&mut self.events);
        events.drain(..std::mem::take(&mut self.told));
        let end = self.on_run(|run| {
            run.advance(time, false);
            events.append(run.events());
            let (end, mut last) = run.end();
            events.append(&mut last);
            end
        })?;
        (self.told, self.events, self.is_finished) = (events.len(), events, true);
        Ok(end)
    }
}

#[cfg(feature = "serde")]
impl<M: Machine> SessionOf<M>
where
    M::Event: serde::Serialize + serde::de::DeserializeOwned,
{
    /// Returns the session as bytes: all that its future depends on, and nothing that looking at it changes.
    ///
    /// [`load`](Self::load) reads them. They do not tell world and laws: [`snapshot`](Self::snapshot) does.
    pub fn save(&self) -> Vec<u8> {
        let fresh = &self.events[self.told..];
        let run = self.paused.as_ref().map(|paused| self.machine.save(paused));
        crate::saved::before(&(self.is_finished, fresh), &run.unwrap_or_default())
    }

    /// Goes on from the bytes that [`save`](Self::save) of another session of this world gave. A refusal changes nothing.
    ///
    /// # Errors
    ///
    /// [`SessionError::SnapshotDamaged`], [`SessionError::Finished`].
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        if self.is_finished {
            return Err(SessionError::Finished);
        }
        let memory = crate::saved::memory(bytes, self.origin.size());
        let ((is_finished, events), run): ((bool, Vec<M::Event>), _) =
            crate::saved::split(bytes, memory)?;
        let mut machine = M::clone(&self.origin);
        let fits = events.iter().all(|event| machine.has_event(event));
        let paused = machine.load(run, memory).filter(|_| fits);
        let paused = paused.ok_or_else(|| SessionError::SnapshotDamaged {
            what: "its world cannot have this state".to_owned(),
        })?;
        self.machine = Arc::new(machine);
        self.paused = Some(paused);
        (self.events, self.told) = (events, 0);
        self.is_finished = is_finished;
        Ok(())
    }

    fn digests(&self) -> [crate::saved::Digest; 1] {
        [("world", crate::saved::digest(self.origin.world()))]
    }

    /// Returns a snapshot of the session: what it is of, and all that its future depends on. Snapshots of two sessions of one history
    /// at one time are equal, whatever was looked at in between.
    ///
    /// Laws are functions of the caller, and not in it: that of the session that reads it goes on.
    pub fn snapshot(&self) -> Vec<u8> {
        crate::saved::seal(&self.digests(), &self.save())
    }

    /// Goes on from a [`snapshot`](Self::snapshot) of another session of this world, whatever became of this one. A refusal changes
    /// nothing. Bytes may come from strangers: they take memory as a session of this world does, and lists a budget that grows with their length.
    ///
    /// # Errors
    ///
    /// [`SessionError::SnapshotDamaged`], [`SessionError::SnapshotForeign`], [`SessionError::SnapshotVersion`],
    /// [`SessionError::Finished`].
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), SessionError> {
        let digests = self.digests();
        self.load(crate::saved::open(&digests, snapshot)?)
    }
}
