//! Sums of products of doubles without rounding.

use num_bigint::{BigInt, Sign};

/// An integer times a power of two.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic {
    digits: BigInt,
    exponent: i64,
}

impl Dyadic {
    pub(crate) fn zero() -> Self {
        Self::new(0.0)
    }

    /// Converts a finite floating-point number to its exact value as an integer times a power of two.
    pub(crate) fn new(x: f64) -> Self {
        let bits = x.to_bits();
        let biased = i64::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
        let fraction = bits & ((1 << 52) - 1);
        let (digits, exponent) = match biased {
            0 => (fraction, -1074),
            _ => (fraction | (1 << 52), biased - 1075),
        };
        let digits = BigInt::from(digits);
        Self {
            digits: if x < 0.0 { -digits } else { digits },
            exponent,
        }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self {
            digits: self.at(exponent) + other.at(exponent),
            exponent,
        }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self {
            digits: &self.digits * &other.digits,
            exponent: self.exponent + other.exponent,
        }
    }

    pub(crate) fn abs(&self) -> Self {
        Self {
            digits: BigInt::from(self.digits.magnitude().clone()),
            exponent: self.exponent,
        }
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.digits.sign() == Sign::Minus
    }

    pub(crate) fn is_positive(&self) -> bool {
        self.digits.sign() == Sign::Plus
    }

    /// True if this number is less than or equal to `other`.
    pub(crate) fn at_most(&self, other: &Self) -> bool {
        let exponent = self.exponent.min(other.exponent);
        self.at(exponent) <= other.at(exponent)
    }

    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// Returns this number in units of 2 to the power of `exponent`, which is at most its own exponent.
    pub(crate) fn at(&self, exponent: i64) -> BigInt {
        let shift = u64::try_from(self.exponent - exponent).unwrap_or(0);
        &self.digits << shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_not_three_tenths_over_three() {
        let sum = [0.1, 0.1, 0.1].map(Dyadic::new);
        let sum = sum.iter().fold(Dyadic::zero(), |sum, x| sum.plus(x));
        assert!(Dyadic::new(0.3).at_most(&sum) && !sum.at_most(&Dyadic::new(0.3)));
        let tiny = Dyadic::new(5e-324).times(&Dyadic::new(-5e-324));
        assert!(tiny.is_negative() && tiny.abs().is_positive());
    }
}
