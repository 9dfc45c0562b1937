//! Rotations in space: the group SO(3).

use crate::coefficients::{cotangent_defect, sinc, sine_defect, versine};
use crate::tolerances::{FULL_TURN, QUADRATIC_SCALE, SMALL_ANGLE};
use crate::{LieError, LieGroup, hat};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::TAU;

/// Largest deviation $\lVert R^TR - I\rVert_F$ from orthogonality (Frobenius norm, dimensionless) with which a
/// matrix $R$ is still accepted as a rotation with rounding errors. It is then replaced by the nearest
/// rotation.
pub const ROTATION_TOLERANCE: f64 = 1e-6;

/// Half the length of a rotation vector above which its square is no longer computed (rad).
const WINDING: f64 = 1e150;

/// Largest number of Newton iterations for the polar factor; convergence is quadratic.
const MAX_POLAR_ITERATIONS: usize = 100;

/// Rotation from the body frame to the space frame, stored as a unit quaternion.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "[f64; 4]", try_from = "[f64; 4]"))]
pub struct So3 {
    w: f64,
    v: Vector3<f64>,
}

/// Two rotations are equal if their quaternions are equal up to sign.
impl PartialEq for So3 {
    fn eq(&self, other: &Self) -> bool {
        (self.w == other.w && self.v == other.v) || (self.w == -other.w && self.v == -other.v)
    }
}

/// A rotation is stored as its quaternion, scalar part first.
#[cfg(feature = "serde")]
impl From<So3> for [f64; 4] {
    fn from(rotation: So3) -> Self {
        let v = rotation.v;
        [rotation.w, v.x, v.y, v.z]
    }
}

#[cfg(feature = "serde")]
impl TryFrom<[f64; 4]> for So3 {
    type Error = String;

    fn try_from(quaternion: [f64; 4]) -> Result<Self, String> {
        let [w, x, y, z] = quaternion;
        let mut excess = carom_numeric::decisions::Sum::default();
        for term in [w * w, x * x, y * y, z * z, -1.0] {
            excess.add(term);
        }
        if excess.is_zero() {
            let v = Vector3::new(x, y, z);
            return Ok(Self { w, v });
        }
        Err(format!("{quaternion:?} is no quaternion of unit length"))
    }
}

impl So3 {
    /// Returns the identity rotation.
    #[inline]
    pub fn identity() -> Self {
        Self {
            w: 1.0,
            v: Vector3::zeros(),
        }
    }

    /// Creates a rotation from a quaternion with scalar part `w` and vector part `v`, which is normalized to
    /// unit length. Returns `None` if the quaternion is zero or not finite.
    #[inline]
    pub fn from_quaternion(w: f64, v: &Vector3<f64>) -> Option<Self> {
        let scale = v.amax().max(w.abs());
        if !(scale > 0.0 && w.is_finite() && v.iter().all(|x| x.is_finite())) {
            return None;
        }
        let (w, v) = (w / scale, v / scale);
        Some(Self::normalized(w, v))
    }

    /// Creates a rotation from a quaternion that is normalized unless its length is one to rounding.
    pub(crate) fn of_unit(w: f64, v: Vector3<f64>) -> Self {
        let excess = w * w + v.norm_squared() - 1.0;
        if excess.abs() <= 8.0 * f64::EPSILON {
            return Self { w, v };
        }
        Self::normalized(w, v)
    }

    /// Returns the unit quaternion of the rotation: scalar part and vector part.
    #[inline]
    pub fn quaternion(&self) -> (f64, Vector3<f64>) {
        (self.w, self.v)
    }

    /// Creates a rotation from a quaternion of about unit length, with scalar part `w` and vector part `v`, by scaling
    /// it to unit length.
    #[inline]
    fn normalized(w: f64, v: Vector3<f64>) -> Self {
        let scale = 1.0 / (w * w + v.norm_squared()).sqrt();
        Self {
            w: w * scale,
            v: v * scale,
        }
    }

