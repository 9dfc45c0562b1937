//! Gauss-Legendre quadrature on equal panels.

use nalgebra::Vector2;
use std::f64::consts::PI;
use std::sync::OnceLock;

/// Nodes per panel: exact for polynomials of degree 39, so that an oscillation of one radian per
/// panel is integrated to rounding.
const NODES: usize = 20;

/// Nodes in (0, 1) and weights.
fn rule() -> &'static [(f64, f64); NODES] {
    static RULE: OnceLock<[(f64, f64); NODES]> = OnceLock::new();
    RULE.get_or_init(|| {
        std::array::from_fn(|i| {
            let mut x = (PI * (i as f64 + 0.75) / (NODES as f64 + 0.5)).cos();
            let mut slope = 1.0;
            // Newton on the Legendre polynomial from Tricomi's estimate: quadratic, 4 steps do.
            for _ in 0..8 {
                let (mut p, mut before) = (1.0, 0.0);
                for k in 0..NODES {
                    let k = k as f64;
                    (p, before) = (((2.0 * k + 1.0) * x * p - k * before) / (k + 1.0), p);
                }
                slope = NODES as f64 * (x * p - before) / (x * x - 1.0);
                x -= p / slope;
            }
            (0.5 * (1.0 + x), 1.0 / ((1.0 - x * x) * slope * slope))
        })
    })
}

/// Integral over \[0, `t`\] of a planar function whose phase changes by at most `phase` radians.
pub(crate) fn integrate(t: f64, phase: f64, f: impl Fn(f64) -> Vector2<f64>) -> Vector2<f64> {
    let panels = phase.abs().ceil().clamp(1.0, 1e6);
    let width = t / panels;
    let mut sum = Vector2::zeros();
    for panel in 0..panels as usize {
        let begin = panel as f64 * width;
        for (node, weight) in rule() {
            sum += width * *weight * f(begin + width * node);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_closes() {
        let arc = |t: f64| Vector2::new(t.cos(), t.sin());
        let quarter = integrate(0.5 * PI, 0.5 * PI, arc);
        assert!((quarter - Vector2::new(1.0, 1.0)).norm() < 1e-15);
        assert!(integrate(2.0 * PI, 2.0 * PI, arc).norm() < 1e-15);
        let backwards = integrate(-0.5 * PI, 0.5 * PI, arc);
        assert!((backwards - Vector2::new(-1.0, 1.0)).norm() < 1e-15);
    }

    #[test]
    fn weights_sum_to_one() {
        let sum: f64 = rule().iter().map(|(_, w)| w).sum();
        assert!((sum - 1.0).abs() < 1e-15);
    }
}
