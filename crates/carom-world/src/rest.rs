//! Rest: bodies in lasting contact that stand still stay exactly where they are.
//!
//! Rest is declared by forces: impulses inside the cones of friction balance the loads at all contacts, and no velocity is left
//! that is not rounding. Velocities are then set to zero, and stay so until something hits or a load changes.

use carom_variational::{RigidBody, State};
use nalgebra::Vector3;

/// Speed of a body that stands still, as a fraction of the speed that gravity gives it within the step.
pub(crate) const STANDS: f64 = 1e-8;

/// Displacement within a step that counts as rounding, as a fraction of the size of the body plus the distance from the origin.
const STAYS: f64 = 16.0 * f64::EPSILON;

/// Speed that counts as rounding, as a fraction of the speed that all impulses together would give the lightest body.
const SUMMED: f64 = 64.0 * f64::EPSILON;

/// Loads of bodies that may rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loads {
    /// Length of the step (s).
    length: f64,
    /// Rounding of the speed of a body whose contacts are at rest (m/s).
    rounding: f64,
}

impl Loads {
    /// Describes the loads of bodies with the given `masses` (kg) in a step of `length` (s), from the `impulses` of its contacts
    /// (N s).
    pub(crate) fn new<'i>(
        masses: impl Iterator<Item = f64>,
        impulses: impl Iterator<Item = &'i f64>,
        length: f64,
    ) -> Self {
        let lightest = masses.fold(f64::INFINITY, f64::min);
        let all: f64 = impulses.map(|impulse| impulse.abs()).sum();
        Self {
            length,
            rounding: SUMMED * all / lightest,
        }
    }

    /// Returns the rounding of the speed of a body whose contacts are at rest (m/s).
    pub(crate) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// Returns true if a body moves at the start and at the end of the step, and between them, by no more than rounding error.
    /// `size`: length (m) that turns its rates of rotation into speeds.
    pub(crate) fn keep(&self, rigid: &RigidBody, [before, after]: [&State; 2], size: f64) -> bool {
        let place = STAYS * (size + before.position.amax()) + self.rounding * self.length;
        let speed = |state: &State| {
            let spin = rigid.angular_velocity(&state.angular_momentum).amax();
            (state.linear_momentum.amax() / rigid.mass()).max(spin * size)
        };
        (after.position - before.position).amax() <= place
            && speed(before) <= self.rounding
            && speed(after) <= self.rounding
    }
}

/// Adds the impulse that takes the momentum `left` (N s) from bodies that rest, a rounding error, to the contact that presses most
/// against what does not move. `frames`: normal and tangents of the contacts; `supports`: those against fixed things; `impulses`:
/// three entries for each contact (N s).
pub(crate) fn take_up(
    left: &Vector3<f64>,
    frames: &[[Vector3<f64>; 3]],
    supports: impl Iterator<Item = usize>,
    impulses: &mut [f64],
) {
    let normal = |c: &usize| impulses.get(3 * c).copied().unwrap_or_default();
    let most = supports.max_by(|a, b| normal(a).total_cmp(&normal(b)));
    let frame = most.and_then(|c| Some((frames.get(c)?, impulses.get_mut(3 * c..3 * c + 3)?)));
    if let Some((frame, impulse)) = frame {
        for (l, direction) in impulse.iter_mut().zip(frame) {
            *l -= direction.dot(left);
        }
    }
}

/// Returns the state without its velocities.
pub(crate) fn stopped(state: &State) -> State {
    State {
        linear_momentum: Vector3::zeros(),
        angular_momentum: Vector3::zeros(),
        ..*state
    }
}
