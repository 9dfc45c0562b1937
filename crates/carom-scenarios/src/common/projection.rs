//! Parallel projection of lines in space.

use nalgebra::Vector3;

/// A parallel projection: what is to the right and up in the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    right: Vector3<f64>,
    up: Vector3<f64>,
}

impl Camera {
    /// Looks across the horizontal direction `travel`, from `elevation` degrees above.
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

    /// Looks straight down.
    pub(crate) fn above() -> Self {
        Self {
            right: Vector3::x(),
            up: Vector3::y(),
        }
    }

    /// Picture coordinates of a point.
    pub(crate) fn place(&self, p: &Vector3<f64>) -> [f64; 2] {
        [self.right.dot(p), self.up.dot(p)]
    }

    /// Picture coordinates of points.
    pub(crate) fn project<'a>(
        &self,
        points: impl IntoIterator<Item = &'a Vector3<f64>>,
    ) -> (Vec<f64>, Vec<f64>) {
        let places = points.into_iter().map(|p| self.place(p));
        places.map(|[x, y]| (x, y)).unzip()
    }

    /// Towards the viewer.
    pub(crate) fn toward(&self) -> Vector3<f64> {
        self.right.cross(&self.up)
    }

    /// The direction in space at an angle in the picture, counted from the right upwards.
    pub(crate) fn direction(&self, angle: f64) -> Vector3<f64> {
        let (sin, cos) = libm::sincos(angle);
        self.right * cos + self.up * sin
    }
}
