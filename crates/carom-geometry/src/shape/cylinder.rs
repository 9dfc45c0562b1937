//! Circular cylinders.

use crate::{GeometryError, PointVisitor, Support, SupportMap};
use nalgebra::{Matrix3, UnitVector3, Vector3};

/// Circular cylinder with flat ends, a shape in the body frame.
///
/// The support function of the cylinder, the least value of $d\cdot\rho$ over its points $\rho$, is
/// $\sigma(d) = c\cdot d - r\lvert d_\perp\rvert - l\lvert a\cdot d\rvert$, with the center $c$, the unit axis
/// $a$, the radius $r$, the half length $l$ and $d_\perp = d - (a\cdot d)a$.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "CylinderForm"))]
pub struct Cylinder {
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    radius: f64,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    half_length: f64,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    axis: Vector3<f64>,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    center: Vector3<f64>,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    CylinderForm {
        #[serde(with = "carom_numeric::stored::finite")]
        radius: f64,
        #[serde(with = "carom_numeric::stored::finite")]
        half_length: f64,
        #[serde(with = "carom_numeric::stored::finite")]
        axis: Vector3<f64>,
        #[serde(with = "carom_numeric::stored::finite")]
        center: Vector3<f64>,
    } -> Cylinder,
    |form| {
        let axis = *crate::HalfSpace::new(form.axis, 0.0)?.normal();
        let axis = UnitVector3::new_unchecked(axis);
        Cylinder::new(form.radius, form.half_length, &axis, form.center)
    }
);

impl Cylinder {
    /// Creates a circular cylinder from its radius (m), half its length (m), the direction of its axis and its center (m), in the
    /// body frame.
    ///
    /// # Errors
    ///
    /// [`GeometryError::InvalidExtent`], [`GeometryError::NonFinite`].
    pub fn new(
        radius: f64,
        half_length: f64,
        axis: &UnitVector3<f64>,
        center: Vector3<f64>,
    ) -> Result<Self, GeometryError> {
        GeometryError::check_positive("radius", &[radius])?;
        GeometryError::check_positive("half length", &[half_length])?;
        GeometryError::check_finite("axis", axis.iter())?;
        GeometryError::check_finite("center", center.iter())?;
        Ok(Self {
            radius,
            half_length,
            axis: axis.into_inner(),
            center,
        })
    }

    /// Returns the radius of the cylinder (m).
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Returns half the length of the cylinder, that is half the distance between its ends (m).
    pub fn half_length(&self) -> f64 {
        self.half_length
    }

    /// Returns the axis of the cylinder, a unit vector in the body frame.
    pub fn axis(&self) -> &Vector3<f64> {
        &self.axis
    }

    /// Returns the center of the cylinder in the body frame (m).
    pub fn center(&self) -> &Vector3<f64> {
        &self.center
    }

    /// Returns the center of an end face of the cylinder (m). `side` is −1 or 1, the sign along the axis.
    pub(crate) fn end(&self, side: f64) -> Vector3<f64> {
        self.center + self.axis * (side * self.half_length)
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        Self {
            center: self.center + by,
            ..*self
        }
    }

    /// Returns the component of a direction perpendicular to the axis of the cylinder.
    fn across(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        direction - self.axis * self.axis.dot(direction)
    }

    /// Returns the unit vector along the component of a direction perpendicular to the axis of the cylinder. If this component
    /// vanishes, returns an arbitrary unit vector perpendicular to the axis.
    fn outward(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let across = self.across(direction);
        match across.try_normalize(f64::EPSILON * direction.norm()) {
            // Projected once more, because the first subtraction loses digits by cancellation.
            Some(unit) => self.across(&unit).normalize(),
            None => {
                let helper = Vector3::ith(self.axis.iamin(), 1.0);
                helper.cross(&self.axis).normalize()
            }
        }
    }
}

impl SupportMap for Cylinder {
    #[inline]
    fn support(&self, direction: &Vector3<f64>) -> Support {
        let along = self.axis.dot(direction);
        let across = self.across(direction);
        let reach = across.norm();
        let side = if along > 0.0 { -1.0 } else { 1.0 };
        let rim = if reach > 0.0 {
            across * (self.radius / reach)
        } else {
            Vector3::zeros()
        };
        Support {
            point: self.end(side) - rim,
            value: self.center.dot(direction)
                - self.radius * reach
                - self.half_length * along.abs(),
        }
    }

    /// Returns the derivative, with respect to the direction $d$, of the cylinder's lowest point $\rho$ (least $d\cdot\rho$):
    /// $-r(I - aa^T - uu^T)/\lvert d_\perp\rvert$. $r$ is the radius, $a$ the unit vector along the axis, $d_\perp$ the component
    /// of $d$ perpendicular to the axis, and $u$ the unit vector along $d_\perp$. The derivative is zero for a direction along
    /// the axis.
    fn support_derivative(&self, direction: &Vector3<f64>) -> Matrix3<f64> {
        let across = self.across(direction);
        let reach = across.norm();
        if reach == 0.0 {
            return Matrix3::zeros();
        }
        let tangent = self.axis.cross(&(across / reach));
        tangent * tangent.transpose() * (-self.radius / reach)
    }

    fn bounding_radius(&self) -> f64 {
        self.center.norm() + libm::hypot(self.radius, self.half_length)
    }

    /// Calls `report` with those points on both rims of the cylinder whose product with the direction is at most `bound`. The
    /// candidates on each rim are the lowest point and the points at 90°, 180° and 270° from it.
    fn points_below(&self, direction: &Vector3<f64>, bound: f64, report: PointVisitor<'_>) {
        let out = self.outward(direction) * self.radius;
        let beside = self.axis.cross(&out);
        for side in [-1.0, 1.0] {
            for arm in [-out, beside, out, -beside] {
                let point = self.end(side) + arm;
                if point.dot(direction) <= bound {
                    report(point);
                }
            }
        }
    }
}
