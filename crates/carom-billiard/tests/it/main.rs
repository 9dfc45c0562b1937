//! Integration tests of carom-billiard, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod events;
mod penny;
mod properties;
mod sensitivity;
mod systems;
