//! Mechanisms in generalized coordinates.

mod clearance;
mod motion;
mod sensitivity;
