//! Gauss-Legendre quadrature: fixed, on equal panels, and adaptive.

use std::sync::OnceLock;

/// Computes the N nodes and weights of the Gauss-Legendre rule on \[-1, 1\]. Each pair is a node and its
/// weight, from the largest node to the smallest. The nodes are found by Newton's method on the Legendre
/// polynomial. The rule is exact for polynomials of degree 2N - 1.
///
/// # Examples
///
/// ```
/// let rule = carom_numeric::quadrature::gauss_legendre::<2>();
/// assert!((rule[0].0 - 1.0 / 3f64.sqrt()).abs() < 1e-15);
/// assert!(rule.iter().all(|(_, weight)| (weight - 1.0).abs() < 1e-15));
/// ```
pub fn gauss_legendre<const N: usize>() -> [(f64, f64); N] {
    let mut rule = [(0.0, 0.0); N];
    let n = N as f64;
    for (i, entry) in rule.iter_mut().enumerate() {
        let mut x = libm::cos(std::f64::consts::PI * (i as f64 + 0.75) / (n + 0.5));
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
            if step.abs() <= 0.5 * f64::EPSILON {
                break;
            }
        }
        *entry = (x, 2.0 / ((1.0 - x * x) * slope * slope));
    }
    rule
}

/// Number of nodes per panel of [`panels`]. The rule is exact for polynomials of degree 39, so that an
/// oscillation of one radian per panel is integrated to rounding error.
const PANEL_NODES: usize = 20;

/// Largest number of panels of [`panels`].
const MOST_PANELS: f64 = 1e6;

/// Integrates N oscillating functions of the time over \[0, `t`\] by composite Gauss quadrature. `f` returns the values of the
/// functions at a time. `phase` is an upper bound of the phase change of the functions over the interval (rad). The interval is
/// divided into one panel per radian, at most a million panels, with 20 nodes each.
///
/// # Examples
///
/// ```
/// use std::f64::consts::FRAC_PI_2;
/// let [c, s] = carom_numeric::quadrature::panels(FRAC_PI_2, FRAC_PI_2, |t| [t.cos(), t.sin()]);
/// assert!((c - 1.0).abs() < 1e-15 && (s - 1.0).abs() < 1e-15);
/// ```
pub fn panels<const N: usize>(t: f64, phase: f64, f: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    static RULE: OnceLock<[(f64, f64); PANEL_NODES]> = OnceLock::new();
    let rule = RULE.get_or_init(|| gauss_legendre().map(|(x, w)| (0.5 * (1.0 + x), 0.5 * w)));
    let count = phase.abs().ceil().clamp(1.0, MOST_PANELS);
    let width = t / count;
    let mut sums = [0.0; N];
    for panel in 0..count as usize {
        let begin = panel as f64 * width;
        for (node, weight) in rule {
            for (sum, value) in sums.iter_mut().zip(f(begin + width * node)) {
                *sum += width * *weight * value;
            }
        }
    }
    sums
}

/// Number of nodes of the adaptive rule.
const POINTS: usize = 12;

/// Largest number of halvings of an interval; a shorter interval would be below the rounding error of its ends.
const DEPTH: usize = 45;

/// Adaptive Gauss quadrature of several functions at once. Intervals are halved until the integrals are accurate;
/// [`integrate`](Self::integrate) computes them.
#[derive(Clone, Debug)]
pub struct Adaptive {
    rule: [(f64, f64); POINTS],
}

impl Default for Adaptive {
    fn default() -> Self {
        Self {
            rule: gauss_legendre(),
        }
    }
}

impl Adaptive {
    /// Integrates several functions over the interval from `from` to `to`, and returns one integral per function. Each
    /// subinterval is halved until the sum of the integrals over its halves differs from the integral over the whole by at most
    /// `tolerance` (absolute, for each function). This difference is much larger than the error of the sum.
    pub fn integrate<const N: usize>(
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
    use std::f64::consts::PI;

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

    #[test]
    fn a_circle_closes() {
        let arc = |t: f64| [t.cos(), t.sin()];
        let [x, y] = panels(2.0 * PI, 2.0 * PI, arc);
        assert!(x.abs() < 1e-15 && y.abs() < 1e-15, "{x} {y}");
        let [x, y] = panels(-0.5 * PI, 0.5 * PI, arc);
        assert!(
            (x + 1.0).abs() < 1e-15 && (y - 1.0).abs() < 1e-15,
            "{x} {y}"
        );
    }

    /// A kink, a root at the end, and a peak.
    #[test]
    fn adaptive_quadrature_finds_what_is_not_smooth() {
        let functions = |x: f64| [(x - 0.3).abs(), x.sqrt(), 1e-6 / (1e-6 + (x - 0.5).powi(2))];
        let found = Adaptive::default().integrate(&functions, [0.0, 1.0], 1e-13);
        let exact = [0.29, 2.0 / 3.0, 2e-3 * 500f64.atan()];
        for (a, b) in found.iter().zip(exact) {
            assert!((a - b).abs() <= 1e-12, "{a} {b}");
        }
    }
}
