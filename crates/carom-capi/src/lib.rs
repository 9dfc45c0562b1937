//! C interface of carom: lines of problems, complementarity problems, worlds and sessions; and the functions of FMI 2 and 3, which units
//! call that `carom export fmu` writes.
//!
//! The functions, with their rules, are those of `include/carom.h`, which `cargo xtask capi --bless` writes from this crate. They are made
//! for C, C++ and languages that call C; Rust programs use [`carom_scenarios::Session`] and [`carom_wire`].
//!
//! # Safety
//!
//! Each pointer is NULL, which is refused or does nothing, or points to what its function says: arrays of the told length, texts that end
//! with 0 or have the told length, handles from this library that are not freed. A handle is used by one thread at a time.
//!
//! # Examples
//!
//! ```
//! use carom_capi::{CaromStatus, carom_line};
//! use std::ffi::CStr;
//!
//! let line = r#"{"matrix": [[2.0]], "vector": [-1.0]}"#;
//! let mut answer = std::ptr::null_mut();
//! // SAFETY: the texts and the place of the answer are there.
//! let status = unsafe { carom_line(c"lcp".as_ptr(), line.as_ptr().cast(), line.len(), &mut answer) };
//! assert_eq!(status, CaromStatus::CaromOk);
//! // SAFETY: an answer ends with 0.
//! assert!(unsafe { CStr::from_ptr(answer) }.to_str()?.contains(r#""z":[0.5]"#));
//! // SAFETY: the answer is freed once.
//! unsafe { carom_capi::carom_free(answer.cast()) };
//! # Ok::<(), std::str::Utf8Error>(())
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
// It is told once, for all functions, above.
#![allow(clippy::missing_safety_doc)]

mod component;
mod fmi2;
mod fmi3;
mod line;
mod memory;
mod pointer;
mod session;
mod status;
mod world;

pub use line::{carom_lcp, carom_line};
pub use memory::carom_free;
pub use session::{
    CAROM_ESTABLISHED, CAROM_IMPACT, CAROM_MODE, CAROM_NONE, CAROM_RELEASED, CaromEvent,
    carom_advance, carom_impulse, carom_next_event, carom_restore, carom_set_body,
    carom_set_control, carom_set_force, carom_snapshot, carom_state, carom_time,
};
pub use status::{CaromStatus, carom_error, carom_version};
pub use world::{
    CaromSession, CaromWorld, carom_body, carom_coordinate, carom_copy, carom_n_bodies,
    carom_n_coordinates, carom_session_free, carom_start, carom_world_free, carom_world_read,
};

// Re-exported because its types are named in the documentation.
pub use carom_fmi;
pub use carom_scenarios;
pub use carom_wire;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
