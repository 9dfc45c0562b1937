//! Integration tests of carom-contact, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod conservation;
mod contacts;
mod digits;
mod gate;
