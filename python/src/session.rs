//! Sessions: runs of worlds that go on from call to call.

use crate::error::{exception, raised};
use crate::json::to_python;
use crate::record::{Record, fault_of, overrides, scenario};
use carom::scenarios::carom_world::SessionError;
use carom::scenarios::{self as named, Overrides, ScenarioError, SessionEvent};
use carom_wire::WireError;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two checks for signals.
const PATIENCE: Duration = Duration::from_millis(20);

/// Run of a world that goes on from call to call. Calls from several threads follow each other.
#[pyclass(frozen, module = "carom._native")]
pub(crate) struct Session {
    held: Mutex<Held>,
}

/// A session with the events of its last call, and the part of a grid that it advances without a check for signals (s).
#[derive(Clone)]
struct Held {
    session: named::Session,
    events: Vec<SessionEvent>,
    /// True if the last call was interrupted, so that its events belong to the next one.
    is_interrupted: bool,
    slice: f64,
}

/// Reason for which a call has no result.
enum Fault {
    Refused(WireError),
    Interrupted(PyErr),
}

impl From<SessionError> for Fault {
    fn from(error: SessionError) -> Self {
        Self::Refused(wire(&error))
    }
}

impl From<ScenarioError> for Fault {
    fn from(error: ScenarioError) -> Self {
        Self::Refused(match error {
            ScenarioError::Session(error) => wire(&error),
            error => fault_of("world", &error),
        })
    }
}

fn wire(error: &SessionError) -> WireError {
    WireError::new(error.kind(), error.to_string())
}

impl Held {
    /// Advances to `until` (s), or to the next event, with checks for signals.
    fn advance(&mut self, until: f64, one: bool) -> Result<(), Fault> {
        if !std::mem::take(&mut self.is_interrupted) {
            self.events.clear();
        }
        let mut checked = Instant::now();
        loop {
            if one && !self.events.is_empty() {
                return Ok(());
            }
            let (session, begun) = (&mut self.session, Instant::now());
            let reach = session.time() + self.slice;
            let target = if until.is_finite() && reach < until {
                reach
            } else {
                until
            };
            if one {
                let event = session.next_event(target)?;
                self.events.extend(event.cloned());
            } else {
                let went = session.advance_to(target).map(|_| ());
                self.events.extend_from_slice(session.events());
                went?;
            }
            if target == until || session.status() != "running" {
                return Ok(());
            }
            let took = begun.elapsed();
            if took < PATIENCE / 10 {
                self.slice *= 2.0;
            } else if took > PATIENCE {
                self.slice *= 0.5;
            }
            if checked.elapsed() > PATIENCE {
                if let Err(interrupt) = Python::attach(|py| py.check_signals()) {
                    self.is_interrupted = true;
                    return Err(Fault::Interrupted(interrupt));
                }
                checked = Instant::now();
            }
        }
    }
}

/// Arrays of a state: time, then position, quaternion, velocity, angular velocity, joint position and joint velocity, each flat.
type Arrays<'py> = (f64, [Bound<'py, PyArray1<f64>>; 6]);

/// Events with their kinds.
type Events<'py> = Vec<(&'static str, Bound<'py, PyAny>)>;

fn told<'py>(py: Python<'py>, events: &[SessionEvent]) -> PyResult<Events<'py>> {
    let one = |event: &SessionEvent| Ok((event.kind, to_python(py, &event.entry)?));
    events.iter().map(one).collect()
}

impl Session {
    fn new(session: named::Session) -> Self {
        let slice = session.time_step();
        let held = Held {
            session,
            events: Vec::new(),
            is_interrupted: false,
            slice,
        };
        Self {
            held: Mutex::new(held),
        }
    }

    /// Calls `act` with the session while the lock of the interpreter is released.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Held) -> Result<R, Fault> + Send,
    ) -> PyResult<R> {
        let done = py.detach(|| {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            act(&mut held)
        });
        done.map_err(|fault| match fault {
            Fault::Refused(error) => raised(py, &error),
            Fault::Interrupted(error) => error,
        })
    }

    /// Calls `act` with the session, and returns the events of the call.
    fn events_of<'py>(
        &self,
        py: Python<'py>,
        act: impl FnOnce(&mut Held) -> Result<(), Fault> + Send,
    ) -> PyResult<Events<'py>> {
        let events = self.with(py, |held| {
            act(held)?;
            Ok(held.events.clone())
        })?;
        told(py, &events)
    }
}

