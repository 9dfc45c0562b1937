//! Simultaneous frictional impact: the laws, their steps, samples and bounds.

mod bounds;
mod inclusion;
mod laws;
mod painleve;
mod properties;
mod sampling;
mod steps;
pub mod systems;
