//! Skew-symmetric matrices and their vectors.

use nalgebra::{Matrix3, Vector3};

/// Returns the cross-product matrix $S(a)$ of a vector, the skew-symmetric matrix with $S(a)b = a \times b$.
///
/// ```
/// use carom_lie::{hat, vee};
/// use nalgebra::Vector3;
/// let (a, b) = (Vector3::new(1.0, 2.0, 3.0), Vector3::new(-1.0, 0.5, 2.0));
/// assert_eq!(hat(&a) * b, a.cross(&b));
/// assert_eq!(vee(&hat(&a)), a);
/// ```
#[inline]
pub fn hat(a: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// Returns the vector $(W_{32}, W_{13}, W_{21})$ of a skew-symmetric matrix $W$. This is the inverse of
/// [`hat`].
///
/// Only these three entries are used.
#[inline]
pub fn vee(w: &Matrix3<f64>) -> Vector3<f64> {
    Vector3::new(w.m32, w.m13, w.m21)
}

/// Returns twice the antisymmetric part of a matrix, $A - A^T$.
#[inline]
pub fn asym(a: &Matrix3<f64>) -> Matrix3<f64> {
    a - a.transpose()
}

/// Returns twice the symmetric part of a matrix, $A + A^T$.
#[inline]
pub fn sym(a: &Matrix3<f64>) -> Matrix3<f64> {
    a + a.transpose()
}
