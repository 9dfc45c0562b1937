//! Orbits of systems with impacts against closed forms and independent solutions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod orbits;
mod systems;
