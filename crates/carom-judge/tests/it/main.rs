//! Integration tests of carom-judge, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(feature = "bounds")]
mod agreement;
mod answers;
#[cfg(feature = "bounds")]
mod bounds;
mod faults;
#[cfg(feature = "bounds")]
mod outer_bounds;
mod relations;
mod set;
#[path = "../../../carom-impact/tests/support/mod.rs"]
mod support;
mod verdicts;