    /// Creates the rotation with the rotation vector `phi`: the rotation axis times the angle (rad), of any finite length.
    pub fn exp(phi: &Vector3<f64>) -> Self {
        let half = 0.5 * phi.norm();
        if half > WINDING {
            return Self::winding(phi);
        }
        Self::normalized(libm::cos(half), phi * (0.5 * sinc(half)))
    }

    /// Creates the rotation with a rotation vector whose square may overflow. The scaled axis keeps its direction, and an angle
    /// that is no number in radians any more, because it exceeds the largest one, is taken as the largest one.
    #[cold]
    fn winding(phi: &Vector3<f64>) -> Self {
        let size = phi.amax();
        let scaled = phi / size;
        let length = scaled.norm();
        let half = (0.5 * length * size).min(f64::MAX);
        Self::normalized(libm::cos(half), scaled * (libm::sin(half) / length))
    }

    /// Returns the rotation vector: the rotation axis times the angle (rad), of length at most π.
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

    /// Returns the rotation angle (rad) in \[0, π\].
    pub fn angle(&self) -> f64 {
        2.0 * libm::atan2(self.v.norm(), self.w.abs())
    }

    /// Creates a rotation by the Cayley transform $(I - S(f))^{-1}(I + S(f))$ of a vector
    /// $f = \tan(\theta/2)e$, with the cross-product matrix $S(f)$. This is the rotation by the angle $\theta$
    /// about the unit axis $e$.
    #[inline]
    pub fn cayley(f: &Vector3<f64>) -> Self {
        let scale = 1.0 / (1.0 + f.norm_squared()).sqrt();
        Self {
            w: scale,
            v: f * scale,
        }
    }

    /// Returns the Cayley vector $f = \tan(\theta/2)e$ of the rotation, with the rotation angle $\theta$ and
    /// the unit axis $e$.
    ///
    /// # Errors
    ///
    /// [`LieError::HalfTurn`] for a rotation by half a turn.
    pub fn inverse_cayley(&self) -> Result<Vector3<f64>, LieError> {
        let f = self.v / self.w;
        if f.iter().all(|x| x.is_finite()) {
            Ok(f)
        } else {
            Err(LieError::HalfTurn)
        }
    }

    /// Rotates a vector $a$ by the inverse of a rotation $F$, which is the Cayley transform of the vector `f`: $F^Ta = a -
    /// \tfrac{2}{1+\lvert f\rvert^2}f\times(a - f\times a)$.
    ///
    /// Unlike [`rotate_back`](Self::rotate_back), this function needs no unit quaternion. A vector parallel to `f` does not
    /// change at all, so that lengths do not drift when a small rotation is repeated.
    #[inline]
    pub fn cayley_back(f: &Vector3<f64>, a: &Vector3<f64>) -> Vector3<f64> {
        let scale = 2.0 / (1.0 + f.norm_squared());
        a - f.cross(&(a - f.cross(a))) * scale
    }

