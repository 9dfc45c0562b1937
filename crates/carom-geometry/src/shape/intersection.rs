//! Intersections of ellipsoids.

use crate::convex::Convex;
use crate::tolerances::NEARLY_EQUAL;
use crate::{Ellipsoid, GeometryError, Support, SupportMap};
use nalgebra::{Matrix3, Vector3};

/// Convex body that is the intersection of ellipsoids whose interiors overlap.
///
/// If the lowest point of one ellipsoid lies in all others, this point is also the lowest point of the intersection. Otherwise
/// the lowest point lies on two or three surfaces at once. It is then approximated by a logarithmic barrier method, and computed
/// to full precision by Newton's method on the conditions of Karush, Kuhn and Tucker.
///
/// # Examples
///
/// ```
/// use carom_geometry::{Ellipsoid, EllipsoidIntersection, SupportMap};
/// use nalgebra::Vector3;
/// let ball = |x| Ellipsoid::sphere(1.0, Vector3::new(x, 0.0, 0.0));
/// let lens = EllipsoidIntersection::new(vec![ball(-0.6)?, ball(0.6)?])?;
/// // The faces of the lens are 0.4 from its middle, its rim 0.8.
/// assert!((lens.support(&Vector3::x()).value + 0.4).abs() < 1e-12);
/// assert!((lens.support(&Vector3::y()).value + 0.8).abs() < 1e-12);
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "EllipsoidIntersectionForm"))]
pub struct EllipsoidIntersection {
    parts: Vec<Ellipsoid>,
    #[cfg_attr(feature = "serde", serde(serialize_with = "write_inner"))]
    body: Convex,
}

/// Writes the inner point of a body alone: the rest follows from the parts.
#[cfg(feature = "serde")]
fn write_inner<S: serde::Serializer>(body: &Convex, to: S) -> Result<S::Ok, S::Error> {
    carom_numeric::stored::finite::serialize(body.inner(), to)
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    EllipsoidIntersectionForm {
        parts: Vec<Ellipsoid>,
        #[serde(with = "carom_numeric::stored::finite")]
        body: Vector3<f64>,
    } -> EllipsoidIntersection,
    |form| {
        let mut own = EllipsoidIntersection::new(form.parts)?;
        if own.parts.iter().any(|part| !(part.level(&form.body) < 1.0)) {
            return Err(GeometryError::Inconsistent { what: "inner point" });
        }
        own.body = own.body.with_inner(form.body);
        Ok(own)
    }
);

impl EllipsoidIntersection {
    /// Creates the body that is the intersection of the given ellipsoids. There must be at least one.
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

    /// Returns the ellipsoids whose intersection is the body.
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

impl EllipsoidIntersection {
    /// Returns the ellipsoid whose lowest point along a direction (least product with the direction) lies in all other ellipsoids
    /// of the intersection, and this lowest point. Returns `None` if there is no such ellipsoid; the lowest point of the
    /// intersection then lies on an edge.
    #[inline]
    fn on_one(&self, direction: &Vector3<f64>) -> Option<(&Ellipsoid, Support)> {
        self.parts.iter().enumerate().find_map(|(index, part)| {
            let support = part.support(direction);
            let holds =
                |(other, e): (usize, &Ellipsoid)| other == index || e.level(&support.point) <= 1.0;
            let is_lowest = self.parts.iter().enumerate().all(holds);
            is_lowest.then_some((part, support))
        })
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
        match self.on_one(direction) {
            Some((_, support)) => support,
            None => at(self.body.lowest(direction)),
        }
    }

    /// Returns the derivative of the lowest point $\rho$ of the intersection (least $d\cdot\rho$) with respect to the direction
    /// $d$.
    ///
    /// If the lowest point lies on one ellipsoid only, the result is the derivative for this ellipsoid. If two surfaces meet
    /// there, the point moves along their common curve with the tangent $\tau$, and the derivative is $-\tau\tau^T/(\tau\cdot
    /// B\tau)$ with $B = \sum_i\mu_i\nabla^2f_i$. $f_i$ are the quadratic forms of the ellipsoids, and the multipliers $\mu_i$
    /// satisfy $d + \sum_i\mu_i\nabla f_i = 0$. If three surfaces meet, the derivative is zero.
    fn support_derivative(&self, direction: &Vector3<f64>) -> Matrix3<f64> {
        if direction.amax() == 0.0 {
            return Matrix3::zeros();
        }
        if let Some((part, _)) = self.on_one(direction) {
            return part.support_derivative(direction);
        }
        let point = self.body.lowest(direction);
        let mut met = self
            .parts
            .iter()
            .filter(|e| e.level(&point) >= 1.0 - NEARLY_EQUAL);
        let (Some(first), Some(second), None) = (met.next(), met.next(), met.next()) else {
            return Matrix3::zeros();
        };
        let squares = [first, second].map(|e| e.semi_axes().component_mul(e.semi_axes()));
        let [a, b] = [(first, squares[0]), (second, squares[1])]
            .map(|(e, squares)| (point - e.center()).component_div(&squares));
        let seam = a.cross(&b);
        let length = seam.norm_squared();
        // d lies in the plane of a and b: d + ma a + mb b = 0.
        let along = [
            -direction.cross(&b).dot(&seam),
            -a.cross(direction).dot(&seam),
        ];
        let curvature: f64 = along
            .iter()
            .zip(&squares)
            .map(|(m, squares)| m / length * seam.component_mul(&seam).component_div(squares).sum())
            .sum();
        if curvature > 0.0 {
            seam * seam.transpose() / -curvature
        } else {
            Matrix3::zeros()
        }
    }

    fn bounding_radius(&self) -> f64 {
        let radii = self.parts.iter().map(SupportMap::bounding_radius);
        radii.fold(f64::INFINITY, f64::min)
    }
}
