//! Gauss-Legendre quadrature, fixed and adaptive.

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

/// Points of the adaptive rule.
const POINTS: usize = 12;

/// Most halvings of an interval: the rest is shorter than the rounding of its ends.
const DEPTH: usize = 45;

/// Integrates several functions at once by halving intervals.
pub(crate) struct Adaptive {
    rule: [(f64, f64); POINTS],
}

impl Adaptive {
    pub(crate) fn new() -> Self {
        Self {
            rule: gauss_legendre(),
        }
    }

    /// Integrals over an interval. Each is halved until the sum over the halves differs from the
    /// whole by no more than the tolerance, which then overestimates the error by far.
    pub(crate) fn integrate<const N: usize>(
        &self,
        function: &dyn Fn(f64) -> [f64; N],
        [from, to]: [f64; 2],
        tolerance: f64,
    ) -> [f64; N] {
        let whole = self.panel(function, from, to);
        self.halve(function, [from, to], whole, tolerance, DEPTH)
    }

    fn halve<const N: usize>(
        &self,
        function: &dyn Fn(f64) -> [f64; N],
        [from, to]: [f64; 2],
        whole: [f64; N],
        tolerance: f64,
        depth: usize,
    ) -> [f64; N] {
        let middle = 0.5 * (from + to);
        let low = self.panel(function, from, middle);
        let high = self.panel(function, middle, to);
        let both = add(&low, &high);
        let is_close = both
            .iter()
            .zip(&whole)
            .all(|(a, b)| (a - b).abs() <= tolerance);
        if is_close || depth == 0 {
            return both;
        }
        let low = self.halve(function, [from, middle], low, tolerance, depth - 1);
        let high = self.halve(function, [middle, to], high, tolerance, depth - 1);
        add(&low, &high)
    }

    fn panel<const N: usize>(
        &self,
        function: &dyn Fn(f64) -> [f64; N],
        from: f64,
        to: f64,
    ) -> [f64; N] {
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        let mut sums = [0.0; N];
        for (x, weight) in self.rule {
            let values = function(middle + half * x);
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += weight * half * value;
            }
        }
        sums
    }
}

fn add<const N: usize>(a: &[f64; N], b: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|i| a[i] + b[i])
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

    /// A kink, a root at the end, and a peak.
    #[test]
    fn adaptive_quadrature_finds_what_is_not_smooth() {
        let functions = |x: f64| [(x - 0.3).abs(), x.sqrt(), 1e-6 / (1e-6 + (x - 0.5).powi(2))];
        let found = Adaptive::new().integrate(&functions, [0.0, 1.0], 1e-13);
        let exact = [0.29, 2.0 / 3.0, 2e-3 * 500f64.atan()];
        for (a, b) in found.iter().zip(exact) {
            assert!((a - b).abs() <= 1e-12, "{a} {b}");
        }
    }
}