/// Returns rows of a flat array.
fn rows<const N: usize>(numbers: &[f64]) -> Vec<[f64; N]> {
    numbers.as_chunks::<N>().0.to_vec()
}

/// Starts a session of a world with a configuration as text or a dictionary, values by dotted key, and a seed.
#[pyfunction]
pub(crate) fn start(
    py: Python<'_>,
    config: &Bound<'_, PyAny>,
    set: &Bound<'_, PyDict>,
    seed: Option<u64>,
    record: bool,
) -> PyResult<Session> {
    let given = overrides(py, scenario(py, "world")?, config, set, seed)?;
    let started = py.detach(|| named::Session::start(&given, record));
    let started = started.map_err(|error| raised(py, &fault_of("world", &error)))?;
    Ok(Session::new(started))
}

/// Starts a session of a world with the configuration of another one, which goes on from its snapshot.
#[pyfunction]
pub(crate) fn resumed(
    py: Python<'_>,
    toml: String,
    assignments: Vec<String>,
    snapshot: &[u8],
) -> PyResult<Session> {
    let given = Overrides {
        toml,
        assignments,
        threads: 1,
        ..Overrides::default()
    };
    let started = py.detach(|| named::Session::start(&given, false));
    let session = Session::new(started.map_err(|error| raised(py, &fault_of("world", &error)))?);
    session.restore(py, snapshot)?;
    Ok(session)
}

