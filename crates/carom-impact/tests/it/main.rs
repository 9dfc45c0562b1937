//! Integration tests of carom-impact, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod conservation;
mod derivative;
mod derivative_adjoint;
mod derivative_relations;
mod frictional;
mod judge;
#[cfg(feature = "bounds")]
mod judge_bounds;
mod judge_relations;
mod judge_set;
mod laws;
mod nonholonomic;
mod plastic;
mod propagative;
mod properties;
mod relations;
mod snapshots;
mod two_body;
mod verdicts;
