//! Integration tests of sweeps, one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod formulas;
mod own;
mod plans;
mod preview;
mod tables;
