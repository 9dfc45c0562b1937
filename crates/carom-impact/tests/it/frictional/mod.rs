//! Simultaneous frictional impact: the laws, their steps, samples and bounds.

mod bounds;
mod cones;
mod in_turn;
mod laws;
mod order;
mod painleve;
mod poisson;
mod properties;
mod refusals;
mod sampling;
mod steps;
