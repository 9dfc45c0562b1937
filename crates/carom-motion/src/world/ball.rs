//! First contact of balls in uniform gravity, in closed form.

use crate::world::body::PlaneSpec;
use crate::world::search::BAND;
use nalgebra::Vector3;

/// A ball on its way: its center of mass is its center.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub(crate) center: Vector3<f64>,
    pub(crate) velocity: Vector3<f64>,
    pub(crate) radius: f64,
    /// True if gravity acts on it.
    pub(crate) falls: bool,
}

impl Ball {
    /// The ball after a time.
    pub(crate) fn moved(&self, gravity: &Vector3<f64>, time: f64) -> Self {
        if !self.falls || time == 0.0 {
            return *self;
        }
        Self {
            center: self.center + (self.velocity * time + gravity * (0.5 * time * time)),
            velocity: self.velocity + gravity * time,
            ..*self
        }
    }

    /// Time of the first contact with a plane, at most `horizon`.
    pub(crate) fn first_touch_of_plane(
        &self,
        plane: &PlaneSpec,
        gravity: &Vector3<f64>,
        horizon: f64,
    ) -> Option<f64> {
        if !self.falls {
            return None;
        }
        let n = plane.half_space.normal();
        let gap = plane.half_space.height(&self.center) - self.radius;
        let scale = plane.half_space.gap_scale(&self.center, self.radius);
        let (rate, fall) = (n.dot(&self.velocity), n.dot(gravity));
        first_zero(gap, rate, fall, BAND * scale, horizon)
    }

    /// First touch with another ball; `None` if only one of the two falls, which has no simple closed form.
    pub(crate) fn first_touch(
        &self,
        other: &Self,
        gravity: &Vector3<f64>,
        horizon: f64,
    ) -> Option<Option<f64>> {
        if self.falls != other.falls && *gravity != Vector3::zeros() {
            return None;
        }
        let (d, u) = (self.center - other.center, self.velocity - other.velocity);
        let sum = self.radius + other.radius;
        let closing = d.dot(&u);
        if closing >= 0.0 {
            return Some(None);
        }
        let speed = u.norm_squared();
        let square = d.norm_squared();
        // Nearest at the time -closing / speed: so far apart that rounding does not matter.
        if square * speed - closing * closing > 2.0 * sum * sum * speed {
            return Some(None);
        }
        let length = square.sqrt();
        // Touching: what comes nearer is contact again once it is nearer than rounding.
        let band = BAND * (sum + self.center.amax().max(other.center.amax()));
        if length - sum <= band {
            let time = band * length / -closing;
            return Some((time <= horizon).then_some(time));
        }
        // |d + t u| = sum, with |d| - sum as given and without cancellation.
        let excess = (length - sum) * (length + sum);
        let nearest = d - u * (closing / speed);
        let depth = (sum - nearest.norm()) * (sum + nearest.norm());
        if depth < 0.0 {
            return Some(None);
        }
        let root = (speed * depth).sqrt();
        let time = (excess / (root - closing)).max(0.0);
        Some((time <= horizon).then_some(time))
    }
}

/// First time at which $g + ut + \tfrac a2t^2$ falls to 0, at most `horizon`. A start within the band
/// is contact: it comes back only if it leaves.
fn first_zero(gap: f64, rate: f64, acceleration: f64, band: f64, horizon: f64) -> Option<f64> {
    let gap = if gap.abs() <= band { 0.0 } else { gap };
    let time = if gap <= 0.0 {
        // In contact: back after a flight, or at once, or when it has come nearer by more than rounding.
        if acceleration >= 0.0 && rate < 0.0 {
            band / -rate
        } else if rate < 0.0 || (rate == 0.0 && acceleration < 0.0) {
            0.0
        } else if acceleration < 0.0 {
            -2.0 * rate / acceleration
        } else {
            return None;
        }
    } else {
        let discriminant = rate * rate - 2.0 * acceleration * gap;
        if discriminant < 0.0 {
            return None;
        }
        let root = discriminant.sqrt();
        if rate <= 0.0 {
            // Both roots positive or one: the smaller positive one.
            if root - rate == 0.0 {
                return None;
            }
            2.0 * gap / (root - rate)
        } else if acceleration < 0.0 {
            (rate + root) / -acceleration
        } else {
            return None;
        }
    };
    (time <= horizon).then_some(time)
}
