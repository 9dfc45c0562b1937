//! Mechanisms in generalized coordinates.

mod motion;
mod sensitivity;
