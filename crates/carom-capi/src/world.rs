//! Worlds and sessions: handles, numbers and names.

use crate::pointer::{Place, text, thing, word};
use crate::status::{CaromStatus, Refusal, call, look};
use carom_scenarios::{Overrides, ScenarioError, Session};
use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// World that was read.
pub struct CaromWorld {
    /// Session at its start, of which each session is a copy.
    start: Session,
}

/// Run of a world that goes on from call to call.
pub struct CaromSession {
    session: Mutex<Session>,
    bodies: Vec<CString>,
    coordinates: Vec<CString>,
}

impl From<ScenarioError> for Refusal {
    fn from(error: ScenarioError) -> Self {
        let message = error.to_string();
        match error {
            ScenarioError::Session(error) => error.into(),
            error if error.is_configuration() => {
                Self::new(CaromStatus::CaromInvalid, "invalid-configuration", message)
            }
            _ => Self::new(CaromStatus::CaromFailed, "not-solved", message),
        }
    }
}

/// Returns names as C has them.
fn names(names: &[&str]) -> Result<Vec<CString>, Refusal> {
    let with_end = |name: &&str| {
        CString::new(*name).map_err(|_| Refusal::invalid(format!("the name {name:?} has a byte 0")))
    };
    names.iter().map(with_end).collect()
}

impl CaromSession {
    fn new(session: Session) -> Result<Self, Refusal> {
        Ok(Self {
            bodies: names(&session.bodies())?,
            coordinates: names(&session.coordinates())?,
            session: Mutex::new(session),
        })
    }

    /// Returns the session for a call.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn n_coordinates(&self) -> usize {
        self.coordinates.len()
    }
}

/// Reads a world: a configuration in TOML of `length` bytes. `folder` is that of the files that the text names, or NULL for the current one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_world_read(
    toml: *const c_char,
    length: usize,
    folder: *const c_char,
    world: *mut *mut CaromWorld,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (toml, world) = unsafe { (text(toml, length, "toml")?, Place::new(world, "world")?) };
        let folder = if folder.is_null() {
            None
        } else {
            // SAFETY: the rules of the interface.
            Some(unsafe { word(folder, "folder") }?)
        };
        let overrides = Overrides {
            toml: toml.to_owned(),
            folder: folder.map(Into::into),
            ..Overrides::default()
        };
        let start = Session::start(&overrides, false)?;
        names(&start.bodies())?;
        names(&start.coordinates())?;
        world.put(Box::into_raw(Box::new(CaromWorld { start })));
        Ok(())
    })
}

/// Frees a world. Its sessions go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_world_free(world: *mut CaromWorld) {
    look((), || {
        if !world.is_null() {
            // SAFETY: worlds are made by `carom_world_read`, and freed once.
            drop(unsafe { Box::from_raw(world) });
        }
    });
}

/// Starts a session, which outlives its world.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_start(
    world: *const CaromWorld,
    session: *mut *mut CaromSession,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (world, place) = unsafe { (thing(world, "world")?, Place::new(session, "session")?) };
        let session = CaromSession::new(world.start.clone())?;
        place.put(Box::into_raw(Box::new(session)));
        Ok(())
    })
}

/// Copies a session; both go on independently.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_copy(
    session: *const CaromSession,
    copy: *mut *mut CaromSession,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (session, copy) = unsafe { (thing(session, "session")?, Place::new(copy, "copy")?) };
        let session = session.lock().clone();
        copy.put(Box::into_raw(Box::new(CaromSession::new(session)?)));
        Ok(())
    })
}

/// Frees a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_session_free(session: *mut CaromSession) {
    look((), || {
        if !session.is_null() {
            // SAFETY: sessions are made by `carom_start` and `carom_copy`, and freed once.
            drop(unsafe { Box::from_raw(session) });
        }
    });
}

/// Number of bodies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_n_bodies(session: *const CaromSession) -> usize {
    look(0, || {
        // SAFETY: the rules of the interface.
        unsafe { session.as_ref() }.map_or(0, |s| s.bodies.len())
    })
}

/// Number of joint coordinates, those of spherical joints left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_n_coordinates(session: *const CaromSession) -> usize {
    look(0, || {
        // SAFETY: the rules of the interface.
        unsafe { session.as_ref() }.map_or(0, CaromSession::n_coordinates)
    })
}

fn name(names: &[CString], index: usize) -> *const c_char {
    names.get(index).map_or(ptr::null(), |name| name.as_ptr())
}

/// Name of a body, which lives as long as the session; NULL beyond the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_body(session: *const CaromSession, body: usize) -> *const c_char {
    look(ptr::null(), || {
        // SAFETY: the rules of the interface.
        unsafe { session.as_ref() }.map_or(ptr::null(), |s| name(&s.bodies, body))
    })
}

/// Name of a joint coordinate, which lives as long as the session; NULL beyond the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_coordinate(
    session: *const CaromSession,
    coordinate: usize,
) -> *const c_char {
    look(ptr::null(), || {
        // SAFETY: the rules of the interface.
        unsafe { session.as_ref() }.map_or(ptr::null(), |s| name(&s.coordinates, coordinate))
    })
}
