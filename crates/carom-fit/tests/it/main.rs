//! Impacts found in poses and laws fitted to them, against known truth and measured tosses.
#![allow(clippy::unwrap_used, clippy::panic)]

mod campaign;
mod check;
mod common;
mod fitted;
mod invariance;
mod measured;
mod reading;
mod synthetic;
mod systems;
mod truth;
