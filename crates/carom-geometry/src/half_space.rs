//! Fixed plane, and the gap between a body and the plane.

use crate::patch::{self, ContactPatch};
use crate::tolerances::ROUNDING;
use crate::{GeometryError, Support, SupportMap};
use carom_lie::Se3;
use nalgebra::Vector3;

/// Solid half space $\lbrace z : n\cdot z + D \le 0\rbrace$ with the unit normal $n$, which points out of the
/// solid, and the offset $D$.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "HalfSpaceForm"))]
pub struct HalfSpace {
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    normal: Vector3<f64>,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    offset: f64,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    HalfSpaceForm {
        #[serde(with = "carom_numeric::stored::finite")]
        normal: Vector3<f64>,
        #[serde(with = "carom_numeric::stored::finite")]
        offset: f64,
    } -> HalfSpace,
    |form| HalfSpace::new(form.normal, form.offset)
);

/// Gap between a body and a [`HalfSpace`] (m, negative in penetration), with the lowest point of the body and the normal of the
/// plane. [`HalfSpace::gap`] computes this result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Gap $\Phi$, negative in penetration (m).
    pub value: f64,
    /// Lowest point $\rho_C$ of the body, in the body frame (m).
    pub point_b: Vector3<f64>,
    /// Normal of the plane in the body frame, $d = R^Tn$.
    pub normal_b: Vector3<f64>,
}

impl Gap {
    /// Returns the derivative of the gap with respect to a rotation of the body, $\chi = \rho_C\times d$ (m, in
    /// the body frame): the cross product of the body's lowest point $\rho_C$ and the plane's normal $d$.
    #[inline]
    pub fn moment_b(&self) -> Vector3<f64> {
        self.point_b.cross(&self.normal_b)
    }
}

impl HalfSpace {
    /// Creates a half space, the points $z$ with $n\cdot z + D \le 0$, from an offset $D$ and a normal $n$ of any
    /// length, which points out of the solid. The normal and the offset are divided by the length of the normal, unless
    /// this length is 1 up to rounding errors.
    ///
    /// # Errors
    ///
    /// [`GeometryError::ZeroNormal`], [`GeometryError::NonFinite`].
    pub fn new(normal: Vector3<f64>, offset: f64) -> Result<Self, GeometryError> {
        GeometryError::check_finite("plane", normal.iter().chain([&offset]))?;
        let size = normal.amax();
        if size == 0.0 {
            return Err(GeometryError::ZeroNormal);
        }
        let length = size * (normal / size).norm();
        if (length - 1.0).abs() <= ROUNDING {
            return Ok(Self { normal, offset });
        }
        let (normal, offset) = (normal / length, offset / length);
        GeometryError::check_finite("plane", normal.iter().chain([&offset]))?;
        Ok(Self { normal, offset })
    }

    /// Returns the unit normal of the half space's plane, which points out of the solid.
    #[inline]
    pub fn normal(&self) -> &Vector3<f64> {
        &self.normal
    }

    /// Returns the offset $D$ (m) of the half space $n\cdot z + D \le 0$ with the unit normal $n$.
    #[inline]
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// Returns the height of a point above the plane of the half space (m), negative inside the solid.
    /// `point_w` is in the world frame.
    #[inline]
    pub fn height(&self, point_w: &Vector3<f64>) -> f64 {
        self.normal.dot(point_w) + self.offset
    }

    /// Computes the gap between a body and this half space, with the lowest point of the body. `configuration`
    /// is the position and rotation of the body.
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_geometry::{Ellipsoid, HalfSpace};
    /// use carom_lie::{Se3, So3};
    /// use nalgebra::Vector3;
    /// let body = Ellipsoid::new([2.0, 3.0, 4.0], Vector3::zeros())?;
    /// let floor = HalfSpace::new(Vector3::z(), 0.0)?;
    /// let at = Se3::new(So3::identity(), Vector3::new(0.0, 0.0, 10.0));
    /// assert_eq!(floor.gap(&body, &at).value, 6.0);
    /// # Ok::<(), carom_geometry::GeometryError>(())
    /// ```
    ///
    /// Tran & Leok, Eqs. (5) and (58)-(67).
    #[inline]
    pub fn gap<S: SupportMap + ?Sized>(&self, shape: &S, configuration: &Se3) -> Gap {
        let normal_b = configuration.rotation.rotate_back(&self.normal);
        let Support { point, value } = shape.support(&normal_b);
        Gap {
            value: self.height(&configuration.translation) + value,
            point_b: point,
            normal_b,
        }
    }

    /// Returns the contact patch of a body on this half space: the lowest points of the body. Vertices at most `tolerance` (m)
    /// higher than the lowest point are included. `configuration` is the position and rotation of the body.
    pub fn contact_patch<S: SupportMap + ?Sized>(
        &self,
        shape: &S,
        configuration: &Se3,
        tolerance: f64,
    ) -> ContactPatch {
        let normal_b = configuration.rotation.rotate_back(&self.normal);
        patch::patch(shape, normal_b, tolerance)
    }

    /// Returns the magnitude of the terms of a gap to this half space (m), to which its rounding errors are
    /// proportional: $\sum_i\lvert n_ix_i\rvert + \lvert D\rvert + r$ with the unit normal $n$ and the offset $D$
    /// of the plane. `position` is the position $x$ of the body (m), `radius` its bounding radius $r$ (m). On an inclined plane
    /// the terms $n_ix_i$ cancel, but each has the rounding error of its coordinate.
    #[inline]
    pub fn gap_scale(&self, position: &Vector3<f64>, radius: f64) -> f64 {
        self.normal.abs().dot(&position.abs()) + self.offset.abs() + radius
    }
}
