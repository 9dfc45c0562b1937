//! Integration tests of carom-joints, one binary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod friction;
mod independent;
mod robots;
mod rows;
mod series;
mod steps;
