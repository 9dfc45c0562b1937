//! Functions that are 0/0 at the origin.

use crate::tolerances::{SMALL_ARGUMENT, SMALL_DERIVATIVE_ARGUMENT};

/// Returns $\sin z / z$, and 1 at $z = 0$.
#[inline]
pub(crate) fn sinc(z: f64) -> f64 {
    sinc_of(z, || libm::sin(z))
}

/// Returns $\sin z$, $\cos z$ and $\sin z / z$, in this order. The angle is reduced to a period only once.
#[inline]
pub(crate) fn sin_cos_sinc(z: f64) -> [f64; 3] {
    let (sin, cos) = libm::sincos(z);
    [sin, cos, sinc_of(z, || sin)]
}

/// Returns $\sin z / z$ from a function `sin` that computes $\sin z$. For small angles a power series is used, and `sin` is not
/// called.
#[inline]
fn sinc_of(z: f64, sin: impl FnOnce() -> f64) -> f64 {
    if z.abs() < SMALL_ARGUMENT {
        // The next term is below 1e-35.
        1.0 - z * z / 6.0 * (1.0 - z * z / 20.0)
    } else {
        sin() / z
    }
}

/// Returns the derivative of $\sin z/z$ with respect to $z$.
pub(crate) fn sinc_derivative(z: f64) -> f64 {
    if z.abs() < SMALL_DERIVATIVE_ARGUMENT {
        // The relative error is below 1e-19.
        let q = z * z;
        -z / 3.0 * (1.0 - q / 10.0 * (1.0 - q / 28.0 * (1.0 - q / 54.0)))
    } else {
        (z * libm::cos(z) - libm::sin(z)) / (z * z)
    }
}

/// Returns $\arctan(z)/z$, and 1 at $z = 0$.
#[inline]
pub(crate) fn atan_over(z: f64) -> f64 {
    if z.abs() < SMALL_ARGUMENT {
        let q = z * z;
        1.0 - q * (1.0 / 3.0 - q * 0.2)
    } else {
        libm::atan(z) / z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reduction_of_the_angle_gives_the_same_bits() {
        for k in -2000..2000 {
            let z = 1e-3 * f64::from(k) * f64::from(k).abs();
            assert_eq!(sin_cos_sinc(z), [libm::sin(z), libm::cos(z), sinc(z)]);
        }
    }

    #[test]
    fn series_and_closed_forms_meet() {
        for z in [0.99e-4f64, 1.01e-4] {
            assert!((sinc(z) - z.sin() / z).abs() < 2e-16);
            assert!((atan_over(z) - z.atan() / z).abs() < 2e-16);
        }
        let z = 0.01f64;
        let exact = (z * z.cos() - z.sin()) / (z * z);
        // The closed form cancels four digits of z.
        assert!((sinc_derivative(0.999_999 * z) - 0.999_999 * exact).abs() < 1e-12);
    }
}
