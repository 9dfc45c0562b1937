//! First contact of balls in uniform gravity, in closed form.

use carom_geometry::HalfSpace;
use nalgebra::Vector3;

/// Absolute gap, in units of rounding, below which balls count as touching.
const BAND: f64 = 64.0 * f64::EPSILON;

/// Moving ball whose center of mass is its center.
///
/// # Examples
///
/// ```
/// use carom_geometry::HalfSpace;
/// use carom_motion::ball::Ball;
/// use nalgebra::Vector3;
/// let ball = Ball::falling(Vector3::z() * 2.5, Vector3::zeros(), 0.5);
/// let floor = HalfSpace::new(Vector3::z(), 0.0)?;
/// // A fall of 2 m with 4 m/s² takes 1 s.
/// let time = ball.first_touch_of_plane(&floor, &Vector3::new(0.0, 0.0, -4.0), 3.0);
/// assert_eq!(time, Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Ball {
    /// Center (m).
    pub center: Vector3<f64>,
    /// Velocity of the center (m/s).
    pub velocity: Vector3<f64>,
    /// Radius (m).
    pub radius: f64,
    /// True if gravity acts on the ball.
    pub falls: bool,
}

impl Ball {
    /// Creates a ball on which gravity acts.
    #[must_use]
    pub fn falling(center: Vector3<f64>, velocity: Vector3<f64>, radius: f64) -> Self {
        Self {
            center,
            velocity,
            radius,
            falls: true,
        }
    }

    /// Creates a ball at rest on which gravity does not act.
    #[must_use]
    pub fn resting(center: Vector3<f64>, radius: f64) -> Self {
        Self {
            falls: false,
            ..Self::falling(center, Vector3::zeros(), radius)
        }
    }

    /// Returns the ball after a flight of `time` (s). A ball on which gravity does not act stays unchanged.
    pub fn moved(&self, gravity: &Vector3<f64>, time: f64) -> Self {
        if !self.falls || time == 0.0 {
            return *self;
        }
        Self {
            center: self.center + (self.velocity * time + gravity * (0.5 * time * time)),
            velocity: self.velocity + gravity * time,
            ..*self
        }
    }

    /// Returns the time (s) until the ball first touches a plane; `None` if there is no contact within `horizon` (s).
    pub fn first_touch_of_plane(
        &self,
        plane: &HalfSpace,
        gravity: &Vector3<f64>,
        horizon: f64,
    ) -> Option<f64> {
        if !self.falls {
            return None;
        }
        let n = plane.normal();
        let gap = plane.height(&self.center) - self.radius;
        let scale = plane.gap_scale(&self.center, self.radius);
        let (rate, fall) = (n.dot(&self.velocity), n.dot(gravity));
        first_zero(gap, rate, fall, BAND * scale, horizon)
    }

    /// Returns the time (s) until the ball first touches another ball. The outer option is `None` if gravity acts on only one of
    /// the two balls, since that case has no simple closed form. The inner option is `None` if there is no contact within
    /// `horizon` (s).
    pub fn first_touch(
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
        // The distance is smallest at the time -closing / speed; here it is so large that rounding does not matter.
        if square * speed - closing * closing > 2.0 * sum * sum * speed {
            return Some(None);
        }
        let length = square.sqrt();
        // In contact: an approaching ball is in contact again once it is nearer by more than rounding.
        let band = BAND * (sum + self.center.amax().max(other.center.amax()));
        if length - sum <= band {
            let time = band * length / -closing;
            return Some((time <= horizon).then_some(time));
        }
        // Solves |d + t u| = sum, computed from |d| - sum without cancellation.
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

/// Returns the first time (s) at which the gap $g + ut + \tfrac a2t^2$ falls to zero, with the initial `gap` $g$, its
/// initial `rate` $u$ and its constant `acceleration` $a$. `None` if this does not happen within `horizon` (s). An
/// initial gap of at most `band` (m) in absolute value counts as zero.
fn first_zero(gap: f64, rate: f64, acceleration: f64, band: f64, horizon: f64) -> Option<f64> {
    let gap = if gap.abs() <= band { 0.0 } else { gap };
    let time = if gap <= 0.0 {
        // In contact: the next contact is after a flight, or at once, or when the gap is smaller by more than rounding.
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
