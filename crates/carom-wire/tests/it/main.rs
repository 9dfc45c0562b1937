//! Integration tests of the JSON forms, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod derivatives;
mod refused;
mod round_cones;
mod trace;
