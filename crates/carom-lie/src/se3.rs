//! Rigid motions in space: the group SE(3).

use crate::coefficients::{cosine_defect, mixed_defect, sine_defect};
use crate::{LieError, LieGroup, So3, hat};
use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

/// Rigid motion $\rho \mapsto R\rho + x$ with rotation $R$ and translation $x$: the configuration of a rigid
/// body.
///
/// # Examples
///
/// ```
/// use carom_lie::Se3;
/// use nalgebra::{Vector3, Vector6};
/// use std::f64::consts::PI;
/// // Half a turn about z, and 2 m along it: a screw.
/// let half = Se3::exp(&Vector6::new(0.0, 0.0, 2.0, 0.0, 0.0, PI));
/// let moved = half.act(&Vector3::new(1.0, 0.0, 0.0));
/// assert!((moved - Vector3::new(-1.0, 0.0, 2.0)).norm() < 1e-15);
/// // Two halves are a whole turn, so that the point is above its start.
/// let twice = half.compose(&half).act(&Vector3::new(1.0, 0.0, 0.0));
/// assert!((twice - Vector3::new(1.0, 0.0, 4.0)).norm() < 1e-14);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Se3 {
    /// Attitude $R$: rotation from the body frame to the space frame.
    pub rotation: So3,
    /// Position $x$ of the body's origin in the space frame.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub translation: Vector3<f64>,
}

/// Splits a twist into its translational part (the first three entries) and its rotational part (the last three entries).
fn split(twist: &Vector6<f64>) -> (Vector3<f64>, Vector3<f64>) {
    (
        Vector3::new(twist[0], twist[1], twist[2]),
        Vector3::new(twist[3], twist[4], twist[5]),
    )
}

fn join(u: &Vector3<f64>, phi: &Vector3<f64>) -> Vector6<f64> {
    Vector6::new(u.x, u.y, u.z, phi.x, phi.y, phi.z)
}

/// Assembles a 6 × 6 matrix from 3 × 3 blocks. Both diagonal blocks are `diagonal`, the upper right block is `upper`, and the
/// lower left block is zero.
fn block(diagonal: &Matrix3<f64>, upper: &Matrix3<f64>) -> Matrix6<f64> {
    let mut out = Matrix6::zeros();
    out.fixed_view_mut::<3, 3>(0, 0).copy_from(diagonal);
    out.fixed_view_mut::<3, 3>(0, 3).copy_from(upper);
    out.fixed_view_mut::<3, 3>(3, 3).copy_from(diagonal);
    out
}

impl Se3 {
    /// Creates a rigid motion from its rotation and its translation.
    #[inline]
    pub fn new(rotation: So3, translation: Vector3<f64>) -> Self {
        Self {
            rotation,
            translation,
        }
    }

    /// Returns the identity motion: no rotation and no translation.
    pub fn identity() -> Self {
        Self::new(So3::identity(), Vector3::zeros())
    }

    /// Maps a point $\rho$ from the body frame to the space frame, $R\rho + x$ with rotation $R$ and
    /// translation $x$.
    #[inline]
    pub fn act(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.rotation.rotate(point) + self.translation
    }

