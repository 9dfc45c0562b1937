//! Conversions from and to the rotations and motions of nalgebra, and products.

use crate::{Se3, So3};
use nalgebra::{Isometry3, Quaternion, Rotation3, Translation3, Unit, UnitQuaternion};
use std::ops::Mul;

impl From<UnitQuaternion<f64>> for So3 {
    /// The quaternion is taken as it is if its length is one to rounding, else it is scaled.
    fn from(rotation: UnitQuaternion<f64>) -> Self {
        Self::of_unit(rotation.w, rotation.imag())
    }
}

impl From<So3> for UnitQuaternion<f64> {
    fn from(rotation: So3) -> Self {
        let (w, v) = rotation.quaternion();
        Unit::new_unchecked(Quaternion::from_parts(w, v))
    }
}

impl From<Rotation3<f64>> for So3 {
    fn from(rotation: Rotation3<f64>) -> Self {
        UnitQuaternion::from_rotation_matrix(&rotation).into()
    }
}

impl From<So3> for Rotation3<f64> {
    fn from(rotation: So3) -> Self {
        Self::from_matrix_unchecked(rotation.matrix())
    }
}

impl From<Isometry3<f64>> for Se3 {
    fn from(motion: Isometry3<f64>) -> Self {
        Self::new(motion.rotation.into(), motion.translation.vector)
    }
}

impl From<Se3> for Isometry3<f64> {
    fn from(motion: Se3) -> Self {
        Self::from_parts(
            Translation3::from(motion.translation),
            motion.rotation.into(),
        )
    }
}

/// Product of rotations, [`So3::compose`]: the right one is applied first.
impl Mul for So3 {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.compose(&other)
    }
}

/// Product of rigid motions, [`Se3::compose`]: the right one is applied first.
impl Mul for Se3 {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.compose(&other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn conversions_keep_every_bit_of_a_quaternion_and_the_action() {
        let point = Vector3::new(0.3, -0.2, 0.9);
        for k in 0..200 {
            let k = f64::from(k);
            let phi = Vector3::new((1.7 * k).sin(), (2.3 * k).cos(), (0.9 * k).sin()) * 3.0;
            let motion = Se3::new(So3::exp(&phi), phi.cross(&point));
            let other = Se3::new(So3::exp(&(phi * 0.7).yzx()), point);
            let theirs = Isometry3::from(motion);
            assert_eq!(Se3::from(theirs), motion);
            assert!(
                (theirs * nalgebra::Point3::from(point) - motion.act(&point))
                    .coords
                    .norm()
                    < 1e-14
            );
            let turn = Rotation3::from(motion.rotation);
            assert_eq!(*turn.matrix(), motion.rotation.matrix());
            let back = So3::from(turn).rotate(&point);
            assert!((back - motion.rotation.rotate(&point)).norm() < 1e-14);
            assert_eq!(motion * other, motion.compose(&other));
            let product =
                UnitQuaternion::from(motion.rotation) * UnitQuaternion::from(other.rotation);
            let ours = motion.rotation * other.rotation;
            assert!((product * point - ours.rotate(&point)).norm() < 1e-14);
        }
    }

    #[test]
    fn a_quaternion_that_is_no_unit_is_scaled() {
        let twice = Unit::new_unchecked(Quaternion::new(0.0, 0.0, 0.0, 2.0));
        assert_eq!(So3::from(twice).quaternion(), (0.0, Vector3::z()));
    }
}
