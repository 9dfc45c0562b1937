//! Signed distance functions: negative inside, zero on the surface, positive outside.
//!
//! Tran & Leok construct bodies from signed distances $\psi$ (constructive solid geometry, Section 6.2): $\min$
//! for a union, $\max$ for an intersection, $-\psi$ for a complement, $\psi - \varepsilon$ for a rounded body.
//! The gradient is the outward unit normal at the closest surface point. If several surface points are closest,
//! the gradient does not exist and is `None`.
//!
//! # Departure from the source
//!
//! Only the distances of single bodies are exact. A minimum is the distance of the union outside and a bound
//! inside. A maximum is the distance of the intersection inside and a bound outside. $\psi - \varepsilon$ is
//! the distance of the rounded body near and outside its surface. The paper says that
//! $\lvert\nabla\psi\rvert = 1$ fails on the zero level set; it holds there and fails on the medial axis.

use crate::{Cuboid, Ellipsoid, HalfSpace};
use nalgebra::Vector3;

/// Signed distance of a point to the surface of a body (negative inside) and its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Signed distance (m).
    pub value: f64,
    /// Gradient of the distance, a unit vector; `None` if several surface points are closest.
    pub gradient: Option<Vector3<f64>>,
}

impl Distance {
    /// Returns the signed distance of a point to the union of two bodies: the smaller one of its distances to the two bodies,
    /// `self` and `other`. Where the bodies overlap, the surface of the union can be farther away than this value.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        self.select(other, self.value < other.value)
    }

    /// Returns the signed distance of a point to the intersection of two bodies: the larger one of its distances to the two
    /// bodies, `self` and `other`. Outside both bodies, the surface of the intersection can be farther away than this value.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        self.select(other, self.value > other.value)
    }

    /// Returns the signed distance of a point to the complement of the body, that is to the body with inside and outside
    /// exchanged.
    #[must_use]
    pub fn complement(self) -> Self {
        Self {
            value: -self.value,
            gradient: self.gradient.map(|g| -g),
        }
    }

    /// Returns the signed distance of a point to the body grown by a ball of the given radius (m).
    #[must_use]
    pub fn rounded(self, radius: f64) -> Self {
        Self {
            value: self.value - radius,
            ..self
        }
    }

    fn select(self, other: Self, first: bool) -> Self {
        if self.value == other.value {
            let gradient = self.gradient.filter(|_| self.gradient == other.gradient);
            return Self { gradient, ..self };
        }
        if first { self } else { other }
    }
}

/// Body whose signed distance function is known: the distance of any point to the surface, negative inside the body. An
/// implementation computes this distance and its gradient.
pub trait SignedDistance {
    /// Returns the signed distance of a point in the body frame to the surface of the body (m), negative inside, and
    /// its gradient.
    fn signed_distance(&self, point: &Vector3<f64>) -> Distance;
}

impl SignedDistance for HalfSpace {
    fn signed_distance(&self, point: &Vector3<f64>) -> Distance {
        Distance {
            value: self.height(point),
            gradient: Some(*self.normal()),
        }
    }
}

impl SignedDistance for Cuboid {
    fn signed_distance(&self, point: &Vector3<f64>) -> Distance {
        let local = point - self.center();
        let beyond = local.abs() - self.half_extents();
        let sign = |i: usize| if local[i] < 0.0 { -1.0 } else { 1.0 };
        let deepest = beyond.max();
        if deepest > 0.0 {
            let outside = beyond.map(|x| x.max(0.0));
            let value = outside.norm();
            let signs = Vector3::new(sign(0), sign(1), sign(2));
            let gradient = Some(outside.component_mul(&signs) / value);
            return Distance { value, gradient };
        }
        let faces: Vec<usize> = (0..3).filter(|&i| beyond[i] == deepest).collect();
        let gradient = match faces[..] {
            [i] if local[i] != 0.0 => Some(Vector3::ith(i, sign(i))),
            _ => None,
        };
        Distance {
            value: deepest,
            gradient,
        }
    }
}

impl SignedDistance for Ellipsoid {
    /// Computes the signed distance of a point to the surface of the ellipsoid, and its gradient.
    ///
    /// The closest point is $e_i^2y_i/(t + e_i^2)$ with the semi-axes $e$, the point $y$ relative to the center, and
    /// the largest root $t$ of $\sum_i (e_iy_i/(t + e_i^2))^2 = 1$. Exception: if the point lies in the symmetry
    /// plane of the shortest axis and deep inside, two points on both sides of that plane are closest.
    fn signed_distance(&self, point: &Vector3<f64>) -> Distance {
        let y = point - self.center();
        let axes = self.semi_axes();
        let shortest = axes.min();
        let pole = -shortest * shortest;
        let in_plane = |i: usize| axes[i] == shortest;
        if (0..3).all(|i| !in_plane(i) || y[i] == 0.0) {
            // Coordinates of the closest points in the plane, if these lie off the plane.
            let foot = |i: usize| {
                if in_plane(i) {
                    0.0
                } else {
                    axes[i] * axes[i] * y[i] / (axes[i] * axes[i] + pole)
                }
            };
            let foot = Vector3::new(foot(0), foot(1), foot(2));
            let rest = 1.0 - foot.component_div(axes).norm_squared();
            if rest >= 0.0 {
                let off_plane = shortest * rest.sqrt();
                let value = -libm::hypot((foot - y).norm(), off_plane);
                return Distance {
                    value,
                    gradient: None,
                };
            }
        }
        let t = distance_root(&y, axes);
        let foot = Vector3::from_fn(|i, _| axes[i] * axes[i] * y[i] / (t + axes[i] * axes[i]));
        let normal = foot.component_div(axes).component_div(axes);
        let away = Vector3::from_fn(|i, _| t * y[i] / (t + axes[i] * axes[i]));
        Distance {
            value: away.norm().copysign(t),
            gradient: Some(normal.normalize()),
        }
    }
}

/// Returns the largest root $t$ of $\sum_i (e_iy_i/(t + e_i^2))^2 = 1$, which determines the point of an ellipsoid that is
/// closest to the point $y$. $e$ = `axes` are the semi-axes, and `y` is relative to the center. The left-hand side is convex and
/// decreasing. So Newton's method increases monotonically to the root from a starting value at which one term of the sum alone
/// equals 1.
fn distance_root(y: &Vector3<f64>, axes: &Vector3<f64>) -> f64 {
    let starts = y.zip_map(axes, |y, e| e * y.abs() - e * e);
    let mut t = starts.max();
    for _ in 0..200 {
        let (mut excess, mut slope) = (-1.0, 0.0);
        for (y, e) in y.iter().zip(axes.iter()) {
            let shifted = t + e * e;
            let term = e * y / shifted;
            excess += term * term;
            slope -= 2.0 * term * term / shifted;
        }
        let next = t - excess / slope;
        if next.is_nan() || next <= t {
            break;
        }
        t = next;
    }
    t
}