#[pymethods]
impl Session {
    /// Returns the time (s) up to which all events are handled.
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |held| Ok(held.session.time()))
    }

    /// Returns the time step of the grid (s), and the duration of the world's run (s).
    fn spans(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        self.with(py, |held| {
            Ok((held.session.time_step(), held.session.duration()))
        })
    }

    /// Returns `running`, or the name of the ending.
    fn status(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.with(py, |held| Ok(held.session.status()))
    }

    /// Returns the error with which the run stopped.
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let error = self.with(py, |held| Ok(held.session.error()))?;
        error.map(|error| exception(py, &wire(&error))).transpose()
    }

    /// Returns the names of the bodies, and of the joint coordinates.
    fn names(&self, py: Python<'_>) -> PyResult<(Vec<String>, Vec<String>)> {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        self.with(py, |held| {
            let session = &held.session;
            Ok((owned(session.bodies()), owned(session.coordinates())))
        })
    }

    /// Advances to a time (s), and returns the events up to it.
    fn advance<'py>(&self, py: Python<'py>, time: f64) -> PyResult<Events<'py>> {
        self.events_of(py, |held| held.advance(time, false))
    }

    /// Advances to the `n`-th next line of the grid, but not beyond `most` (s), and returns the events up to it.
    fn step<'py>(&self, py: Python<'py>, n: usize, most: f64) -> PyResult<Events<'py>> {
        self.events_of(py, |held| {
            let line = held.session.line(n)?;
            held.advance(if line < most { line } else { most }, false)
        })
    }

    /// Advances to the next event, or to a time (s) if that is before it.
    fn next_event<'py>(&self, py: Python<'py>, until: f64) -> PyResult<Events<'py>> {
        self.events_of(py, |held| held.advance(until, true))
    }

    /// Returns the events of the last call.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Events<'py>> {
        self.events_of(py, |_| Ok(()))
    }

    /// Returns the state.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        let state = self.with(py, |held| Ok(held.session.state()?))?;
        let arrays = [
            state.position.concat(),
            state.quaternion.concat(),
            state.velocity.concat(),
            state.angular_velocity.concat(),
            state.joint_position,
            state.joint_velocity,
        ];
        let arrays = arrays.map(|numbers| PyArray1::from_vec(py, numbers));
        Ok((state.time, arrays))
    }

    /// Sets parts of the state: flat arrays of all bodies or joint coordinates, by their names.
    fn set_state(&self, py: Python<'_>, parts: HashMap<String, Vec<f64>>) -> PyResult<()> {
        let mut new = named::NewState::default();
        for (name, numbers) in parts {
            match name.as_str() {
                "position" => new.position = Some(rows(&numbers)),
                "quaternion" => new.quaternion = Some(rows(&numbers)),
                "velocity" => new.velocity = Some(rows(&numbers)),
                "angular_velocity" => new.angular_velocity = Some(rows(&numbers)),
                "joint_position" => new.joint_position = Some(numbers),
                _ => new.joint_velocity = Some(numbers),
            }
        }
        self.with(py, |held| Ok(held.session.set_state(&new)?))
    }

    /// Sets the velocity and the angular velocity of a body.
    fn set_velocity(
        &self,
        py: Python<'_>,
        body: &str,
        velocity: Option<[f64; 3]>,
        angular_velocity: Option<[f64; 3]>,
    ) -> PyResult<()> {
        self.with(py, |held| {
            Ok(held
                .session
                .set_velocity(body, velocity, angular_velocity)?)
        })
    }

    /// Sets a joint coordinate and its rate.
    fn set_joint(
        &self,
        py: Python<'_>,
        coordinate: &str,
        position: Option<f64>,
        rate: Option<f64>,
    ) -> PyResult<()> {
        self.with(py, |held| {
            Ok(held.session.set_joint(coordinate, position, rate)?)
        })
    }

    /// Applies an impulse to a body.
    fn impulse(
        &self,
        py: Python<'_>,
        body: &str,
        impulse: [f64; 3],
        at: Option<[f64; 3]>,
        moment: [f64; 3],
    ) -> PyResult<()> {
        self.with(py, |held| {
            Ok(held.session.impulse(body, impulse, at, moment)?)
        })
    }

    /// Sets the force on a body.
    fn force(&self, py: Python<'_>, body: &str, force: [f64; 3]) -> PyResult<()> {
        self.with(py, |held| Ok(held.session.set_force(body, force)?))
    }

    /// Sets the forces along all joint coordinates.
    fn control(&self, py: Python<'_>, forces: Vec<f64>) -> PyResult<()> {
        self.with(py, |held| Ok(held.session.set_control(&forces)?))
    }

    /// Sets the forces along some joint coordinates.
    fn control_of(&self, py: Python<'_>, forces: Vec<(String, f64)>) -> PyResult<()> {
        self.with(py, |held| Ok(held.session.set_control_of(&forces)?))
    }

    /// Sets the target of an actuator.
    fn target(&self, py: Python<'_>, coordinate: &str, value: f64) -> PyResult<()> {
        self.with(py, |held| Ok(held.session.set_target(coordinate, value)?))
    }

    /// Returns the lasting contacts.
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let contacts = self.with(py, |held| Ok(held.session.contacts()?))?;
        let contacts = contacts.into_iter().map(serde_json::Value::Object);
        to_python(py, &contacts.collect())
    }

    /// Returns the balance of the energy.
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let energy = self.with(py, |held| Ok(held.session.energy()?))?;
        to_python(py, &energy)
    }

    /// Returns a session that goes on independently.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |held| {
            Ok(Self {
                held: Mutex::new(held.clone()),
            })
        })
    }

    /// Returns a snapshot.
    fn snapshot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |held| Ok(held.session.snapshot()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Goes on from a snapshot.
    fn restore(&self, py: Python<'_>, snapshot: &[u8]) -> PyResult<()> {
        self.with(py, |held| {
            held.session.restore(snapshot)?;
            held.events.clear();
            held.is_interrupted = false;
            Ok(())
        })
    }

    /// Returns the text and the assignments from which `resumed` starts a session of this world.
    fn configuration(&self, py: Python<'_>) -> PyResult<(String, Vec<String>)> {
        self.with(py, |held| {
            let given = held.session.overrides();
            Ok((given.toml.clone(), given.assignments.clone()))
        })
    }

    /// Starts again, with another seed if it is given.
    fn reset(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<()> {
        self.with(py, |held| {
            held.session.reset(seed)?;
            held.events.clear();
            held.is_interrupted = false;
            Ok(())
        })
    }

    /// Ends the session, and returns its record.
    fn finish(&self, py: Python<'_>) -> PyResult<Record> {
        let record = self.with(py, |held| Ok(held.session.finish()?))?;
        Ok(Record::of(record))
    }
}
