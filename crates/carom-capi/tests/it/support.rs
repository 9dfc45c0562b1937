//! Handles that free themselves, and worlds.

use carom_capi::{
    CaromEvent, CaromSession, CaromStatus, CaromWorld, carom_advance, carom_copy, carom_error,
    carom_free, carom_line, carom_next_event, carom_session_free, carom_snapshot, carom_start,
    carom_state, carom_world_free, carom_world_read,
};
use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

pub(crate) const OK: CaromStatus = CaromStatus::CaromOk;
pub(crate) const INVALID: CaromStatus = CaromStatus::CaromInvalid;
pub(crate) const FAILED: CaromStatus = CaromStatus::CaromFailed;

/// Acceleration of gravity of the scenario `world` (m/s²).
pub(crate) const G: f64 = 9.80665;

pub(crate) const BOX: &str = r#"
duration = 1.0
contact = { friction = 0.3, restitution = 0.2 }
planes = [{ name = "floor", normal = [0.0, 0.0, 1.0] }]
[[bodies]]
name = "box"
mass = 2.0
shape = { type = "box", half_extents = [0.2, 0.15, 0.1] }
position = [0.0, 0.0, 1.1]
[[bodies]]
name = "ball"
mass = 1.0
shape = { type = "sphere", radius = 0.1 }
position = [2.0, 0.0, 0.7]
velocity = [0.3, 0.0, 0.0]
"#;

pub(crate) const HINGE: &str = r#"
duration = 0.6
contact = { friction = 0.3, restitution = 0.5 }
[[bodies]]
name = "rod"
mass = 2.0
inertia = [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.15]]
[[joints]]
name = "hinge"
type = "revolute"
child = "rod"
axis = [0.0, 1.0, 0.0]
child_frame = { position = [0.0, 0.0, 0.5] }
position = 1.2
limits = { lower = 0.6, upper = 2.0, restitution = 0.5 }
"#;

/// World that frees itself.
pub(crate) struct World(pub(crate) *mut CaromWorld);

impl World {
    pub(crate) fn new(toml: &str) -> Self {
        let mut world = null_mut();
        // SAFETY: text and place are there.
        let status =
            unsafe { carom_world_read(toml.as_ptr().cast(), toml.len(), null(), &mut world) };
        assert_eq!(status, OK, "{}", failure());
        Self(world)
    }

    pub(crate) fn start(&self) -> Session {
        let mut session = null_mut();
        // SAFETY: the world is not freed.
        let status = unsafe { carom_start(self.0, &mut session) };
        assert_eq!(status, OK, "{}", failure());
        Session(session)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: freed once.
        unsafe { carom_world_free(self.0) };
    }
}

/// Session that frees itself.
pub(crate) struct Session(pub(crate) *mut CaromSession);

// SAFETY: a session is used by one thread at a time.
unsafe impl Send for Session {}

impl Clone for Session {
    fn clone(&self) -> Self {
        let mut copy = null_mut();
        // SAFETY: the session is not freed.
        assert_eq!(unsafe { carom_copy(self.0, &mut copy) }, OK);
        Self(copy)
    }
}

impl Session {
    pub(crate) fn advance(&self, time: f64) -> usize {
        let mut events = 0;
        // SAFETY: the session is not freed.
        let status = unsafe { carom_advance(self.0, time, &mut events) };
        assert_eq!(status, OK, "{}", failure());
        events
    }

    pub(crate) fn next_event(&self, until: f64) -> CaromEvent {
        let mut event = std::mem::MaybeUninit::uninit();
        // SAFETY: the event is written where the call is fine.
        unsafe {
            let status = carom_next_event(self.0, until, event.as_mut_ptr());
            assert_eq!(status, OK, "{}", failure());
            event.assume_init()
        }
    }

    /// State of the bodies, and of one coordinate.
    pub(crate) fn state<const B: usize>(&self) -> ([[f64; 13]; B], [f64; 2]) {
        let (mut bodies, mut coordinates) = ([[0.0; 13]; B], [0.0; 2]);
        // SAFETY: the arrays have room for the worlds of these tests.
        let status =
            unsafe { carom_state(self.0, bodies.as_mut_ptr().cast(), coordinates.as_mut_ptr()) };
        assert_eq!(status, OK, "{}", failure());
        (bodies, coordinates)
    }

    pub(crate) fn snapshot(&self) -> Vec<u8> {
        let (mut bytes, mut length) = (null_mut(), 0);
        // SAFETY: bytes and length are there, and freed once.
        unsafe {
            assert_eq!(carom_snapshot(self.0, &mut bytes, &mut length), OK);
            let copy = std::slice::from_raw_parts(bytes, length).to_vec();
            carom_free(bytes.cast());
            copy
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: freed once.
        unsafe { carom_session_free(self.0) };
    }
}

/// The last failure of this thread.
pub(crate) fn failure() -> String {
    // SAFETY: the text ends with 0 and stays until the next call.
    unsafe { CStr::from_ptr(carom_error()) }
        .to_str()
        .unwrap()
        .to_owned()
}

/// The kind of the last failure of this thread.
pub(crate) fn kind() -> String {
    let failure = failure();
    let rest = failure.strip_prefix(r#"{"kind":""#).unwrap_or_default();
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// The answer to a line.
pub(crate) fn line(command: &CStr, line: &str) -> String {
    let mut answer: *mut c_char = null_mut();
    // SAFETY: the texts are there, and the answer is freed once.
    unsafe {
        let status = carom_line(
            command.as_ptr(),
            line.as_ptr().cast(),
            line.len(),
            &mut answer,
        );
        assert_eq!(status, OK, "{}", failure());
        let text = CStr::from_ptr(answer).to_str().unwrap().to_owned();
        carom_free(answer.cast());
        text
    }
}
