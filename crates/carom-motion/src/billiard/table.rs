//! Tables: walls in the plane.

use crate::billiard::BilliardError;
use crate::billiard::error::positive;
use crate::tolerances::LARGEST_WHOLE_EXPONENT;
use nalgebra::{Matrix2, Vector2};
use std::fmt;

/// Table of a billiard: a region of the plane, bounded by a wall. A wall function gives the region: it is negative on the
/// table, and zero at the wall.
///
/// The function need not be a distance. Its gradient points outwards, to the forbidden side; the
/// *gap* of the impact laws is minus the function.
pub trait Table: fmt::Debug + Send + Sync {
    /// Returns the wall function $h$ of the table at the point $p$ (m). The function is negative inside the table and
    /// zero on the wall.
    fn value(&self, p: Vector2<f64>) -> f64;
    /// Returns the gradient of the wall function at the point $p$ (m).
    fn gradient(&self, p: Vector2<f64>) -> Vector2<f64>;
    /// Returns the Hessian (matrix of second derivatives) of the wall function at the point $p$ (m).
    fn hessian(&self, p: Vector2<f64>) -> Matrix2<f64>;
    /// Returns an upper bound of the norm of the wall function's gradient on the table.
    fn gradient_bound(&self) -> f64;
    /// Returns an upper bound of the spectral norm of the wall function's Hessian on the table.
    fn hessian_bound(&self) -> f64;
    /// Returns an upper bound of the distance between two points of the table, m.
    fn diameter(&self) -> f64;
    /// Returns the smallest distance of two parallel lines that enclose the table, m, for tables that
    /// are symmetric about the origin.
    fn width(&self) -> f64;
    /// Returns the table as an ellipse if it is one, else `None`. Impacts with an ellipse are found as roots of polynomials.
    fn ellipse(&self) -> Option<&Ellipse> {
        None
    }
}

impl<T: Table + ?Sized> Table for Box<T> {
    fn value(&self, p: Vector2<f64>) -> f64 {
        (**self).value(p)
    }

    fn gradient(&self, p: Vector2<f64>) -> Vector2<f64> {
        (**self).gradient(p)
    }

    fn hessian(&self, p: Vector2<f64>) -> Matrix2<f64> {
        (**self).hessian(p)
    }

    fn gradient_bound(&self) -> f64 {
        (**self).gradient_bound()
    }

    fn hessian_bound(&self) -> f64 {
        (**self).hessian_bound()
    }

    fn diameter(&self) -> f64 {
        (**self).diameter()
    }

    fn width(&self) -> f64 {
        (**self).width()
    }

    fn ellipse(&self) -> Option<&Ellipse> {
        (**self).ellipse()
    }
}

/// Elliptical billiard table $(x/a)^2 + (y/b)^2 \le 1$ with the semi-axes $a$ and $b$.
///
/// # Examples
///
/// ```
/// use carom_motion::billiard::{Ellipse, Table};
/// use nalgebra::Vector2;
/// let ellipse = Ellipse::new(0.3, 0.2)?;
/// // A point of the boundary, where the wall function is zero; it is negative inside.
/// let p = Vector2::new(0.3 * 0.6, 0.2 * 0.8);
/// assert!(ellipse.value(p).abs() < 1e-15 && ellipse.value(0.9 * p) < 0.0);
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipse {
    semi_axes: [f64; 2],
    /// Diagonal of the quadratic form, $(1/a^2, 1/b^2)$.
    form: Vector2<f64>,
}

impl Ellipse {
    /// Creates an elliptical billiard table with the semi-axes `a` along x and `b` along y, m.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`].
    pub fn new(a: f64, b: f64) -> Result<Self, BilliardError> {
        positive(&[("semi-axis", a), ("semi-axis", b)])?;
        Ok(Self {
            semi_axes: [a, b],
            form: Vector2::new(1.0 / (a * a), 1.0 / (b * b)),
        })
    }

    /// Creates a circular billiard table of the given radius, m.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`].
    pub fn circle(radius: f64) -> Result<Self, BilliardError> {
        Self::new(radius, radius)
    }

    /// Returns the semi-axes of the elliptical table along x and y, m.
    pub fn semi_axes(&self) -> [f64; 2] {
        self.semi_axes
    }

    /// Returns $u^T Q v$. $Q$ is the diagonal matrix with the inverse squares of the semi-axes of the ellipse.
    #[inline]
    pub(crate) fn form(&self, u: Vector2<f64>, v: Vector2<f64>) -> f64 {
        self.form.x * u.x * v.x + self.form.y * u.y * v.y
    }
}

impl Table for Ellipse {
    #[inline]
    fn value(&self, p: Vector2<f64>) -> f64 {
        let [a, b] = self.semi_axes;
        let (u, v) = (p.x / a, p.y / b);
        // The larger square is taken first: u² - 1 as a product has no cancellation error.
        let (large, small) = if u.abs() > v.abs() { (u, v) } else { (v, u) };
        (large - 1.0) * (large + 1.0) + small * small
    }

