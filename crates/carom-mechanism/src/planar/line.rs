//! Fixed lines that mechanisms touch.

use super::vector::perpendicular;
use crate::MechanismError;
use crate::error::{finite, positive};
use nalgebra::Vector2;

/// Fixed straight line that links can touch, such as the floor or a wall, with a normal towards its free side.
///
/// # Examples
///
/// ```
/// use carom_mechanism::nalgebra::Vector2;
/// use carom_mechanism::planar::Line;
/// // The normal is made a unit vector.
/// let incline = Line::new([0.0, 1.0], [-3.0, 4.0])?;
/// assert!((incline.distance(Vector2::new(0.0, 2.0)) - 0.8).abs() < 1e-15);
/// assert!((incline.tangent() - Vector2::new(0.8, 0.6)).norm() < 1e-15);
/// # Ok::<(), carom_mechanism::MechanismError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    point: Vector2<f64>,
    normal: Vector2<f64>,
}

impl Line {
    /// Creates the fixed line through `point`. `normal` points to the free side and may have any length.
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidParameter`] for a zero normal or numbers that are not finite.
    pub fn new(point: [f64; 2], normal: [f64; 2]) -> Result<Self, MechanismError> {
        for coordinate in point {
            finite("point of a line", coordinate)?;
        }
        let normal = Vector2::from(normal);
        let length = positive("length of a line's normal", libm::hypot(normal.x, normal.y))?;
        Ok(Self {
            point: point.into(),
            normal: normal / length,
        })
    }

    /// Creates the horizontal line $y = 0$ as a floor, with the free side above.
    pub fn floor() -> Self {
        Self {
            point: Vector2::zeros(),
            normal: Vector2::y(),
        }
    }

    /// Returns the unit normal of the line, which points to its free side.
    pub fn normal(&self) -> Vector2<f64> {
        self.normal
    }

    /// Returns the unit tangent of the line. It points to the right of the normal: to $+x$ for a floor.
    pub fn tangent(&self) -> Vector2<f64> {
        -perpendicular(self.normal)
    }

    /// Returns the signed distance of the point `x` from the line: positive on the free side of the line, negative on the other
    /// side.
    pub fn distance(&self, x: Vector2<f64>) -> f64 {
        self.normal.dot(&(x - self.point))
    }

    /// Returns the coordinate of a point along the line's tangent (m), measured from the reference point of the line.
    pub(super) fn along(&self, x: Vector2<f64>) -> f64 {
        self.tangent().dot(&(x - self.point))
    }
}
