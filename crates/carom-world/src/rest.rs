//! Rest: bodies in lasting contact that stand still stay exactly where they are.
//!
//! Rest is declared by forces: impulses inside the cones of friction balance the loads at all contacts, and no velocity is left
//! that is not rounding. Velocities are then set to zero, and stay so until something hits or a load changes.

use carom_variational::{RigidBody, State};
use nalgebra::Vector3;

/// Speed at the start of a step below which a body can rest, as a fraction of the speed of free fall over the step.
const RESTS: f64 = 1e-8;

/// Displacement within a step that counts as rounding, as a fraction of the size of the body plus the distance from the origin.
const STANDS: f64 = 16.0 * f64::EPSILON;

/// Returns true if a body moves at the start of a step of `length` (s) by no more than the rest threshold, and at its end by no
/// more than rounding error. `size`: length (m) that turns its rates of rotation into speeds; `gravity` in m/s².
pub(crate) fn stays(
    rigid: &RigidBody,
    [before, after]: [&State; 2],
    size: f64,
    gravity: f64,
    length: f64,
) -> bool {
    let rounding = STANDS * (size + before.position.amax());
    let speed = |state: &State| {
        let spin = rigid.angular_velocity(&state.angular_momentum).amax();
        (state.linear_momentum.amax() / rigid.mass()).max(spin * size)
    };
    (after.position - before.position).amax() <= rounding
        && speed(before) <= RESTS * gravity * length + rounding / length
        && speed(after) <= rounding / length
}

/// Returns the state without its velocities.
pub(crate) fn stopped(state: &State) -> State {
    State {
        linear_momentum: Vector3::zeros(),
        angular_momentum: Vector3::zeros(),
        ..*state
    }
}
