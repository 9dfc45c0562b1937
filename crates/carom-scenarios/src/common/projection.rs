//! Parallel projection of points and curves in space.

use nalgebra::Vector3;

/// Parallel projection, given by the directions in space that point right and up in the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    right: Vector3<f64>,
    up: Vector3<f64>,
}

impl Camera {
    /// Creates a camera for motion along the horizontal direction `travel`: it looks across this direction, from `elevation`
    /// degrees above the horizontal.
    pub(crate) fn beside(travel: Vector3<f64>, elevation: f64) -> Self {
        let level = Vector3::new(travel.x, travel.y, 0.0);
        let right = level.try_normalize(1e-12).unwrap_or_else(Vector3::x);
        let away = Vector3::z().cross(&right);
        let (sin, cos) = libm::sincos(elevation.to_radians());
        Self {
            right,
            up: Vector3::z() * cos + away * sin,
        }
    }

    /// Creates a camera that looks straight down, with the x axis to the right in the picture and the y axis up.
    pub(crate) fn above() -> Self {
        Self {
            right: Vector3::x(),
            up: Vector3::y(),
        }
    }

    /// Projects a point `p` onto the picture and returns its coordinates there: to the right, and up (m).
    pub(crate) fn place(&self, p: &Vector3<f64>) -> [f64; 2] {
        [self.right.dot(p), self.up.dot(p)]
    }

    /// Returns the unit vector from the scene towards the viewer.
    pub(crate) fn toward(&self) -> Vector3<f64> {
        self.right.cross(&self.up)
    }

    /// Returns the unit vector in space that appears in the picture at `angle` (rad), measured counterclockwise from the
    /// right.
    pub(crate) fn direction(&self, angle: f64) -> Vector3<f64> {
        let (sin, cos) = libm::sincos(angle);
        self.right * cos + self.up * sin
    }
}
