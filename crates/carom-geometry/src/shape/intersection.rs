//! The common part of ellipsoids.

use crate::convex::Convex;
use crate::{Ellipsoid, GeometryError, Support, SupportMap};
use nalgebra::Vector3;

/// The common part of ellipsoids whose interiors meet.
///
/// Its lowest point is a lowest point of one ellipsoid if that lies in all others. If not, it lies on
/// two or three surfaces at once: a logarithmic barrier leads there, and Newton's method on the
/// conditions of Karush, Kuhn and Tucker gives the last digits.
#[derive(Clone, Debug, PartialEq)]
pub struct EllipsoidIntersection {
    parts: Vec<Ellipsoid>,
    body: Convex,
}

impl EllipsoidIntersection {
    /// The common part of ellipsoids.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NoParts`]; [`GeometryError::EmptyIntersection`] unless their interiors meet.
    pub fn new(parts: Vec<Ellipsoid>) -> Result<Self, GeometryError> {
        if parts.is_empty() {
            return Err(GeometryError::NoParts);
        }
        let bodies: Vec<Convex> = parts.iter().map(Convex::ellipsoid).collect();
        let bodies: Vec<&Convex> = bodies.iter().collect();
        let body = Convex::common(&bodies).ok_or(GeometryError::EmptyIntersection)?;
        Ok(Self { parts, body })
    }

    /// The ellipsoids.
    pub fn parts(&self) -> &[Ellipsoid] {
        &self.parts
    }

    pub(crate) fn body(&self) -> &Convex {
        &self.body
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        Self {
            parts: self.parts.iter().map(|part| part.translated(by)).collect(),
            body: self.body.translated(by),
        }
    }
}

impl SupportMap for EllipsoidIntersection {
    fn support(&self, direction: &Vector3<f64>) -> Support {
        let at = |point: Vector3<f64>| Support {
            point,
            value: point.dot(direction),
        };
        if direction.amax() == 0.0 {
            return at(*self.body.inner());
        }
        for (index, part) in self.parts.iter().enumerate() {
            let support = part.support(direction);
            let holds =
                |(other, e): (usize, &Ellipsoid)| other == index || e.level(&support.point) <= 1.0;
            if self.parts.iter().enumerate().all(holds) {
                return support;
            }
        }
        at(self.body.lowest(direction))
    }

    fn bounding_radius(&self) -> f64 {
        let radii = self.parts.iter().map(SupportMap::bounding_radius);
        radii.fold(f64::INFINITY, f64::min)
    }
}
