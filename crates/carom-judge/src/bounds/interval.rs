//! Interval arithmetic: every operation rounds outwards, so that the interval contains the exact result.

use std::ops::{Add, Mul, Neg, Sub};

/// Closed interval of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval {
    pub(super) const ZERO: Self = Self {
        low: 0.0,
        high: 0.0,
    };

    /// Returns an upper bound of the square root of every number in this interval; NaN if its upper end is negative.
    pub(super) fn root_high(self) -> f64 {
        up(self.high.sqrt())
    }

    /// Returns an upper bound of the distance from the number `middle` to the ends of this interval.
    pub(super) fn radius(self, middle: f64) -> f64 {
        f64::max(up(self.high - middle), up(middle - self.low))
    }

    /// Returns a number in this interval, near its midpoint.
    pub(super) fn middle(self) -> f64 {
        0.5 * self.low + 0.5 * self.high
    }

    fn is_zero(self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }
}

impl From<f64> for Interval {
    fn from(x: f64) -> Self {
        Self { low: x, high: x }
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        Self {
            low: down(self.low + other.low),
            high: up(self.high + other.high),
        }
    }
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            low: -self.high,
            high: -self.low,
        }
    }
}

impl Sub for Interval {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        let corners = [
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ];
        if corners.iter().any(|x| x.is_nan()) {
            return Self {
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
            };
        }
        Self {
            low: down(corners.into_iter().fold(f64::INFINITY, f64::min)),
            high: up(corners.into_iter().fold(f64::NEG_INFINITY, f64::max)),
        }
    }
}

/// Rounds up: returns a number that is not less than the exact result of the operation that was rounded to `x`.
pub(super) fn up(x: f64) -> f64 {
    x.next_up()
}

fn down(x: f64) -> f64 {
    x.next_down()
}

/// Computes an interval that encloses the scalar product of two vectors of intervals.
pub(super) fn dot(a: &[Interval], b: &[Interval]) -> Interval {
    let products = a.iter().zip(b).map(|(a, b)| *a * *b);
    products.fold(Interval::ZERO, Add::add)
}

/// Converts exact numbers to intervals of zero width.
pub(super) fn exact(x: &[f64]) -> Vec<Interval> {
    x.iter().map(|x| Interval::from(*x)).collect()
}

/// Computes an upper bound of the Euclidean norm of every vector in the intervals `x`.
pub(super) fn norm_high(x: &[Interval]) -> f64 {
    let square = x.iter().map(|x| {
        let size = Interval::from(f64::max(x.low.abs(), x.high.abs()));
        size * size
    });
    square.fold(Interval::ZERO, Add::add).root_high()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_what_rounding_loses() {
        let tenth = Interval::from(0.1);
        let sum = (0..10).fold(Interval::ZERO, |sum, _| sum + tenth);
        // The double 0.1 is a little more than a tenth.
        assert!(sum.low <= 1.0 && sum.high > 1.0);
        assert!(sum.high - sum.low < 1e-14);
        let square = Interval {
            low: -2.0,
            high: 1.0,
        } * Interval {
            low: -3.0,
            high: 5.0,
        };
        assert!(square.low <= -10.0 && square.high >= 6.0);
        assert_eq!(Interval::ZERO * Interval::from(f64::MAX), Interval::ZERO);
    }
}
