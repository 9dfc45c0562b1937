//! Nonholonomic billiards.

mod common;
mod events;
mod penny;
mod properties;
mod sensitivity;
mod systems;