    /// Returns the product of two rigid motions: `other` is applied first, then `self`.
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        Self::new(
            self.rotation.compose(&other.rotation),
            self.act(&other.translation),
        )
    }

    /// Returns the inverse rigid motion.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self::new(
            self.rotation.inverse(),
            -self.rotation.rotate_back(&self.translation),
        )
    }

    /// Returns the rigid motion that is the exponential of a twist $(u, \phi)$, a screw motion. Its rotation is
    /// $R = \exp\phi$ and its translation $x = J_l(\phi)u$, with the translational part $u$ and the rotation
    /// vector $\phi$ (rad) of the twist and the left Jacobian $J_l$ of the rotation group
    /// ([`So3::left_jacobian`]).
    pub fn exp(twist: &Vector6<f64>) -> Self {
        let (u, phi) = split(twist);
        Self::new(So3::exp(&phi), So3::left_jacobian(&phi) * u)
    }

    /// Returns the twist (translational part, rotation vector in rad) whose exponential is this motion. The
    /// rotation angle is at most π.
    pub fn log(&self) -> Vector6<f64> {
        let phi = self.rotation.log();
        let s = hat(&phi);
        // The angle is at most π, where the Jacobian can be inverted.
        let c = crate::coefficients::cotangent_defect(phi.norm());
        let x = self.translation;
        let u = x - s * x * 0.5 + s * (s * x) * c;
        join(&u, &phi)
    }

    /// Returns the rigid motion that is the Cayley transform of a twist $(u, f)$ in 4 × 4 matrices. Its
    /// rotation is the Cayley transform of $f$ ([`So3::cayley`]), its translation $x = 2(I - S(f))^{-1}u$ with
    /// the cross-product matrix $S(f)$. Near the identity it approximates the exponential of $2(u, f)$.
    pub fn cayley(twist: &Vector6<f64>) -> Self {
        let (u, f) = split(twist);
        let x = (u + f.cross(&u) + f * f.dot(&u)) * (2.0 / (1.0 + f.norm_squared()));
        Self::new(So3::cayley(&f), x)
    }

    /// Returns the twist $(u, f)$ whose Cayley transform is this motion. $f$ is the inverse Cayley transform of
    /// the rotation ([`So3::inverse_cayley`]) and $u = \tfrac12(I - S(f))x$, with the translation $x$ and the
    /// cross-product matrix $S(f)$.
    ///
    /// # Errors
    ///
    /// [`LieError::HalfTurn`] for a rotation by half a turn.
    pub fn inverse_cayley(&self) -> Result<Vector6<f64>, LieError> {
        let f = self.rotation.inverse_cayley()?;
        let u = (self.translation - f.cross(&self.translation)) * 0.5;
        Ok(join(&u, &f))
    }

    /// Returns the adjoint matrix of this rigid motion, $\mathrm{Ad} = (R, S(x)R; 0, R)$ (6 × 6). The matrix maps twists $(u,
    /// \phi)$ from the body frame to the space frame. $R$ is the rotation, $x$ the translation and $S(x)$ its cross-product
    /// matrix.
    pub fn adjoint(&self) -> Matrix6<f64> {
        let r = self.rotation.matrix();
        block(&r, &(hat(&self.translation) * r))
    }

    /// Returns the left Jacobian of the exponential of rigid motions at a twist (6 × 6). Its diagonal blocks
    /// are the left Jacobian of the rotation, its upper right block is the coupling block $Q$ of Barfoot &
    /// Furgale (2014), Eq. (102).
    pub fn left_jacobian(twist: &Vector6<f64>) -> Matrix6<f64> {
        let (u, phi) = split(twist);
        block(&So3::left_jacobian(&phi), &coupling(&u, &phi))
    }

    /// Returns the right Jacobian of the exponential of rigid motions at a twist $\xi$ (6 × 6): the left
    /// Jacobian at $-\xi$.
    pub fn right_jacobian(twist: &Vector6<f64>) -> Matrix6<f64> {
        Self::left_jacobian(&-twist)
    }

    /// Returns the inverse of the left Jacobian of the exponential of rigid motions at a twist (6 × 6).
    ///
    /// # Errors
    ///
    /// [`LieError::FullTurn`] for a rotation vector of $2\pi k$, $k \ge 1$.
    pub fn inverse_left_jacobian(twist: &Vector6<f64>) -> Result<Matrix6<f64>, LieError> {
        let (u, phi) = split(twist);
        let inverse = So3::inverse_left_jacobian(&phi)?;
        Ok(block(&inverse, &-(inverse * coupling(&u, &phi) * inverse)))
    }

    /// Returns the inverse of the right Jacobian of the exponential of rigid motions at a twist (6 × 6).
    ///
    /// # Errors
    ///
    /// [`LieError::FullTurn`] for a rotation vector of $2\pi k$, $k \ge 1$.
    pub fn inverse_right_jacobian(twist: &Vector6<f64>) -> Result<Matrix6<f64>, LieError> {
        Self::inverse_left_jacobian(&-twist)
    }
}

