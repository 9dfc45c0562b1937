//! Arithmetic: powers of two, and numbers with twice the precision.

use carom_numeric::sums::{two_product, two_sum};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Number type of the tableau, with the operations that it needs.
pub(crate) trait Scalar:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    const INFINITY: Self;
    /// Unit roundoff of the type.
    const ROUNDOFF: f64;
    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const INFINITY: Self = f64::INFINITY;
    /// Unit roundoff of `f64`: half a unit in the last place of 1.
    const ROUNDOFF: f64 = f64::EPSILON / 2.0;
    #[inline]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
}

/// Returns the larger of two numbers; NaN if `b` is NaN, unlike `f64::max`.
#[inline(always)]
pub(crate) fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// Returns the smaller of two numbers; NaN if `b` is NaN, unlike `f64::min`.
#[inline(always)]
pub(crate) fn smaller<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

/// Combines all entries of an array into one value with the function `combine`: the first half of the entries with the
/// second half, and so on. The operations depend on each other in a shorter chain than if the entries were combined
/// one after the other.
#[inline(always)]
pub(crate) fn reduce<T: Copy, const N: usize>(mut lanes: [T; N], combine: impl Fn(T, T) -> T) -> T {
    let mut n = N;
    while n > 1 {
        let half = n.div_ceil(2);
        for k in 0..n / 2 {
            lanes[k] = combine(lanes[k], lanes[k + half]);
        }
        n = half;
    }
    lanes[0]
}

/// Number with about 106 bits: the unevaluated sum of two doubles.
///
/// Dekker, *A floating-point technique for extending the available precision*, 1971.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    #[inline]
    fn renormalized(a: f64, b: f64) -> Self {
        let high = a + b;
        Self {
            high,
            low: b - (high - a),
        }
    }
}

impl Scalar for Double {
    const ZERO: Self = Self {
        high: 0.0,
        low: 0.0,
    };
    const ONE: Self = Self {
        high: 1.0,
        low: 0.0,
    };
    const INFINITY: Self = Self {
        high: f64::INFINITY,
        low: 0.0,
    };
    /// Slightly larger than 2⁻¹⁰⁶: the operations below are not correctly rounded.
    const ROUNDOFF: f64 = 1e-31;
    #[inline]
    fn from_f64(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
    #[inline]
    fn to_f64(self) -> f64 {
        self.high
    }
}

impl Add for Double {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let (s, e) = two_sum(self.high, other.high);
        let (t, f) = two_sum(self.low, other.low);
        let first = Self::renormalized(s, e + t);
        Self::renormalized(first.high, first.low + f)
    }
}

impl Neg for Double {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self {
            high: -self.high,
            low: -self.low,
        }
    }
}

impl Sub for Double {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let (p, e) = two_product(self.high, other.high);
        Self::renormalized(p, e + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Double {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - Self::from_f64(first) * other;
        let second = rest.high / other.high;
        let rest = rest - Self::from_f64(second) * other;
        let third = rest.high / other.high;
        Self::renormalized(first, second) + Self::from_f64(third)
    }
}

/// Returns the exponent $e$ with $2^e \le |x| < 2^{e+1}$, also for denormal numbers; 0 if $x$ is zero, NaN or
/// infinite.
#[inline]
pub(crate) fn exponent(x: f64) -> i32 {
    let raw = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32;
    match raw(x) {
        0 if x == 0.0 => 0,
        0 => raw(x * carom_numeric::power(2.0, 60)) - 1083,
        0x7ff => 0,
        e => e - 1023,
    }
}

/// Returns $2^e$, limited to the range of normal numbers, $2^{-1022}$ to $2^{1023}$.
#[inline]
pub(crate) fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// Returns $2^e x$. The result is rounded once if it lies outside the range of normal numbers.
#[inline]
pub(crate) fn scale_by_power(x: f64, e: i32) -> f64 {
    if (-1022..=1023).contains(&e) {
        return x * power_of_two(e);
    }
    // Two steps in the same direction: the first is exact unless the result is 0 or infinite.
    let half = (e / 2).clamp(-1022, 1023);
    x * power_of_two(half) * power_of_two((e - half).clamp(-1022, 1023))
}
