//! Rotations.

use crate::coefficients::{cotangent_defect, sinc, sine_defect, versine};
use crate::tolerances::{FULL_TURN, LAST_STEP, QUADRATIC_SCALE, SMALL_ANGLE};
use crate::{LieError, LieGroup, hat};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::TAU;

/// A matrix with $\lVert R^TR - I\rVert_F$ up to this is a rotation with errors, and repaired.
pub const ROTATION_TOLERANCE: f64 = 1e-6;

/// Iterations for the polar factor; convergence is quadratic.
const MAX_POLAR_ITERATIONS: usize = 100;

/// A rotation, body to space, stored as a unit quaternion.
///
/// # Examples
///
/// A quarter turn about z takes x to y:
///
/// ```
/// use carom_lie::So3;
/// use nalgebra::Vector3;
/// let turn = So3::exp(&Vector3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2));
/// assert!((turn.rotate(&Vector3::x()) - Vector3::y()).norm() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct So3 {
    w: f64,
    v: Vector3<f64>,
}

/// Equal quaternions up to their sign, which is the same rotation.
impl PartialEq for So3 {
    fn eq(&self, other: &Self) -> bool {
        (self.w == other.w && self.v == other.v) || (self.w == -other.w && self.v == -other.v)
    }
}

impl So3 {
    /// No rotation.
    #[inline]
    pub fn identity() -> Self {
        Self {
            w: 1.0,
            v: Vector3::zeros(),
        }
    }

    /// A quaternion brought to unit length; `None` if it is zero or not finite.
    #[inline]
    pub fn from_quaternion(w: f64, v: &Vector3<f64>) -> Option<Self> {
        let scale = v.amax().max(w.abs());
        if !(scale > 0.0 && w.is_finite() && v.iter().all(|x| x.is_finite())) {
            return None;
        }
        let (w, v) = (w / scale, v / scale);
        Some(Self::normalized(w, v))
    }

    /// The unit quaternion, scalar part and vector part.
    #[inline]
    pub fn quaternion(&self) -> (f64, Vector3<f64>) {
        (self.w, self.v)
    }

    /// Brings a quaternion of about unit size to unit length.
    #[inline]
    fn normalized(w: f64, v: Vector3<f64>) -> Self {
        let scale = 1.0 / (w * w + v.norm_squared()).sqrt();
        Self {
            w: w * scale,
            v: v * scale,
        }
    }

    /// The rotation by the rotation vector `phi` (rad).
    pub fn exp(phi: &Vector3<f64>) -> Self {
        let half = 0.5 * phi.norm();
        Self::normalized(libm::cos(half), phi * (0.5 * sinc(half)))
    }

    /// The rotation vector (rad) of length at most π.
    pub fn log(&self) -> Vector3<f64> {
        let (w, v) = if self.w < 0.0 {
            (-self.w, -self.v)
        } else {
            (self.w, self.v)
        };
        let sine = v.norm();
        if sine < SMALL_ANGLE {
            // atan2(s, w)/s = 1/w + O(s^2)
            return v * (2.0 / w);
        }
        v * (2.0 * libm::atan2(sine, w) / sine)
    }

    /// The angle in \[0, π\].
    pub fn angle(&self) -> f64 {
        2.0 * libm::atan2(self.v.norm(), self.w.abs())
    }

    /// The Cayley transform $(I - S(f))^{-1}(I + S(f))$ of $f = \tan(\theta/2)e$.
    #[inline]
    pub fn cayley(f: &Vector3<f64>) -> Self {
        let scale = 1.0 / (1.0 + f.norm_squared()).sqrt();
        Self {
            w: scale,
            v: f * scale,
        }
    }

    /// The Cayley vector.
    ///
    /// # Errors
    ///
    /// [`LieError::HalfTurn`].
    pub fn inverse_cayley(&self) -> Result<Vector3<f64>, LieError> {
        let f = self.v / self.w;
        if f.iter().all(|x| x.is_finite()) {
            Ok(f)
        } else {
            Err(LieError::HalfTurn)
        }
    }

