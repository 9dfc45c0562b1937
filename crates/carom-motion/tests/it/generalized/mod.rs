//! Mechanisms in generalized coordinates.

mod clearance;
mod constrained;
mod models;
mod motion;
mod sensitivity;
