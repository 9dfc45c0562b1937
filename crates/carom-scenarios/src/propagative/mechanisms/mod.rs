//! Mechanisms in generalized coordinates, simulated by the variational collision integrator.

pub(crate) mod elastic_ball;
pub(crate) mod pendulum_cradle;
mod report;
pub(crate) mod tilted_block;
pub(crate) mod wall_pendulum;
