//! Ellipsoids with axes parallel to the body axes.

use crate::{GeometryError, Support, SupportMap};
use nalgebra::{Matrix3, Vector3};

/// Ellipsoid with semi-axes along the body axes.
///
/// # Examples
///
/// The lowest point along a unit vector $d$ is at $-\sqrt{\sum_i a_i^2d_i^2}$ with the semi-axes $a_i$:
///
/// ```
/// use carom_geometry::{Ellipsoid, SupportMap};
/// use nalgebra::Vector3;
/// let ellipsoid = Ellipsoid::new([1.0, 2.0, 3.0], Vector3::zeros())?;
/// let d: Vector3<f64> = Vector3::new(2.0, 1.0, 2.0) / 3.0;
/// let lowest = ellipsoid.support(&d).value;
/// assert!((lowest + (4.0_f64 + 4.0 + 36.0).sqrt() / 3.0).abs() < 1e-15);
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "EllipsoidForm"))]
pub struct Ellipsoid {
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    semi_axes: Vector3<f64>,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    center: Vector3<f64>,
    #[cfg_attr(feature = "serde", serde(skip_serializing))]
    radius: f64,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    EllipsoidForm {
        #[serde(with = "carom_numeric::stored::finite")]
        semi_axes: Vector3<f64>,
        #[serde(with = "carom_numeric::stored::finite")]
        center: Vector3<f64>,
    } -> Ellipsoid,
    |form| Ellipsoid::new(form.semi_axes.into(), form.center)
);

impl Ellipsoid {
    /// Creates an ellipsoid from its semi-axes (m) and its center in the body frame (m).
    ///
    /// # Errors
    ///
    /// [`GeometryError::InvalidExtent`], [`GeometryError::NonFinite`].
    pub fn new(semi_axes: [f64; 3], center: Vector3<f64>) -> Result<Self, GeometryError> {
        GeometryError::check_positive("semi-axis", &semi_axes)?;
        GeometryError::check_finite("center", center.iter())?;
        let semi_axes = Vector3::from(semi_axes);
        let radius = center.norm() + semi_axes.max();
        Ok(Self {
            semi_axes,
            center,
            radius,
        })
    }

    /// Creates a ball from its radius (m) and its center in the body frame (m).
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn sphere(radius: f64, center: Vector3<f64>) -> Result<Self, GeometryError> {
        Self::new([radius; 3], center)
    }

    /// Returns the lengths of the semi-axes of the ellipsoid along the body axes (m).
    pub fn semi_axes(&self) -> &Vector3<f64> {
        &self.semi_axes
    }

    /// Returns the center of the ellipsoid in the body frame (m).
    pub fn center(&self) -> &Vector3<f64> {
        &self.center
    }

    /// Evaluates the quadratic form of the ellipsoid at a point $\rho$ in the body frame (m):
    /// $\sum_i ((\rho_i - c_i)/a_i)^2$ with center $c$ and semi-axes $a$. The value is below 1 inside and above
    /// 1 outside.
    pub fn level(&self, point: &Vector3<f64>) -> f64 {
        (point - self.center)
            .component_div(&self.semi_axes)
            .norm_squared()
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        let center = self.center + by;
        Self {
            center,
            radius: center.norm() + self.semi_axes.max(),
            ..*self
        }
    }

    /// Returns this ellipsoid with all radii larger by `by` (m), if it is a sphere. `None` otherwise, because a grown
    /// ellipsoid is not an ellipsoid.
    pub(crate) fn grown_sphere(&self, by: f64) -> Option<Self> {
        let a = &self.semi_axes;
        (a.x == a.y && a.y == a.z).then(|| Self {
            semi_axes: a.add_scalar(by),
            radius: self.radius + by,
            ..*self
        })
    }
}

impl SupportMap for Ellipsoid {
    /// Returns the lowest point along the direction $d$, $\rho = c - A^2d/\lvert Ad\rvert$, and its product with $d$,
    /// $\sigma = c\cdot d - \lvert Ad\rvert$. $A = \mathrm{diag}(a_i)$ holds the semi-axes $a_i$, and $c$ is the
    /// center.
    #[inline]
    fn support(&self, direction: &Vector3<f64>) -> Support {
        let scaled = self.semi_axes.component_mul(direction);
        let norm = scaled.norm();
        if norm == 0.0 {
            return Support {
                point: self.center,
                value: 0.0,
            };
        }
        Support {
            point: self.center - self.semi_axes.component_mul(&scaled) / norm,
            value: self.center.dot(direction) - norm,
        }
    }

    /// Returns the derivative, with respect to the direction $d$, of the lowest point $\rho$ (least $d\cdot\rho$):
    /// $-A^2/q + A^2dd^TA^2/q^3$ with $q = \lvert Ad\rvert$ and the semi-axes in $A = \mathrm{diag}(a_i)$.
    fn support_derivative(&self, direction: &Vector3<f64>) -> Matrix3<f64> {
        let scaled = self.semi_axes.component_mul(direction);
        let norm = scaled.norm();
        if norm == 0.0 {
            return Matrix3::zeros();
        }
        let unit = scaled / norm;
        let spread = (unit * unit.transpose() - Matrix3::identity()) / norm;
        let axes = Matrix3::from_diagonal(&self.semi_axes);
        axes * spread * axes
    }

    fn bounding_radius(&self) -> f64 {
        self.radius
    }
}