    /// $F^Ta$ for the Cayley rotation $F$ of `f`: $a - \tfrac{2}{1+\lvert f\rvert^2}f\times(a - f\times a)$.
    ///
    /// Unlike [`rotate_back`](Self::rotate_back) it needs no unit quaternion, and a vector parallel to
    /// `f` keeps every digit: lengths do not drift when one small rotation is repeated.
    #[inline]
    pub fn cayley_back(f: &Vector3<f64>, a: &Vector3<f64>) -> Vector3<f64> {
        let scale = 2.0 / (1.0 + f.norm_squared());
        a - f.cross(&(a - f.cross(a))) * scale
    }

    /// The product: first `other`, then `self`.
    #[inline]
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        let w = self.w * other.w - self.v.dot(&other.v);
        let v = other.v * self.w + self.v * other.w + self.v.cross(&other.v);
        Self::normalized(w, v)
    }

    /// `self` after the Cayley rotation of `f`: [`compose`](Self::compose) with
    /// [`cayley`](Self::cayley), with one normalization instead of two.
    #[inline]
    #[must_use]
    pub fn compose_cayley(&self, f: &Vector3<f64>) -> Self {
        let w = self.w - self.v.dot(f);
        Self::normalized(w, self.v + f * self.w + self.v.cross(f))
    }

    /// The inverse rotation.
    #[inline]
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            w: self.w,
            v: -self.v,
        }
    }

    /// Takes a body vector to space, $Ra$.
    #[inline]
    pub fn rotate(&self, a: &Vector3<f64>) -> Vector3<f64> {
        let t = self.v.cross(a) * 2.0;
        a + t * self.w + self.v.cross(&t)
    }

    /// Takes a space vector to the body, $R^Ta$.
    #[inline]
    pub fn rotate_back(&self, a: &Vector3<f64>) -> Vector3<f64> {
        let t = a.cross(&self.v) * 2.0;
        a + t * self.w + t.cross(&self.v)
    }

    /// The matrix.
    #[rustfmt::skip]
    pub fn matrix(&self) -> Matrix3<f64> {
        let (w, x, y, z) = (self.w, self.v.x, self.v.y, self.v.z);
        Matrix3::new(
            1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
            2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
            2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
        )
    }

    /// The rotation of a matrix that is one up to errors of at most [`ROTATION_TOLERANCE`]: the
    /// nearest rotation is taken.
    ///
    /// # Errors
    ///
    /// [`LieError::NonFinite`], [`LieError::NotARotation`].
    pub fn from_matrix(matrix: &Matrix3<f64>) -> Result<Self, LieError> {
        let defect = (matrix.transpose() * matrix - Matrix3::identity()).norm();
        if defect > ROTATION_TOLERANCE {
            let determinant = matrix.determinant();
            return Err(LieError::NotARotation {
                defect,
                determinant,
            });
        }
        Self::nearest(matrix)
    }

    /// The rotation nearest to a matrix with positive determinant (in the Frobenius norm): its
    /// orthogonal polar factor, by Newton's iteration $X \leftarrow \tfrac12(X + X^{-T})$.
    ///
    /// # Errors
    ///
    /// [`LieError::NonFinite`]; [`LieError::NotARotation`] if the determinant is not positive.
    pub fn nearest(matrix: &Matrix3<f64>) -> Result<Self, LieError> {
        if !matrix.iter().all(|x| x.is_finite()) {
            return Err(LieError::NonFinite { what: "rotation" });
        }
        let mut x = *matrix;
        let fail = || LieError::NotARotation {
            defect: (matrix.transpose() * matrix - Matrix3::identity()).norm(),
            determinant: matrix.determinant(),
        };
        for _ in 0..MAX_POLAR_ITERATIONS {
            let determinant = x.determinant();
            if determinant <= 0.0 || !determinant.is_finite() {
                return Err(fail());
            }
            let cofactors = cofactors(&x) / determinant;
            // Balances the two terms until the iteration is quadratic.
            let scale = (cofactors.norm() / x.norm()).sqrt();
            let scale = if (scale - 1.0).abs() < QUADRATIC_SCALE {
                1.0
            } else {
                scale
            };
            let next = (x * scale + cofactors / scale) * 0.5;
            let step = (next - x).norm();
            x = next;
            if step <= LAST_STEP {
                return Ok(Self::from_orthogonal(&x));
            }
        }
        Err(fail())
    }

    /// Shepperd's method: the largest component first, so that nothing cancels.
    fn from_orthogonal(r: &Matrix3<f64>) -> Self {
        let (a, b, c) = (r.m11, r.m22, r.m33);
        let largest = a.max(b).max(c);
        let (w, v) = if a + b + c >= largest {
            (
                1.0 + a + b + c,
                Vector3::new(r.m32 - r.m23, r.m13 - r.m31, r.m21 - r.m12),
            )
        } else if a == largest {
            (
                r.m32 - r.m23,
                Vector3::new(1.0 + a - b - c, r.m12 + r.m21, r.m13 + r.m31),
            )
        } else if b == largest {
            (
                r.m13 - r.m31,
                Vector3::new(r.m12 + r.m21, 1.0 + b - a - c, r.m23 + r.m32),
            )
        } else {
            (
                r.m21 - r.m12,
                Vector3::new(r.m13 + r.m31, r.m23 + r.m32, 1.0 + c - a - b),
            )
        };
        Self::normalized(w, v)
    }

    /// The left Jacobian $I + \tfrac{1-\cos\theta}{\theta^2}S + \tfrac{\theta-\sin\theta}{\theta^3}S^2$,
    /// $S = S(\phi)$.
    pub fn left_jacobian(phi: &Vector3<f64>) -> Matrix3<f64> {
        let (theta, s) = (phi.norm(), hat(phi));
        Matrix3::identity() + s * versine(theta) + s * s * sine_defect(theta)
    }

    /// The right Jacobian, $J_r(\phi) = J_l(-\phi) = J_l(\phi)^T$.
    pub fn right_jacobian(phi: &Vector3<f64>) -> Matrix3<f64> {
        Self::left_jacobian(phi).transpose()
    }

    /// The inverse left Jacobian $I - \tfrac12S + \theta^{-2}(1 - \tfrac\theta2\cot\tfrac\theta2)S^2$.
    ///
    /// # Errors
    ///
    /// [`LieError::FullTurn`] at $\theta = 2\pi k$, $k \ge 1$.
    pub fn inverse_left_jacobian(phi: &Vector3<f64>) -> Result<Matrix3<f64>, LieError> {
        let theta = phi.norm();
        let turns = (theta / TAU).round();
        if turns > 0.0 && (theta - turns * TAU).abs() <= FULL_TURN * theta {
            return Err(LieError::FullTurn { angle: theta });
        }
        let s = hat(phi);
        Ok(Matrix3::identity() - s * 0.5 + s * s * cotangent_defect(theta))
    }

    /// The inverse right Jacobian, the transpose of the left one.
    ///
    /// # Errors
    ///
    /// [`LieError::FullTurn`] at $\theta = 2\pi k$, $k \ge 1$.
    pub fn inverse_right_jacobian(phi: &Vector3<f64>) -> Result<Matrix3<f64>, LieError> {
        Ok(Self::inverse_left_jacobian(phi)?.transpose())
    }
}

/// The cofactor matrix: the inverse transposed, times the determinant.
fn cofactors(a: &Matrix3<f64>) -> Matrix3<f64> {
    let (x, y, z) = (a.column(0), a.column(1), a.column(2));
    Matrix3::from_columns(&[y.cross(&z), z.cross(&x), x.cross(&y)])
}

impl LieGroup<3> for So3 {
    fn identity() -> Self {
        Self::identity()
    }

    fn compose(&self, other: &Self) -> Self {
        self.compose(other)
    }

    fn inverse(&self) -> Self {
        self.inverse()
    }

    fn exp(tangent: &Vector3<f64>) -> Self {
        Self::exp(tangent)
    }

    fn log(&self) -> Vector3<f64> {
        self.log()
    }

    fn adjoint(&self) -> Matrix3<f64> {
        self.matrix()
    }

    fn bracket(tangent: &Vector3<f64>) -> Matrix3<f64> {
        hat(tangent)
    }

    fn left_jacobian(tangent: &Vector3<f64>) -> Matrix3<f64> {
        Self::left_jacobian(tangent)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
