//! Ellipsoids with axes parallel to the body's.

use crate::{GeometryError, Support, SupportMap};
use nalgebra::{Matrix3, Vector3};

/// An ellipsoid with semi-axes along the body axes.
///
/// # Examples
///
/// The lowest point along a unit vector is at $-\sqrt{\sum_i a_i^2d_i^2}$:
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
pub struct Ellipsoid {
    semi_axes: Vector3<f64>,
    center: Vector3<f64>,
    radius: f64,
}

impl Ellipsoid {
    /// An ellipsoid with semi-axes (m) and a center in the body (m).
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

    /// A ball.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn sphere(radius: f64, center: Vector3<f64>) -> Result<Self, GeometryError> {
        Self::new([radius; 3], center)
    }

    /// Semi-axes (m).
    pub fn semi_axes(&self) -> &Vector3<f64> {
        &self.semi_axes
    }

    /// Center in the body (m).
    pub fn center(&self) -> &Vector3<f64> {
        &self.center
    }

    /// $\sum_i ((\rho_i - c_i)/a_i)^2$: below 1 inside, above 1 outside.
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

    /// A sphere grown by `by`; `None` for any other ellipsoid, which does not stay one.
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
    /// $\rho = c - A^2d/\lvert Ad\rvert$, $\sigma = c\cdot d - \lvert Ad\rvert$.
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

    /// $-A^2/q + A^2dd^TA^2/q^3$, $q = \lvert Ad\rvert$.
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
