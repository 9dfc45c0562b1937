//! Removal of overlaps that the rotation of bodies causes: a small share of each overlap in every step.

use super::contact::Contact;
use super::tolerances::{PROJECTED, PROJECTION_PASSES, SHALLOW};
use crate::body::Velocity;
use crate::rows::Rows;
use crate::spec::World;
use carom_lie::So3;
use carom_variational::State;
use nalgebra::Vector3;

/// Moves apart bodies that overlapped at the middle of the step, by a share of the overlap. The displacements are proportional to
/// the velocities that impulses along the contact normals would cause, and are chosen such that no other contact point begins to
/// overlap. Returns the potential energy that the displacements add (J). `rows`: Jacobian rows of the contacts.
pub(super) fn part(world: &World, contacts: &[&Contact], rows: &Rows, states: &mut [State]) -> f64 {
    let is_deep = |contact: &&&Contact| {
        contact.point.gap < -(SHALLOW * contact.size + contact.spring.deflection)
    };
    if contacts.iter().find(is_deep).is_none() {
        return 0.0;
    }
    let still = Velocity {
        linear: Vector3::zeros(),
        angular: Vector3::zeros(),
    };
    let mut moved = vec![still; states.len()];
    let mut given = vec![0.0; contacts.len()];
    for _ in 0..PROJECTION_PASSES {
        for (c, contact) in contacts.iter().enumerate() {
            let gap = contact.point.gap;
            let wanted = if is_deep(&contact) {
                -PROJECTED * (gap + contact.spring.deflection)
            } else {
                -gap.max(0.0)
            };
            let mobility = rows.mobility_entry(3 * c, 3 * c);
            if !(mobility > 0.0) {
                continue;
            }
            let missing = (wanted - rows.opening(c, &moved)) / mobility;
            let impulse = missing.max(-given[c]);
            given[c] += impulse;
            rows.part(c, impulse, &mut moved);
        }
    }
    let mut energy = 0.0;
    for ((body, state), by) in world.bodies.iter().zip(states).zip(&moved) {
        let Some(rigid) = &body.rigid else { continue };
        if *by == still {
            continue;
        }
        let before = state.position;
        state.position += by.linear;
        if by.angular != Vector3::zeros() {
            state.rotation = state.rotation.compose(&So3::exp(&by.angular));
        }
        energy -= rigid.mass() * world.flights.pull(body).dot(&(state.position - before));
    }
    energy
}