/// Computes the upper right 3 × 3 block of the left Jacobian of the exponential of rigid motions, at the twist with translational
/// part `u` and rotation vector `phi` (rad).
fn coupling(u: &Vector3<f64>, phi: &Vector3<f64>) -> Matrix3<f64> {
    let (theta, p, q) = (phi.norm(), hat(phi), hat(u));
    let (pq, qp) = (p * q, q * p);
    let pqp = p * qp;
    q * 0.5
        + (pq + qp + pqp) * sine_defect(theta)
        + (p * pq + qp * p - pqp * 3.0) * cosine_defect(theta)
        + (pqp * p + p * pqp) * mixed_defect(theta)
}

impl LieGroup<6> for Se3 {
    fn identity() -> Self {
        Self::identity()
    }

    fn compose(&self, other: &Self) -> Self {
        self.compose(other)
    }

    fn inverse(&self) -> Self {
        self.inverse()
    }

    fn exp(tangent: &Vector6<f64>) -> Self {
        Self::exp(tangent)
    }

    fn log(&self) -> Vector6<f64> {
        self.log()
    }

    fn adjoint(&self) -> Matrix6<f64> {
        self.adjoint()
    }

    fn bracket(tangent: &Vector6<f64>) -> Matrix6<f64> {
        let (u, phi) = split(tangent);
        block(&hat(&phi), &hat(&u))
    }

    fn left_jacobian(tangent: &Vector6<f64>) -> Matrix6<f64> {
        Self::left_jacobian(tangent)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::testing::{check_group_axioms, rotation_vectors, vector};

    fn twists() -> Vec<Vector6<f64>> {
        let us = [
            vector(1.0, -2.0, 0.5),
            vector(0.0, 0.0, 0.0),
            vector(-0.3, 0.1, 4.0),
        ];
        let pairs = rotation_vectors().into_iter().zip(us.into_iter().cycle());
        pairs.map(|(phi, u)| join(&u, &phi)).collect()
    }

    #[test]
    fn rigid_motions_are_a_lie_group() {
        check_group_axioms::<6, Se3>(&twists());
    }

    /// Checks the Cayley map of rigid motions against its definition with 4 × 4 matrices, $(I - \hat\xi)^{-1}(I +
    /// \hat\xi)$.
    #[test]
    fn the_cayley_map_is_the_matrix_quotient() {
        for twist in twists() {
            let (u, f) = split(&twist);
            let mut m = nalgebra::Matrix4::zeros();
            m.fixed_view_mut::<3, 3>(0, 0).copy_from(&hat(&f));
            m.fixed_view_mut::<3, 1>(0, 3).copy_from(&u);
            let identity = nalgebra::Matrix4::identity();
            let quotient = (identity - m).try_inverse().unwrap() * (identity + m);
            let motion = Se3::cayley(&twist);
            let x: Vector3<f64> = quotient.fixed_view::<3, 1>(0, 3).into();
            let r: Matrix3<f64> = quotient.fixed_view::<3, 3>(0, 0).into();
            assert!((x - motion.translation).norm() <= 1e-14);
            assert!((r - motion.rotation.matrix()).norm() <= 1e-14);
            assert!((motion.inverse_cayley().unwrap() - twist).norm() <= 1e-14);
        }
    }

    #[test]
    fn jacobians_and_their_inverses_cancel() {
        for twist in twists() {
            let left = Se3::left_jacobian(&twist) * Se3::inverse_left_jacobian(&twist).unwrap();
            let right = Se3::right_jacobian(&twist) * Se3::inverse_right_jacobian(&twist).unwrap();
            for product in [left, right] {
                assert!((product - Matrix6::identity()).norm() <= 2e-14);
            }
        }
    }
}
