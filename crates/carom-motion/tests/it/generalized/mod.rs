//! Mechanisms in generalized coordinates.

mod clearance;
mod constrained;
mod motion;
mod sensitivity;
