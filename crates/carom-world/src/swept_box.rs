//! Boxes that contain the path of a body for some time.

use carom_geometry::cells::Bounds;
use carom_motion::ball::Ball;
use carom_numeric::time::Time;
use nalgebra::Vector3;

/// The swept box of a body.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SweptBox {
    /// Time up to which the box contains the path.
    pub(crate) until: Time,
    /// Number of the box, unique among the boxes of all bodies.
    pub(crate) count: u64,
    pub(crate) stretch: f64,
    /// Number of the latest neighbor search that included this body.
    pub(crate) round: u64,
    /// Motion of the body at the time `since`, if it is a ball.
    pub(crate) ball: Option<Ball>,
    pub(crate) since: Time,
    pub(crate) bounds: Bounds,
}

impl Default for SweptBox {
    fn default() -> Self {
        Self {
            until: Time::new(f64::INFINITY),
            count: 0,
            stretch: 1.0,
            round: 0,
            ball: None,
            since: Time::default(),
            bounds: Bounds::around(&Vector3::zeros(), &Vector3::zeros(), 0.0),
        }
    }
}

impl SweptBox {
    /// Doubles the length of path that the next box of this body is to contain.
    pub(crate) fn widen(&mut self) {
        self.stretch = (2.0 * self.stretch).min(f64::MAX);
    }
}

/// Returns a box that contains a ball while it moves under gravity for `time` (s), starting with the center at `x` (m) and the
/// velocity `v` (m/s). `radius`: radius of the ball (m); `slack`: additional margin (m).
pub(crate) fn path(
    x: &Vector3<f64>,
    v: &Vector3<f64>,
    gravity: &Vector3<f64>,
    time: f64,
    [radius, slack]: [f64; 2],
) -> Bounds {
    let end = if time.is_finite() {
        x + v * time + gravity * (0.5 * time * time)
    } else {
        *x
    };
    let mut bounds = Bounds::around(x, &end, radius + slack);
    for k in 0..3 {
        let turns = -v[k] / gravity[k];
        if turns > 0.0 && turns < time {
            let apex = x[k] + 0.5 * v[k] * turns;
            let about = radius * (1.0 + 1e-9) + slack;
            bounds.low[k] = bounds.low[k].min(apex - about);
            bounds.high[k] = bounds.high[k].max(apex + about);
        }
    }
    bounds
}
