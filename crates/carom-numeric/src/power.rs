//! Integer powers, with an order of products that does not depend on the machine.

/// Computes the power $x^n$ by repeated squaring. For a negative exponent the result is the reciprocal of $x^{|n|}$.
///
/// The result is the same with every compiler. With `f64::powi` the order of the multiplications, and hence the last digit,
/// depends on the compiler.
///
/// # Examples
///
/// ```
/// use carom_numeric::power;
/// assert_eq!(power(3.0, 4), 81.0);
/// assert_eq!(power(2.0, -52), f64::EPSILON);
/// ```
#[must_use]
pub fn power(x: f64, n: i32) -> f64 {
    let (mut factor, mut left, mut product) = (x, n.unsigned_abs(), 1.0);
    while left > 0 {
        if left & 1 == 1 {
            product *= factor;
        }
        factor *= factor;
        left >>= 1;
    }
    if n < 0 { 1.0 / product } else { product }
}

#[cfg(test)]
mod tests {
    use super::power;

    #[test]
    fn powers_of_two_are_exact() {
        for n in -1022..=1023 {
            let bits = u64::try_from(n + 1023).unwrap() << 52;
            assert_eq!(power(2.0, n), f64::from_bits(bits));
        }
    }

    #[test]
    fn a_power_is_its_product() {
        assert_eq!(power(-1.5, 3), -3.375);
        assert_eq!(power(7.0, 0), 1.0);
        assert_eq!(power(f64::INFINITY, -1), 0.0);
        assert!(power(f64::NAN, 2).is_nan());
    }
}
