//! Likelihood of a misfit: a six-dimensional Student t distribution with four degrees of freedom.

use crate::tolerances::SETTLED_SCALE;
use std::f64::consts::PI;

/// Degrees of freedom $\nu$ of the distribution.
const NU: f64 = 4.0;
/// Dimension of the residual.
const DIMENSION: f64 = 6.0;
/// Smallest scale of the distribution.
const LEAST_SCALE: f64 = 1e-9;
/// Largest number of iterations for the scale. A handful is usual; more are needed only if almost all misfits
/// are zero.
const MAX_ITERATIONS: usize = 10_000;

/// Returns the logarithm of the probability density of a misfit $d$ (dimensionless). The misfit is the length of the
/// six-dimensional difference between the predicted and the measured velocity after an impact, relative to the velocity before
/// it. The distribution of the difference is Student's t distribution with four degrees of freedom and the scale $s$:
/// $\ln\Gamma(5) - \ln\Gamma(2) - 3\ln(4\pi) - 6\ln s - 5\ln(1 + d^2/(4s^2))$.
#[must_use]
pub fn log_density(misfit: f64, scale: f64) -> f64 {
    // Gamma(5) = 24, Gamma(2) = 1.
    let ratio = misfit / scale;
    libm::log(24.0)
        - 3.0 * libm::log(NU * PI)
        - DIMENSION * libm::log(scale)
        - 0.5 * (NU + DIMENSION) * libm::log1p(ratio * ratio / NU)
}

/// Most probable scale of weighted misfits, and the sum of their log densities at that scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Likelihood {
    pub scale: f64,
    pub sum: f64,
}

/// Finds the scale $s$ for which the misfits $d$ of all impacts have the largest likelihood, and the sum of their log
/// densities at that scale. `weight` gives the weight of impact i.
///
/// The scale is the fixed point of $s^2 \leftarrow \overline{u d^2}/6$, $u = 10/(4 + d^2/s^2)$, with the start
/// $\overline{d^2}/6$ and overlines for weighted means. With $x = s^2$ it is the root of
/// $f(x) = \overline{10 d^2/(4x + d^2)} - 6$. This function is decreasing and convex, so that Newton steps from
/// the left never pass the root. If a Newton step would end below half of $x$, a fixed-point step is made
/// instead.
pub(crate) fn best_scale(misfits: &[f64], weight: impl Fn(usize) -> f64) -> Likelihood {
    let (mut squares, mut weights) = (0.0, 0.0);
    for (i, d) in misfits.iter().enumerate() {
        squares += weight(i) * d * d;
        weights += weight(i);
    }
    let least = LEAST_SCALE * LEAST_SCALE;
    let mut square = (squares / weights / DIMENSION).max(least);
    for _ in 0..MAX_ITERATIONS {
        let (mut sum, mut slope) = (0.0, 0.0);
        for (i, d) in misfits.iter().enumerate() {
            let ratio = d * d / (NU * square + d * d);
            sum += weight(i) * ratio;
            slope += weight(i) * ratio * (1.0 - ratio);
        }
        // The mean, and minus its derivative with respect to ln x.
        let mean = (NU + DIMENSION) * sum / weights;
        let slope = (NU + DIMENSION) * slope / weights;
        let newton = square * (1.0 + (mean - DIMENSION) / slope);
        let next = if newton >= 0.5 * square && newton.is_finite() {
            newton
        } else {
            square * mean / DIMENSION
        };
        let next = next.max(least);
        let is_done = (next - square).abs() <= SETTLED_SCALE * square;
        square = next;
        if is_done {
            break;
        }
    }
    let scale = square.sqrt();
    let sum = misfits
        .iter()
        .enumerate()
        .map(|(i, d)| weight(i) * log_density(*d, scale))
        .sum();
    Likelihood { scale, sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The density integrates to one over six dimensions: shells of area pi^3 r^5.
    #[test]
    fn the_density_is_normalized() {
        let (scale, n) = (0.7, 200_000);
        // r = s tan(t) maps the half line to a finite interval.
        let total: f64 = (0..n)
            .map(|i| {
                let t = (f64::from(i) + 0.5) / f64::from(n) * PI / 2.0;
                let r = scale * t.tan();
                let dr = scale / t.cos().powi(2) * PI / 2.0 / f64::from(n);
                log_density(r, scale).exp() * PI.powi(3) * r.powi(5) * dr
            })
            .sum();
        assert!((total - 1.0).abs() <= 1e-6, "{total}");
    }

    #[test]
    fn the_best_scale_is_a_maximum() {
        let misfits = [0.02, 0.05, 0.011, 0.4, 0.07];
        let best = best_scale(&misfits, |_| 1.0);
        let at = |s: f64| misfits.iter().map(|d| log_density(*d, s)).sum::<f64>();
        assert!((at(best.scale) - best.sum).abs() <= 1e-12);
        assert!(best.sum > at(best.scale * 1.001) && best.sum > at(best.scale * 0.999));
    }
}
