//! One rigid body above a plane.

mod collisions;
mod common;
mod convergence;
mod discrete_path;
mod impacts;
mod rest;
mod sensitivity;
