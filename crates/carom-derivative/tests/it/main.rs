//! Integration tests of carom-derivative, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adjoint;
mod classes;
mod jacobians;
mod relations;
#[path = "../../../carom-impact/tests/support/mod.rs"]
mod support;
