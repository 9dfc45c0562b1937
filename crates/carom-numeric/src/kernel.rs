//! Operations on slices: norms, inner products, scaling.

/// A sum of squares or products between this and its inverse is not affected by overflow or underflow.
pub const SAFE_SQUARE: f64 = 1e-250;

/// True if every entry of a vector is finite, that is neither NaN nor infinite.
#[inline]
pub fn is_finite(x: &[f64]) -> bool {
    // Evaluated without branches: an infinity or a NaN makes the sum NaN.
    x.iter().fold(0.0, |sum, x| sum + 0.0 * x) == 0.0
}

/// Returns the power of two that scales a magnitude to about one; 1 for 0.
///
/// Multiplying by it is exact. Squares of scaled numbers neither overflow nor underflow, and the result does
/// not depend on the units of a problem.
#[inline]
pub fn power_of_two_scale(magnitude: f64) -> f64 {
    if magnitude == 0.0 || !magnitude.is_finite() {
        return 1.0;
    }
    let exponent = ((magnitude.to_bits() >> 52) & 0x7ff) as i64 - 1023;
    f64::from_bits(((1023 - exponent.clamp(-1000, 1000)) as u64) << 52)
}

/// Returns the largest absolute entry of a vector (its maximum norm); 0 for an empty slice.
#[inline]
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, v| f64::max(m, v.abs()))
}

/// Returns the larger of two numbers; NaN if either is NaN. [`f64::max`] drops a NaN, and so would a bad residual be lost
/// among good ones.
///
/// # Examples
///
/// ```
/// # use carom_numeric::kernel::larger;
/// assert_eq!([0.5, 2.0, 1.0].into_iter().fold(0.0, larger), 2.0);
/// assert!([0.5, f64::NAN, 1.0].into_iter().fold(0.0, larger).is_nan());
/// ```
#[inline]
pub fn larger(a: f64, b: f64) -> f64 {
    if b <= a || a.is_nan() { a } else { b }
}

/// Returns the Euclidean inner product of two vectors.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Returns the Euclidean norm of a vector, computed without overflow or underflow of the squares.
#[inline]
pub fn norm(x: &[f64]) -> f64 {
    let square = dot(x, x);
    if (SAFE_SQUARE..1.0 / SAFE_SQUARE).contains(&square) {
        return square.sqrt();
    }
    let scale = power_of_two_scale(max_abs(x));
    x.iter()
        .map(|v| (v * scale) * (v * scale))
        .sum::<f64>()
        .sqrt()
        / scale
}

/// Adds a multiple of the vector `x` to the vector `y`: `y += a x`.
#[inline]
pub fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_survives_the_ends_of_the_exponent_range() {
        let (huge, tiny) = (2f64.powi(700), 2f64.powi(-700));
        assert_eq!(norm(&[3.0 * huge, 4.0 * huge]), 5.0 * huge);
        assert_eq!(norm(&[3.0 * tiny, 4.0 * tiny]), 5.0 * tiny);
        assert!((norm(&[3e-310, 4e-310]) - 5e-310).abs() < 1e-322);
        assert_eq!(norm(&[]), 0.0);
    }
}
