//! Vectors of the plane.

use nalgebra::Vector2;

/// Returns the vector $x$ rotated counterclockwise by a right angle.
#[inline]
pub(super) fn perpendicular(x: Vector2<f64>) -> Vector2<f64> {
    Vector2::new(-x.y, x.x)
}

/// Returns the component of the cross product $x \times y$ normal to the plane.
#[inline]
pub(super) fn cross(x: Vector2<f64>, y: Vector2<f64>) -> f64 {
    x.x * y.y - x.y * y.x
}

/// Rotates a vector from the axes of a frame to world axes. `turn` is $(\cos\alpha, \sin\alpha)$ of the frame's angle $\alpha$.
#[inline]
pub(super) fn turned(turn: Vector2<f64>, x: Vector2<f64>) -> Vector2<f64> {
    Vector2::new(turn.x * x.x - turn.y * x.y, turn.y * x.x + turn.x * x.y)
}
