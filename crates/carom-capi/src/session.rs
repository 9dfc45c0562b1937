//! Sessions: time, events, states, inputs, snapshots.

use crate::memory::given;
use crate::pointer::{Place, array, numbers, thing};
use crate::status::{CaromStatus, Refusal, call, look};
use crate::world::CaromSession;
use carom_scenarios::carom_world::SessionError;
use carom_scenarios::{NewState, Session, SessionContact, SessionEvent};
use std::ffi::{c_int, c_uchar};

/// No event.
pub const CAROM_NONE: c_int = 0;
/// An impact at one or several contacts.
pub const CAROM_IMPACT: c_int = 1;
/// A contact becomes a lasting contact.
pub const CAROM_ESTABLISHED: c_int = 2;
/// A lasting contact begins to slide or to stick.
pub const CAROM_MODE: c_int = 3;
/// A lasting contact opens.
pub const CAROM_RELEASED: c_int = 4;

/// Event of a run.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaromEvent {
    /// One of CAROM_NONE, CAROM_IMPACT, CAROM_ESTABLISHED, CAROM_MODE, CAROM_RELEASED.
    pub kind: c_int,
    /// Time (s).
    pub time: f64,
    /// Index of the first body; of a limit: that of the coordinate.
    pub first: usize,
    /// Index of the other body or plane, bodies are counted first; of a limit: 0 lower or 1 upper.
    pub second: usize,
    /// Impulse on `first` (N s) of an impact, at several contacts of the first of them; of a limit: that along the coordinate, 0, 0.
    pub impulse: [f64; 3],
}

impl CaromEvent {
    fn none(time: f64) -> Self {
        Self {
            kind: CAROM_NONE,
            time,
            first: usize::MAX,
            second: usize::MAX,
            impulse: [0.0; 3],
        }
    }

    fn of(event: &SessionEvent) -> Self {
        let (first, second) = match event.contact {
            Some(SessionContact::Pair { first, second }) => (first, second),
            Some(SessionContact::Limit { coordinate, upper }) => (coordinate, usize::from(upper)),
            _ => (usize::MAX, usize::MAX),
        };
        Self {
            kind: match event.kind {
                "impact" => CAROM_IMPACT,
                "established" => CAROM_ESTABLISHED,
                "mode" => CAROM_MODE,
                "released" => CAROM_RELEASED,
                _ => CAROM_NONE,
            },
            time: event.time,
            first,
            second,
            impulse: event.impulse,
        }
    }
}

/// Returns the name of a body.
fn body_name(session: &Session, body: usize) -> Result<String, SessionError> {
    let names = session.bodies();
    let n_bodies = names.len();
    let name = names.get(body).map(|name| (*name).to_owned());
    name.ok_or(SessionError::UnknownBody { body, n_bodies })
}

/// Time up to which all events are handled (s); NaN for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_time(session: *const CaromSession) -> f64 {
    look(f64::NAN, || {
        // SAFETY: the rules of the interface.
        unsafe { session.as_ref() }.map_or(f64::NAN, |s| s.lock().time())
    })
}

/// Advances to a time (s): handles all events up to it, and writes their number unless `events` is NULL. A run that stops gives
/// CAROM_FAILED, at every further call, too; after another ending nothing happens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_advance(
    session: *mut CaromSession,
    time: f64,
    events: *mut usize,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let mut session = unsafe { thing(session, "session") }?.lock();
        let number = session.advance_to(time)?.len();
        // SAFETY: the rules of the interface.
        if let Ok(place) = unsafe { Place::new(events, "events") } {
            place.put(number);
        }
        Ok(())
    })
}

/// Advances to the first event up to `until` (s), or to `until` (CAROM_NONE).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_next_event(
    session: *mut CaromSession,
    until: f64,
    event: *mut CaromEvent,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (session, place) = unsafe { (thing(session, "session")?, Place::new(event, "event")?) };
        let mut session = session.lock();
        let event = session.next_event(until)?.map(CaromEvent::of);
        place.put(event.unwrap_or_else(|| CaromEvent::none(session.time())));
        Ok(())
    })
}

