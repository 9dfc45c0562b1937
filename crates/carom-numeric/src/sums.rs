//! Sums and products with their rounding errors, and exact sums.

use std::cmp::Ordering;

/// Adds two numbers without loss (Knuth's two-sum): returns the rounded sum and its rounding error. Together
/// the two results are exactly `a + b`.
///
/// # Examples
///
/// ```
/// assert_eq!(carom_numeric::sums::two_sum(1e16, 1.0), (1e16, 1.0));
/// ```
#[inline]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// Multiplies two numbers without loss (Dekker's product): returns the rounded product and its rounding error.
/// Together the two results are exactly `a b`. No fused multiply-add is used.
#[inline]
pub fn two_product(a: f64, b: f64) -> (f64, f64) {
    let split = |x: f64| {
        let t = 134_217_729.0 * x;
        let high = t - (t - x);
        (high, x - high)
    };
    let p = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

/// Accumulator that adds floating-point numbers exactly, without rounding errors.
///
/// The sum is stored as a nonoverlapping expansion (Shewchuk, *Adaptive precision floating-point arithmetic and
/// fast robust geometric predicates*, 1997): a list of parts with growing magnitude. The last part has the sign
/// of the sum. The sum is exact as long as no part overflows.
///
/// # Examples
///
/// ```
/// use carom_numeric::sums::ExactSum;
/// use std::cmp::Ordering;
/// let mut sum = ExactSum::default();
/// for x in [2f64.powi(80), 1.0, -(2f64.powi(80))] {
///     sum.add(x);
/// }
/// assert_eq!(sum.sign(), Ordering::Greater);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    parts: Vec<f64>,
}

impl ExactSum {
    /// Adds a number to the exact sum.
    pub fn add(&mut self, mut x: f64) {
        let mut kept = 0;
        for k in 0..self.parts.len() {
            let (s, e) = two_sum(x, self.parts[k]);
            if e != 0.0 {
                self.parts[kept] = e;
                kept += 1;
            }
            x = s;
        }
        self.parts.truncate(kept);
        if x != 0.0 {
            self.parts.push(x);
        }
    }

    /// Adds the product of two numbers to the exact sum. The product and its rounding error must be in the
    /// range of normal numbers.
    pub fn add_product(&mut self, a: f64, b: f64) {
        let (high, low) = two_product(a, b);
        self.add(low);
        self.add(high);
    }

    /// Returns the exact sign of the sum: `Less` for a negative sum, `Equal` for zero, `Greater` for a positive
    /// one.
    pub fn sign(&self) -> Ordering {
        let last = self.parts.last().copied().unwrap_or(0.0);
        last.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_keeps_its_rounding_error() {
        // In binary 3 × 0.1 exceeds 0.3 by less than a unit in the last place.
        let mut sum = ExactSum::default();
        sum.add_product(0.1, 3.0);
        sum.add_product(-0.3, 1.0);
        assert_eq!(sum.sign(), Ordering::Greater);
        sum.add_product(-0.1, 3.0);
        sum.add_product(0.3, 1.0);
        assert_eq!(sum.sign(), Ordering::Equal);
    }
}