    /// Returns the product of two rotations: `other` is applied first, then `self`.
    #[inline]
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        let w = self.w * other.w - self.v.dot(&other.v);
        let v = other.v * self.w + self.v * other.w + self.v.cross(&other.v);
        Self::normalized(w, v)
    }

    /// Returns the product of `self` and the rotation [`cayley`](Self::cayley)`(f)`: the rotation `cayley(f)` is applied first,
    /// then `self`. The result equals that of [`compose`](Self::compose), but the quaternion is normalized only once.
    #[inline]
    #[must_use]
    pub fn compose_cayley(&self, f: &Vector3<f64>) -> Self {
        let w = self.w - self.v.dot(f);
        Self::normalized(w, self.v + f * self.w + self.v.cross(f))
    }

    /// Returns the inverse rotation.
    #[inline]
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            w: self.w,
            v: -self.v,
        }
    }

    /// Rotates a vector $a$ from the body frame to the space frame, $Ra$ with the rotation matrix $R$.
    #[inline]
    pub fn rotate(&self, a: &Vector3<f64>) -> Vector3<f64> {
        let t = self.v.cross(a) * 2.0;
        a + t * self.w + self.v.cross(&t)
    }

    /// Rotates a vector $a$ from the space frame to the body frame, $R^Ta$ with the rotation matrix $R$.
    #[inline]
    pub fn rotate_back(&self, a: &Vector3<f64>) -> Vector3<f64> {
        let t = a.cross(&self.v) * 2.0;
        a + t * self.w + t.cross(&self.v)
    }

    /// Returns the rotation matrix, which maps vectors from the body frame to the space frame.
    #[rustfmt::skip]
    pub fn matrix(&self) -> Matrix3<f64> {
        let (w, x, y, z) = (self.w, self.v.x, self.v.y, self.v.z);
        Matrix3::new(
            1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
            2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
            2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
        )
    }

    /// Creates a rotation from a matrix: the rotation nearest to it. The matrix must be a rotation up to errors
    /// of at most [`ROTATION_TOLERANCE`].
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

    /// Computes the rotation that is nearest to a matrix with positive determinant in the Frobenius norm. This rotation is the
    /// orthogonal polar factor of the matrix; Newton's iteration $X \leftarrow \tfrac12(X + X^{-T})$ computes it.
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
            // A factor balances the two terms until the iteration converges quadratically.
            let scale = (cofactors.norm() / x.norm()).sqrt();
            let scale = if (scale - 1.0).abs() < QUADRATIC_SCALE {
                1.0
            } else {
                scale
            };
            let next = (x * scale + cofactors / scale) * 0.5;
            let step = (next - x).norm();
            x = next;
            if step <= SMALL_ANGLE {
                return Ok(Self::from_orthogonal(&x));
            }
        }
        Err(fail())
    }

    /// Converts a rotation matrix to a unit quaternion by Shepperd's method. The largest component of the quaternion is computed
    /// first, so that no rounding error is amplified by cancellation.
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

    /// Returns the left Jacobian of the exponential of rotations,
    /// $J_l = I + \tfrac{1-\cos\theta}{\theta^2}S + \tfrac{\theta-\sin\theta}{\theta^3}S^2$, at the rotation
    /// vector $\phi$ (rad), with its cross-product matrix $S$ and its length $\theta$.
    pub fn left_jacobian(phi: &Vector3<f64>) -> Matrix3<f64> {
        let (theta, s) = (phi.norm(), hat(phi));
        Matrix3::identity() + s * versine(theta) + s * s * sine_defect(theta)
    }

    /// Returns the right Jacobian of the exponential of rotations at the rotation vector $\phi$ (rad). It equals the left
    /// Jacobian at $-\phi$, and the transpose of the left Jacobian at $\phi$.
    pub fn right_jacobian(phi: &Vector3<f64>) -> Matrix3<f64> {
        Self::left_jacobian(phi).transpose()
    }

    /// Returns the inverse of the left Jacobian of the exponential of rotations,
    /// $I - \tfrac12S + \theta^{-2}(1 - \tfrac\theta2\cot\tfrac\theta2)S^2$, at the rotation vector $\phi$
    /// (rad), with its cross-product matrix $S$ and its length $\theta$.
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

    /// Returns the inverse of the right Jacobian of the exponential of rotations at the rotation vector $\phi$ (rad): the
    /// transpose of the inverse left Jacobian.
    ///
    /// # Errors
    ///
    /// [`LieError::FullTurn`] at $\theta = 2\pi k$, $k \ge 1$.
    pub fn inverse_right_jacobian(phi: &Vector3<f64>) -> Result<Matrix3<f64>, LieError> {
        Ok(Self::inverse_left_jacobian(phi)?.transpose())
    }
}

/// Computes the cofactor matrix of a 3 × 3 matrix: the transposed inverse times the determinant.
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