/// Writes the state at the present time. `bodies`: 13 numbers for each, x y z qw qx qy qz vx vy vz wx wy wz; `coordinates`: all positions, then
/// all rates. Each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_state(
    session: *const CaromSession,
    bodies: *mut f64,
    coordinates: *mut f64,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let state = unsafe { thing(session, "session") }?.lock().state()?;
        // SAFETY: the rules of the interface.
        if let Ok(place) = unsafe { Place::new(bodies, "bodies") } {
            let one = |b: usize| {
                let (position, velocity) = (state.position[b], state.velocity[b]);
                let (quaternion, spin) = (state.quaternion[b], state.angular_velocity[b]);
                [&position[..], &quaternion, &velocity, &spin].concat()
            };
            let all: Vec<f64> = (0..state.position.len()).flat_map(one).collect();
            place.put_all(&all);
        }
        // SAFETY: the rules of the interface.
        if let Ok(place) = unsafe { Place::new(coordinates, "coordinates") } {
            place.put_all(&[state.joint_position, state.joint_velocity].concat());
        }
        Ok(())
    })
}

/// Sets the state of a body, which its joints must allow, in the order of `carom_state`; time and other bodies stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_set_body(
    session: *mut CaromSession,
    body: usize,
    state13: *const f64,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (session, numbers) = unsafe { (thing(session, "session")?, numbers::<13>(state13)) };
        let [x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz] =
            numbers.ok_or_else(|| Refusal::null("state13"))?;
        let mut session = session.lock();
        body_name(&session, body)?;
        let mut now = session.state()?;
        now.position[body] = [x, y, z];
        now.quaternion[body] = [qw, qx, qy, qz];
        now.velocity[body] = [vx, vy, vz];
        now.angular_velocity[body] = [wx, wy, wz];
        let mut new = NewState::default();
        new.position = Some(now.position);
        new.quaternion = Some(now.quaternion);
        new.velocity = Some(now.velocity);
        new.angular_velocity = Some(now.angular_velocity);
        session.set_state(&new).map_err(|error| match error {
            // Else the run stopped with the new state.
            error if session.error().is_none() => Refusal::of_argument(&error),
            error => error.into(),
        })
    })
}

/// Sets force (N) and torque (N m) on a body, in space, at its center of mass; both are held until set again. NULL: zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_set_force(
    session: *mut CaromSession,
    body: usize,
    force3: *const f64,
    torque3: *const f64,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (session, force, torque) = unsafe {
            (
                thing(session, "session")?,
                numbers::<3>(force3).unwrap_or_default(),
                numbers::<3>(torque3).unwrap_or_default(),
            )
        };
        let mut session = session.lock();
        let name = body_name(&session, body)?;
        if let Some(value) = torque.into_iter().find(|x| !x.is_finite()) {
            return Err(SessionError::NonFiniteInput { value }.into());
        }
        if torque != [0.0; 3] {
            let message = "a torque that is held is not supported".to_owned();
            return Err(Refusal::new(
                CaromStatus::CaromInvalid,
                "not-supported",
                message,
            ));
        }
        Ok(session.set_force(&name, force)?)
    })
}

/// Applies an impulse (N s) to a body, at a point in space (m); NULL: at its center of mass.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_impulse(
    session: *mut CaromSession,
    body: usize,
    impulse3: *const f64,
    at3: *const f64,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (session, impulse, at) = unsafe {
            (
                thing(session, "session")?,
                numbers::<3>(impulse3),
                numbers::<3>(at3),
            )
        };
        let impulse = impulse.ok_or_else(|| Refusal::null("impulse3"))?;
        let mut session = session.lock();
        let name = body_name(&session, body)?;
        Ok(session.impulse(&name, impulse, at, [0.0; 3])?)
    })
}

/// Sets the forces along all joint coordinates (N m or N), on top of the actuators; they are held until set again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_set_control(
    session: *mut CaromSession,
    forces: *const f64,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let session = unsafe { thing(session, "session") }?;
        // SAFETY: the rules of the interface.
        let forces = unsafe { array(forces, session.n_coordinates(), "forces") }?;
        Ok(session.lock().set_control(forces)?)
    })
}

/// Writes a snapshot: all that the future of the session depends on. It is freed by `carom_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_snapshot(
    session: *const CaromSession,
    bytes: *mut *mut c_uchar,
    length: *mut usize,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (session, bytes, length) = unsafe {
            (
                thing(session, "session")?,
                Place::new(bytes, "bytes")?,
                Place::new(length, "length")?,
            )
        };
        let snapshot = session.lock().snapshot();
        bytes.put(given(&snapshot)?);
        length.put(snapshot.len());
        Ok(())
    })
}

/// Goes on from a snapshot of another session of this world.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn carom_restore(
    session: *mut CaromSession,
    bytes: *const c_uchar,
    length: usize,
) -> CaromStatus {
    call(|| {
        // SAFETY: the rules of the interface.
        let (session, snapshot) =
            unsafe { (thing(session, "session")?, array(bytes, length, "bytes")?) };
        Ok(session.lock().restore(snapshot)?)
    })
}
