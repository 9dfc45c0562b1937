//! Unions of bodies.

use crate::{GeometryError, PointVisitor, Support, SupportMap};
use nalgebra::{Matrix3, Vector3};

/// Union of several shapes that form one rigid body. The shapes may overlap or be apart.
///
/// Contact with a plane depends only on the convex hull of the union. Its lowest point is the lowest point of one of the parts.
///
/// # Examples
///
/// ```
/// use carom_geometry::{Ellipsoid, SupportMap, Union};
/// use nalgebra::Vector3;
/// let ball = |radius, x| Ellipsoid::sphere(radius, Vector3::new(x, 0.0, 0.0));
/// let dumbbell = Union::new(vec![ball(0.2, -1.0)?, ball(0.3, 1.0)?])?;
/// assert!((dumbbell.support(&Vector3::z()).value + 0.3).abs() < 1e-15);
/// assert!((dumbbell.support(&Vector3::x()).value + 1.2).abs() < 1e-15);
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        try_from = "UnionForm<S>",
        bound(
            serialize = "S: serde::Serialize",
            deserialize = "S: serde::Deserialize<'de>"
        )
    )
)]
pub struct Union<S> {
    parts: Vec<S>,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    UnionForm<S> {
        parts: Vec<S>,
    } -> Union<S>,
    |form| Self::new(form.parts)
);

impl<S> Union<S> {
    /// Creates the union of shapes, the parts of one rigid body. There must be at least one.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NoParts`].
    pub fn new(parts: Vec<S>) -> Result<Self, GeometryError> {
        if parts.is_empty() {
            return Err(GeometryError::NoParts);
        }
        Ok(Self { parts })
    }

    /// Returns the shapes that form the union.
    pub fn parts(&self) -> &[S] {
        &self.parts
    }

    pub(crate) fn map<T>(&self, f: impl Fn(&S) -> T) -> Union<T> {
        Union {
            parts: self.parts.iter().map(f).collect(),
        }
    }
}

impl<S: SupportMap> Union<S> {
    /// Returns the part of the union that reaches lowest along a direction, and its lowest point (the point with the
    /// least product with the direction). If several parts reach equally low, the first one is returned.
    #[inline]
    fn lowest(&self, direction: &Vector3<f64>) -> (Option<&S>, Support) {
        let mut best = Support {
            point: Vector3::zeros(),
            value: f64::INFINITY,
        };
        let mut lowest = None;
        for part in &self.parts {
            let support = part.support(direction);
            if support.value < best.value {
                best = support;
                lowest = Some(part);
            }
        }
        (lowest, best)
    }
}

impl<S: SupportMap> SupportMap for Union<S> {
    #[inline]
    fn support(&self, direction: &Vector3<f64>) -> Support {
        self.lowest(direction).1
    }

    fn support_derivative(&self, direction: &Vector3<f64>) -> Matrix3<f64> {
        let part = self.lowest(direction).0;
        part.map_or_else(Matrix3::zeros, |part| part.support_derivative(direction))
    }

    fn bounding_radius(&self) -> f64 {
        let radii = self.parts.iter().map(SupportMap::bounding_radius);
        radii.fold(0.0, f64::max)
    }

    fn points_below(&self, direction: &Vector3<f64>, bound: f64, report: PointVisitor<'_>) {
        for part in &self.parts {
            part.points_below(direction, bound, report);
        }
    }
}
