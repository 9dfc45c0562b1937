//! Sliding of a contact after an impact, as its velocities and friction impulses tell it.

use super::{Rate, UNIT};

/// Part of the friction limit above which a friction impulse is at the limit.
pub(super) const AT_LIMIT: f64 = 1.0 - 1e-9;

/// Sliding velocity below which its direction is rounding, as a fraction of the terms that it is the sum of.
const NO_DIRECTION: f64 = 64.0 * UNIT;

/// Velocity and friction impulse of a contact along its tangents, in the caller's units.
pub(super) struct Slip {
    pub(super) velocity: [f64; 2],
    pub(super) speed: f64,
    pub(super) rounding: f64,
    pub(super) friction: f64,
    /// Largest friction impulse.
    pub(super) most: f64,
    pub(super) work: f64,
}

impl Slip {
    pub(super) fn new(tangents: &[Rate], most: f64) -> Self {
        let (mut velocity, mut impulse, mut rounding) = ([0.0; 2], [0.0; 2], 0.0f64);
        for (k, rate) in tangents.iter().enumerate().take(2) {
            velocity[k] = rate.after / rate.scale;
            impulse[k] = rate.impulse * rate.scale;
            rounding = rounding.max(rate.rounding / rate.scale);
        }
        Self {
            velocity,
            speed: libm::hypot(velocity[0], velocity[1]),
            rounding,
            friction: libm::hypot(impulse[0], impulse[1]),
            most,
            work: impulse[0] * velocity[0] + impulse[1] * velocity[1],
        }
    }

    pub(super) fn has_direction(&self) -> bool {
        self.speed > NO_DIRECTION / UNIT * self.rounding
    }

    /// True if the friction impulse is at its limit and opposes a velocity. `directions` is their number in friction polygons,
    /// `None` for other cones.
    pub(super) fn slides(&self, directions: Option<usize>) -> bool {
        let edge = directions.map_or(1.0, |k| libm::cos(std::f64::consts::PI / k.max(3) as f64));
        let opposes = -self.work > 0.5 * edge * self.friction * self.speed;
        self.friction >= AT_LIMIT * edge * self.most && opposes && self.has_direction()
    }
}
