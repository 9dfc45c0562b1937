//! Gauss-Legendre quadrature.

/// Nodes and weights on \[-1, 1\] by Newton's iteration on the Legendre polynomial.
pub(crate) fn gauss_legendre<const N: usize>() -> [(f64, f64); N] {
    let mut rule = [(0.0, 0.0); N];
    let n = N as f64;
    for (i, entry) in rule.iter_mut().enumerate() {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut p, mut previous) = (1.0, 0.0);
            for k in 0..N {
                let k = k as f64;
                (p, previous) = (((2.0 * k + 1.0) * x * p - k * previous) / (k + 1.0), p);
            }
            slope = n * (x * p - previous) / (x * x - 1.0);
            let step = p / slope;
            x -= step;
            if step.abs() <= 1e-16 {
                break;
            }
        }
        *entry = (x, 2.0 / ((1.0 - x * x) * slope * slope));
    }
    rule
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact for polynomials of degree 2N - 1.
    #[test]
    fn monomials_are_integrated_exactly() {
        let rule = gauss_legendre::<20>();
        for degree in 0..40 {
            let sum: f64 = rule.iter().map(|(x, w)| w * x.powi(degree)).sum();
            let exact = if degree % 2 == 0 {
                2.0 / f64::from(degree + 1)
            } else {
                0.0
            };
            assert!((sum - exact).abs() <= 2e-15, "{degree}: {sum} {exact}");
        }
    }
}
