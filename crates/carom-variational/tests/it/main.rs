//! Integration tests of carom-variational, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod collisions;
mod common;
mod convergence;
mod discrete_path;
mod embedding;
mod flight;
mod generalized;
mod impacts;
mod mechanism_sensitivity;
mod sensitivity;
