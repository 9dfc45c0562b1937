//! Exact sums of products of double-precision numbers, for all exponents.

use num_bigint::BigInt;
use num_bigint::Sign;

/// Returns the mantissa and the binary exponent of a finite number: the odd integer $m$ and $e$ with $x = m 2^e$.
/// Returns (0, 0) for zero.
pub(super) fn decode(x: f64) -> (i64, i32) {
    let bits = x.to_bits();
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let raw = ((bits >> 52) & 0x7ff) as i32;
    let (mantissa, exponent) = match raw {
        0 => (fraction, -1074),
        e => (fraction | (1 << 52), e - 1075),
    };
    if mantissa == 0 {
        return (0, 0);
    }
    let zeros = mantissa.trailing_zeros();
    let odd = mantissa >> zeros;
    let signed = if x < 0.0 { -odd } else { odd };
    (signed, exponent + zeros as i32)
}

/// Returns $(a/b) 2^e$ rounded to double precision, with $b > 0$ and $e$ = `exponent`. The result is infinite or
/// zero if the number lies outside the range of doubles.
pub(super) fn ratio(a: &BigInt, b: &BigInt, exponent: i64) -> f64 {
    if a.sign() == Sign::NoSign {
        return 0.0;
    }
    // A quotient of 64 or 65 bits; a sticky bit is appended if there is a remainder.
    let shift = 65 + b.bits() as i64 - a.bits() as i64;
    let (a, b) = match u64::try_from(shift) {
        Ok(up) => (a << up, b.clone()),
        Err(_) => (a.clone(), b << shift.unsigned_abs()),
    };
    let quotient = &a / &b;
    let is_exact = &quotient * &b == a;
    let magnitude = quotient.magnitude();
    let sticky = u128::from(!is_exact);
    let mut bits = 0u128;
    for (k, digit) in magnitude.iter_u64_digits().enumerate().take(2) {
        bits |= u128::from(digit) << (64 * k);
    }
    // One rounding, unless the number is denormal.
    let rounded = ((bits << 1) | sticky) as f64;
    let scaled = scale(rounded, exponent - shift - 1);
    if quotient.sign() == Sign::Minus {
        -scaled
    } else {
        scaled
    }
}

/// Returns $2^e x$ for a number $x \ge 1$, with $e$ = `exponent`.
fn scale(mut x: f64, exponent: i64) -> f64 {
    let mut left = exponent.clamp(-4000, 4000) as i32;
    while left != 0 && x != 0.0 && x.is_finite() {
        let step = left.clamp(-1000, 1000);
        x *= carom_numeric::power(2.0, step);
        left -= step;
    }
    x
}

/// Sums $\sum a_k b_k$ and $\sum |a_k b_k|$, both times one power of two.
#[derive(Clone, Debug)]
pub(crate) struct ProductSum {
    sum: BigInt,
    size: BigInt,
}

impl ProductSum {
    /// Computes the sum of the products of pairs of finite numbers, without rounding.
    pub(crate) fn of(products: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        let decoded = || {
            products.clone().filter_map(|(a, b)| {
                let ((a, e), (b, f)) = (decode(a), decode(b));
                (a != 0 && b != 0).then_some((i128::from(a) * i128::from(b), e + f))
            })
        };
        let least = decoded().map(|(_, e)| e).min().unwrap_or(0);
        let (mut sum, mut size) = (BigInt::ZERO, BigInt::ZERO);
        for (product, e) in decoded() {
            let term = BigInt::from(product) << (e - least).unsigned_abs();
            size += BigInt::from(term.magnitude().clone());
            sum += term;
        }
        Self { sum, size }
    }

    /// Returns the sign of the sum of products: -1, 0 or 1.
    pub(crate) fn sign(&self) -> i32 {
        match self.sum.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }

    /// Returns the sum of products divided by the sum of their absolute values; 0 if all products are zero.
    pub(crate) fn relative(&self) -> f64 {
        if self.size.sign() == Sign::NoSign {
            return 0.0;
        }
        ratio(&self.sum, &self.size, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_the_nearest_doubles() {
        for (a, b) in [
            (1, 3),
            (-22, 7),
            (1, 1),
            (10_i64.pow(17) + 1, 10),
            (5, 1i64 << 40),
        ] {
            let found = ratio(&BigInt::from(a), &BigInt::from(b), 0);
            assert_eq!(found, a as f64 / b as f64, "{a}/{b}");
            let scaled = ratio(&BigInt::from(a), &BigInt::from(b), -900);
            assert_eq!(scaled, found * 2f64.powi(-900));
        }
        let huge = BigInt::from(1) << 3000u32;
        assert_eq!(ratio(&huge, &BigInt::from(1), 0), f64::INFINITY);
        assert_eq!(ratio(&BigInt::from(1), &huge, 0), 0.0);
        assert_eq!(ratio(&huge, &BigInt::from(3), -2990), 1024.0 / 3.0);
        assert_eq!(ratio(&BigInt::from(3), &BigInt::from(1), -1074), 1.5e-323);
    }

    #[test]
    fn nothing_is_lost_between_the_ends_of_the_exponent_range() {
        let tiny = f64::from_bits(1);
        let products = [(f64::MAX, f64::MAX), (tiny, tiny), (-f64::MAX, f64::MAX)];
        assert_eq!(ProductSum::of(products.into_iter()).sign(), 1);
        let none = [(0.0, 1.0)];
        assert_eq!(ProductSum::of(none.into_iter()).relative(), 0.0);
        let third = [(1.0, 1.0), (-1.0, 2.0)];
        assert_eq!(ProductSum::of(third.into_iter()).relative(), -1.0 / 3.0);
    }
}