    #[inline]
    fn gradient(&self, p: Vector2<f64>) -> Vector2<f64> {
        2.0 * self.form.component_mul(&p)
    }

    #[inline]
    fn hessian(&self, _: Vector2<f64>) -> Matrix2<f64> {
        Matrix2::from_diagonal(&(2.0 * self.form))
    }

    fn gradient_bound(&self) -> f64 {
        2.0 / self.semi_axes[0].min(self.semi_axes[1])
    }

    fn hessian_bound(&self) -> f64 {
        2.0 * self.form.max()
    }

    fn diameter(&self) -> f64 {
        2.0 * self.semi_axes[0].max(self.semi_axes[1])
    }

    fn width(&self) -> f64 {
        2.0 * self.semi_axes[0].min(self.semi_axes[1])
    }

    fn ellipse(&self) -> Option<&Ellipse> {
        Some(self)
    }
}

/// Billiard table bounded by the superellipse $|x/a|^p + |y/b|^p \le 1$, with the semi-axes $a$, $b$ and an exponent $p$ of
/// at least 2.
///
/// # Examples
///
/// ```
/// use carom_motion::billiard::{Superellipse, Table};
/// use nalgebra::Vector2;
/// let table = Superellipse::new(1.0, 1.0, 4.0)?;
/// // On the diagonal x⁴ + y⁴ = 1 lies farther out than the circle.
/// let x = 0.5_f64.powf(0.25);
/// assert!(table.value(Vector2::new(x, x)).abs() < 1e-15 && x > 0.5_f64.sqrt());
/// # Ok::<(), carom_motion::billiard::BilliardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Superellipse {
    semi_axes: [f64; 2],
    exponent: f64,
}

impl Superellipse {
    /// Creates a billiard table bounded by a superellipse with the semi-axes `a` along x and `b` along y (m) and an exponent
    /// of at least 2.
    ///
    /// # Errors
    ///
    /// [`BilliardError::NotPositive`], [`BilliardError::InvalidExponent`].
    pub fn new(a: f64, b: f64, exponent: f64) -> Result<Self, BilliardError> {
        positive(&[("semi-axis", a), ("semi-axis", b)])?;
        if !(exponent >= 2.0 && exponent.is_finite()) {
            return Err(BilliardError::InvalidExponent { value: exponent });
        }
        Ok(Self {
            semi_axes: [a, b],
            exponent,
        })
    }

    /// Returns, for each axis, `factor` times $|x/a|^{p-k}/a^k$, with the sign of $x$ for odd $k$. Here $x$ is the coordinate of
    /// the point, $a$ the semi-axis and $p$ the exponent of the superellipse. The wall function and its derivatives of order $k$
    /// are made of these terms.
    fn term(&self, p: Vector2<f64>, k: i32, factor: f64) -> Vector2<f64> {
        let one = |x: f64, a: f64| {
            let u = x / a;
            let sign = if k % 2 == 1 { u.signum() } else { 1.0 };
            factor * sign * power(u.abs(), self.exponent - f64::from(k))
                / carom_numeric::power(a, k)
        };
        let [a, b] = self.semi_axes;
        Vector2::new(one(p.x, a), one(p.y, b))
    }
}

/// Returns $x$ raised to a power. Small integer exponents are computed by multiplication, which is faster and rounds less.
fn power(x: f64, exponent: f64) -> f64 {
    if exponent.fract() == 0.0 && exponent <= LARGEST_WHOLE_EXPONENT {
        carom_numeric::power(x, exponent as i32)
    } else {
        libm::pow(x, exponent)
    }
}

impl Table for Superellipse {
    fn value(&self, p: Vector2<f64>) -> f64 {
        self.term(p, 0, 1.0).sum() - 1.0
    }

    fn gradient(&self, p: Vector2<f64>) -> Vector2<f64> {
        self.term(p, 1, self.exponent)
    }

    fn hessian(&self, p: Vector2<f64>) -> Matrix2<f64> {
        let factor = self.exponent * (self.exponent - 1.0);
        Matrix2::from_diagonal(&self.term(p, 2, factor))
    }

    fn gradient_bound(&self) -> f64 {
        let [a, b] = self.semi_axes;
        self.exponent * libm::hypot(1.0 / a, 1.0 / b)
    }

    fn hessian_bound(&self) -> f64 {
        let smallest = self.semi_axes[0].min(self.semi_axes[1]);
        self.exponent * (self.exponent - 1.0) / (smallest * smallest)
    }

    fn diameter(&self) -> f64 {
        let [a, b] = self.semi_axes;
        2.0 * libm::hypot(a, b)
    }

    fn width(&self) -> f64 {
        2.0 * self.semi_axes[0].min(self.semi_axes[1])
    }
}
