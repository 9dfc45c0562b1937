//! Tests of the scenarios.
#![allow(clippy::unwrap_used)]

mod accounts;
mod animations;
mod configuration;
mod constrained;
mod contact_forces;
mod forces;
mod joint_steps;
mod landing;
mod lasting;
mod motion;
mod sessions;
mod snapshots;
mod springs;
mod standing;
mod tail_runner;
mod told;
mod two_body;
