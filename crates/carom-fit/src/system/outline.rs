//! Outlines of planar bodies.

use nalgebra::{Rotation2, Vector2};
use std::f64::consts::TAU;

/// Outline of a planar body about its origin, in body axes (m).
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    pub(crate) shape: Shape,
    /// Center of the shape, from the origin of the body.
    pub(crate) center: Vector2<f64>,
}

/// Convex shape about a center.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Ellipse with these semi-axes; a circle if they are equal.
    Ellipse([f64; 2]),
    /// Convex polygon.
    Polygon(Vec<Vector2<f64>>),
}

impl Outline {
    /// Returns the points of the outline, in space axes and from the origin of the body, that lie at most `band` farther along
    /// `direction` than the first one. A smooth outline has one.
    pub(crate) fn lowest(
        &self,
        turn: &Rotation2<f64>,
        up: &Vector2<f64>,
        band: f64,
    ) -> Vec<Vector2<f64>> {
        let center = turn * self.center;
        match &self.shape {
            Shape::Ellipse([a, b]) => {
                let down = turn.inverse() * -up;
                let along = Vector2::new(a * down.x, b * down.y);
                let point = Vector2::new(a * along.x, b * along.y) / along.norm();
                vec![center + turn * point]
            }
            Shape::Polygon(corners) => {
                let points: Vec<Vector2<f64>> = corners.iter().map(|c| turn * c).collect();
                let height = |p: &Vector2<f64>| p.dot(up);
                let lowest = points.iter().map(height).fold(f64::INFINITY, f64::min);
                let near = points.into_iter().filter(|p| height(p) <= lowest + band);
                near.map(|p| center + p).collect()
            }
        }
    }

    /// Returns the largest distance of a point of the outline from the center of its shape (m).
    pub(crate) fn radius(&self) -> f64 {
        match &self.shape {
            Shape::Ellipse([a, b]) => a.max(*b),
            Shape::Polygon(corners) => corners.iter().map(|c| c.norm()).fold(0.0, f64::max),
        }
    }

    /// True if corners, in either sense, go once around and turn to one side.
    pub(crate) fn is_convex(corners: &[Vector2<f64>]) -> bool {
        let n = corners.len();
        let edge = |k: usize| corners[(k + 1) % n] - corners[k % n];
        let turns: Vec<f64> = (0..n)
            .map(|k| {
                let (a, b) = (edge(k), edge(k + 1));
                libm::atan2(a.perp(&b), a.dot(&b))
            })
            .collect();
        let around: f64 = turns.iter().sum();
        let is_left = turns.iter().all(|t| *t > 0.0);
        let is_right = turns.iter().all(|t| *t < 0.0);
        // A star turns more than once around.
        n > 2 && (is_left || is_right) && (around.abs() - TAU).abs() < 0.5
    }
}
