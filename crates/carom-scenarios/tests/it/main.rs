//! What the scenarios must show.
#![allow(clippy::unwrap_used)]

mod animations;
mod configuration;
mod tail_runner;
