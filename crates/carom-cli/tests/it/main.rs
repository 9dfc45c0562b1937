//! Integration tests of the command line, one binary: linking is most of what a test binary costs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod analyse;
mod cli;
mod common;
mod data;
mod documents;
mod fit;
mod hostile;
#[cfg(unix)]
mod interrupt;
mod joint_limits;
mod joints;
mod judge;
mod laws;
mod layouts;
mod models;
mod protocol;
mod simultaneous;
mod statics;
mod sweep;
#[cfg(target_os = "linux")]
mod terminal;
mod urdf;
mod usage;
mod verdicts;
mod worlds;
