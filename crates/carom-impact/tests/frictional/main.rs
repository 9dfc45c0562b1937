//! Simultaneous frictional impact: the laws, their steps, samples and bounds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bounds;
mod inclusion;
mod laws;
mod painleve;
mod properties;
mod sampling;
mod steps;
mod systems;
