//! Sums of products in twice the working precision.

use carom_numeric::sums::{two_product, two_sum};

/// An unevaluated sum `high + low` of two numbers, about 106 bits.
///
/// Dekker (1971), Ogita, Rump & Oishi, *Accurate sum and dot product* (2005).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Twice {
    high: f64,
    low: f64,
}

impl Twice {
    /// Adds a number to this sum and keeps the rounding error.
    pub(crate) fn add(&mut self, x: f64) {
        let (high, error) = two_sum(self.high, x);
        self.high = high;
        self.low += error;
    }

    /// Adds the product of two numbers to this sum and keeps the rounding errors of product and sum.
    pub(crate) fn add_product(&mut self, x: f64, y: f64) {
        let (product, error) = two_product(x, y);
        self.add(product);
        self.low += error;
    }

    /// Returns the sum rounded to working precision.
    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}

/// Computes $\sum_k a_k(x_k + y_k)$ in twice the working precision. This is the velocity of a row $a$ if the generalized
/// velocity is stored as a given part $x$ plus an added part $y$.
pub(crate) fn dot_of_sum(a: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let mut sum = Twice::default();
    for ((a, x), y) in a.iter().zip(x).zip(y) {
        sum.add_product(*a, *x);
        sum.add_product(*a, *y);
    }
    sum.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelling_terms_leave_the_small_one() {
        let (a, x) = ([1e17, 1.0, -1e17], [1.0, 0.75, 1.0]);
        assert_eq!(dot_of_sum(&a, &x, &[0.0, 0.25, 0.0]), 1.0);
        let tenth = [0.1, -0.1];
        assert_eq!(dot_of_sum(&tenth, &[0.3, 0.3], &[0.0; 2]), 0.0);
    }
}
