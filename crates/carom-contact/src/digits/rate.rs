//! Velocities of rows after an impact, and the sliding of a contact, as its velocities and friction impulses tell it.

use super::UNIT;
use std::borrow::Cow;

/// Part of the friction limit above which a friction impulse is at the limit: at a vertex of a friction polygon.
pub(super) const AT_LIMIT: f64 = 1.0 - 1e-9;

/// Sliding velocity below which its direction is rounding, as a fraction of the terms that it is the sum of.
const NO_DIRECTION: f64 = 64.0 * UNIT;

/// A row, its velocity after an impact, and the size of the rounding error of that; in units of the row times its power of two.
pub(super) struct Rate<'p> {
    pub(super) given: &'p [f64],
    /// Power of two that brings the row to about unit length.
    pub(super) scale: f64,
    /// Whitened row of unit length.
    pub(super) unit: Cow<'p, [f64]>,
    /// Length of the whitened row.
    pub(super) length: f64,
    pub(super) impulse: f64,
    pub(super) after: f64,
    pub(super) rounding: f64,
    /// Velocity that the reduction to the motion which contacts see has lost.
    pub(super) hidden: f64,
}

impl Rate<'_> {
    /// Error of the velocity after the impact.
    pub(super) fn uncertainty(&self) -> f64 {
        self.rounding + self.hidden
    }
}

/// Velocity and friction impulse of a contact along its tangents, in the caller's units.
pub(super) struct Slip {
    /// Unit vector of the sliding velocity.
    pub(super) along: [f64; 2],
    pub(super) speed: f64,
    rounding: f64,
    friction: f64,
    /// Largest friction impulse.
    pub(super) most: f64,
}

impl Slip {
    pub(super) fn new(tangents: &[Rate<'_>], most: f64) -> Self {
        let (mut velocity, mut impulse, mut rounding) = ([0.0; 2], [0.0; 2], 0.0f64);
        for (k, rate) in tangents.iter().enumerate().take(2) {
            velocity[k] = rate.after / rate.scale;
            impulse[k] = rate.impulse * rate.scale;
            rounding = rounding.max(rate.uncertainty() / rate.scale);
        }
        let speed = libm::hypot(velocity[0], velocity[1]);
        Self {
            along: velocity.map(|v| v / speed),
            speed,
            rounding,
            friction: libm::hypot(impulse[0], impulse[1]),
            most,
        }
    }

    pub(super) fn has_direction(&self) -> bool {
        self.speed > NO_DIRECTION / UNIT * self.rounding
    }

    /// True if the friction impulse of a polygon is at a vertex.
    pub(super) fn is_at_vertex(&self) -> bool {
        self.friction >= AT_LIMIT * self.most
    }
}
