//! Affine functions of the unknowns of a program.

/// Affine function of the unknowns.
#[derive(Clone)]
pub(super) struct Affine {
    pub(super) terms: Vec<f64>,
    pub(super) constant: f64,
}

impl Affine {
    /// Adds `factor` times another function.
    pub(super) fn add(&mut self, other: &Self, factor: f64) {
        for (x, y) in self.terms.iter_mut().zip(&other.terms) {
            *x += factor * y;
        }
        self.constant += factor * other.constant;
    }

    /// Returns the nonzero coefficients with the indices of their unknowns, and the constant.
    pub(super) fn row(&self) -> (Vec<(usize, f64)>, f64) {
        let terms = self.terms.iter().copied().enumerate();
        (terms.filter(|(_, x)| *x != 0.0).collect(), self.constant)
    }

    /// Returns the value of the function at the unknowns `x`.
    pub(super) fn at(&self, x: &[f64]) -> f64 {
        let products = self.terms.iter().zip(x).map(|(a, x)| a * x);
        self.constant + products.sum::<f64>()
    }
}
