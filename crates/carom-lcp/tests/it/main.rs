//! Integration tests of carom-lcp, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod classic;
mod common;
mod companions;
mod contact_problem;
mod decisions;
mod families;
mod robustness;
mod scenes;
mod verdicts;
