//! Rounded bodies: bodies grown by a ball.

use crate::{GeometryError, PointVisitor, Support, SupportMap};
use nalgebra::{Matrix3, Vector3};

/// Rounded body: all points at most the radius $\varepsilon$ away from a given body (the Minkowski sum of that body and a ball of
/// radius $\varepsilon$).
///
/// # Examples
///
/// ```
/// use carom_geometry::{Cuboid, Rounded, SupportMap};
/// use nalgebra::Vector3;
/// let die = Rounded::new(Cuboid::new([0.4; 3])?, 0.1)?;
/// assert!((die.support(&Vector3::z()).value + 0.5).abs() < 1e-15);
/// // Across the corner the ball adds its radius to the box's diagonal.
/// let corner = die.support(&Vector3::new(1.0, 1.0, 1.0).normalize()).value;
/// assert!((corner + 0.4 * 3.0_f64.sqrt() + 0.1).abs() < 1e-15);
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        try_from = "RoundedForm<S>",
        bound(
            serialize = "S: serde::Serialize",
            deserialize = "S: serde::Deserialize<'de>"
        )
    )
)]
pub struct Rounded<S> {
    base: S,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    radius: f64,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    RoundedForm<S> {
        base: S,
        #[serde(with = "carom_numeric::stored::finite")]
        radius: f64,
    } -> Rounded<S>,
    |form| Self::new(form.base, form.radius)
);

impl<S> Rounded<S> {
    /// Creates a rounded body: the body `base` grown by a ball of radius `radius` ≥ 0 (m).
    ///
    /// # Errors
    ///
    /// [`GeometryError::InvalidRounding`].
    pub fn new(base: S, radius: f64) -> Result<Self, GeometryError> {
        if radius >= 0.0 && radius.is_finite() {
            Ok(Self { base, radius })
        } else {
            Err(GeometryError::InvalidRounding { value: radius })
        }
    }

    /// Returns the body to which the rounding was applied.
    pub fn base(&self) -> &S {
        &self.base
    }

    /// Returns the rounding radius (m): the radius of the ball by which the body is grown.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    pub(crate) fn map<T>(&self, f: impl Fn(&S) -> T) -> Rounded<T> {
        Rounded {
            base: f(&self.base),
            radius: self.radius,
        }
    }
}

impl<S: SupportMap> SupportMap for Rounded<S> {
    #[inline]
    fn support(&self, direction: &Vector3<f64>) -> Support {
        let mut support = self.base.support(direction);
        let norm = direction.norm();
        if norm > 0.0 {
            support.point -= direction * (self.radius / norm);
            support.value -= self.radius * norm;
        }
        support
    }

    /// Returns the derivative, with respect to the direction $d$, of the lowest point $\rho$ (least $d\cdot\rho$) of the rounded
    /// shape: the derivative for the shape without rounding, minus $\epsilon(I - \hat d\hat d^T)/\lvert d\rvert$. $\epsilon$ is
    /// the radius of the rounding and $\hat d = d/\lvert d\rvert$.
    fn support_derivative(&self, direction: &Vector3<f64>) -> Matrix3<f64> {
        let base = self.base.support_derivative(direction);
        let norm = direction.norm();
        if norm == 0.0 {
            return base;
        }
        let unit = direction / norm;
        base + (unit * unit.transpose() - Matrix3::identity()) * (self.radius / norm)
    }

    fn bounding_radius(&self) -> f64 {
        self.base.bounding_radius() + self.radius
    }

    fn points_below(&self, direction: &Vector3<f64>, bound: f64, report: PointVisitor<'_>) {
        let norm = direction.norm();
        if norm == 0.0 {
            return self.base.points_below(direction, bound, report);
        }
        let shift = direction * (self.radius / norm);
        let bound = bound + self.radius * norm;
        self.base
            .points_below(direction, bound, &mut |point| report(point - shift));
    }
}
