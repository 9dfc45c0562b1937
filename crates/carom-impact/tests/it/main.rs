//! Integration tests of carom-impact, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod frictional;
mod laws;
mod nonholonomic;
mod plastic;
mod propagative;
mod properties;
mod relations;
mod snapshots;
#[path = "../support/mod.rs"]
mod support;
mod two_body;
mod verdicts;
