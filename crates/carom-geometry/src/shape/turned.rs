//! Ellipsoids rotated relative to the body frame.

use crate::{Ellipsoid, Support, SupportMap};
use carom_lie::So3;
use nalgebra::{Matrix3, Vector3};

/// Ellipsoid whose axes need not be parallel to the body axes: an [`Ellipsoid`] that is rotated about its center in the body
/// frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "TurnedEllipsoidForm"))]
pub struct TurnedEllipsoid {
    /// Ellipsoid in its own axes, centered at the origin.
    base: Ellipsoid,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    axes: Matrix3<f64>,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    center: Vector3<f64>,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    TurnedEllipsoidForm {
        base: Ellipsoid,
        #[serde(with = "carom_numeric::stored::finite")]
        axes: Matrix3<f64>,
        #[serde(with = "carom_numeric::stored::finite")]
        center: Vector3<f64>,
    } -> TurnedEllipsoid,
    |form| {
        let (base, axes, center) = (form.base, form.axes, form.center);
        So3::from_matrix(&axes).map_err(|_| crate::GeometryError::Inconsistent { what: "axes" })?;
        Ok(TurnedEllipsoid { base, axes, center })
    }
);

impl TurnedEllipsoid {
    /// Creates an ellipsoid that is rotated about its center. `rotation` maps the axes of the ellipsoid to the
    /// body frame.
    pub fn new(ellipsoid: &Ellipsoid, rotation: &So3) -> Self {
        Self {
            base: ellipsoid.translated(&-ellipsoid.center()),
            axes: rotation.matrix(),
            center: *ellipsoid.center(),
        }
    }

    /// Returns the ellipsoid before its rotation, centered at the origin: its semi-axes are along the coordinate axes.
    pub fn base(&self) -> &Ellipsoid {
        &self.base
    }

    /// Returns the directions of the semi-axes of the ellipsoid in the body frame, as the columns of a rotation
    /// matrix.
    pub fn axes(&self) -> &Matrix3<f64> {
        &self.axes
    }

    /// Returns the center of the rotated ellipsoid in the body frame (m).
    pub fn center(&self) -> &Vector3<f64> {
        &self.center
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        Self {
            center: self.center + by,
            ..*self
        }
    }
}

impl SupportMap for TurnedEllipsoid {
    #[inline]
    fn support(&self, direction: &Vector3<f64>) -> Support {
        let own = self.base.support(&self.axes.tr_mul(direction));
        Support {
            point: self.center + self.axes * own.point,
            value: self.center.dot(direction) + own.value,
        }
    }

    fn support_derivative(&self, direction: &Vector3<f64>) -> Matrix3<f64> {
        let own = self.base.support_derivative(&self.axes.tr_mul(direction));
        self.axes * own * self.axes.transpose()
    }

    fn bounding_radius(&self) -> f64 {
        self.center.norm() + self.base.bounding_radius()
    }
}
