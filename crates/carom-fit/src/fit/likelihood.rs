//! Likelihood of a misfit: a Student t distribution of several dimensions with four degrees of freedom.

use crate::tolerances::SETTLED_SCALE;
use std::f64::consts::PI;

/// Degrees of freedom $\nu$ of the distribution.
pub(crate) const NU: f64 = 4.0;
/// Smallest scale of the distribution.
pub(crate) const LEAST_SCALE: f64 = 1e-9;
/// Largest number of iterations for the scale. A handful is usual; more are needed only if almost all misfits
/// are zero.
const MAX_ITERATIONS: usize = 10_000;

/// Returns the logarithm of the probability density of a misfit $d$ (dimensionless). The misfit is the length of a difference of
/// velocities with $n$ coordinates (`dimension`), relative to the velocity before the impact. The distribution of the difference
/// is Student's t distribution with four degrees of freedom and the scale $s$:
/// $\ln\Gamma((4 + n)/2) - \ln\Gamma(2) - (n/2)\ln(4\pi) - n\ln s - ((4 + n)/2)\ln(1 + d^2/(4s^2))$.
#[must_use]
pub fn log_density(misfit: f64, scale: f64, dimension: usize) -> f64 {
    Density::new(scale, dimension).log(misfit)
}

/// Student's t distribution of differences with a number of coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Density {
    dimension: usize,
    scale: f64,
    /// Logarithm of the density of no misfit.
    most: f64,
}

impl Density {
    pub(crate) fn new(scale: f64, dimension: usize) -> Self {
        let n = dimension as f64;
        // Gamma(2) = 1.
        let most =
            libm::lgamma(0.5 * (NU + n)) - 0.5 * n * libm::log(NU * PI) - n * libm::log(scale);
        Self {
            dimension,
            scale,
            most,
        }
    }

    /// Returns the density for another number of coordinates.
    pub(crate) fn of(self, dimension: usize) -> Self {
        if self.dimension == dimension {
            self
        } else {
            Self::new(self.scale, dimension)
        }
    }

    /// Returns the logarithm of the density of a misfit; 0 for a difference without coordinates.
    pub(crate) fn log(&self, misfit: f64) -> f64 {
        if self.dimension == 0 {
            return 0.0;
        }
        let ratio = misfit / self.scale;
        self.most - 0.5 * (NU + self.dimension as f64) * libm::log1p(ratio * ratio / NU)
    }
}

/// Most probable scale of weighted misfits, and the sum of their log densities at that scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Likelihood {
    pub scale: f64,
    pub sum: f64,
}

/// Finds the scale $s$ for which the misfits $d$ of all impacts have the largest likelihood, and the sum of their log
/// densities at that scale. Misfit i has `dimension(i)` coordinates and the weight `weight(i)`.
///
/// The scale is the fixed point of $s^2 \leftarrow \overline{u d^2}/\overline{n}$, $u = (4 + n)/(4 + d^2/s^2)$, with the start
/// $\overline{d^2}/\overline{n}$ and overlines for weighted means. With $x = s^2$ it is the root of
/// $f(x) = \overline{(4 + n) d^2/(4x + d^2)} - \overline{n}$. This function is decreasing and convex, so that Newton steps from
/// the left never pass the root. If a Newton step would end below half of $x$, a fixed-point step is made
/// instead.
pub(crate) fn best_scale(
    misfits: &[f64],
    dimension: impl Fn(usize) -> usize,
    weight: impl Fn(usize) -> f64,
) -> Likelihood {
    let (mut squares, mut target, mut weights) = (0.0, 0.0, 0.0);
    for (i, d) in misfits.iter().enumerate() {
        squares += weight(i) * d * d;
        target += weight(i) * dimension(i) as f64;
        weights += weight(i);
    }
    let least = LEAST_SCALE * LEAST_SCALE;
    let target = target / weights;
    if !(target > 0.0) {
        return Likelihood {
            scale: LEAST_SCALE,
            sum: 0.0,
        };
    }
    let mut square = (squares / weights / target).max(least);
    for _ in 0..MAX_ITERATIONS {
        let (mut mean, mut slope) = (0.0, 0.0);
        for (i, d) in misfits.iter().enumerate() {
            let n = dimension(i);
            if n > 0 {
                let ratio = d * d / (NU * square + d * d);
                let own = weight(i) * (NU + n as f64) * ratio;
                mean += own;
                slope += own * (1.0 - ratio);
            }
        }
        // The mean, and minus its derivative with respect to ln x.
        let (mean, slope) = (mean / weights, slope / weights);
        let newton = square * (1.0 + (mean - target) / slope);
        let next = if newton >= 0.5 * square && newton.is_finite() {
            newton
        } else {
            square * mean / target
        };
        let next = next.max(least);
        let is_done = (next - square).abs() <= SETTLED_SCALE * square;
        square = next;
        if is_done {
            break;
        }
    }
    let scale = square.sqrt();
    let mut density = Density::new(scale, 0);
    let mut sum = 0.0;
    for (i, d) in misfits.iter().enumerate() {
        density = density.of(dimension(i));
        sum += weight(i) * density.log(*d);
    }
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
                log_density(r, scale, 6).exp() * PI.powi(3) * r.powi(5) * dr
            })
            .sum();
        assert!((total - 1.0).abs() <= 1e-6, "{total}");
    }

    #[test]
    fn the_best_scale_is_a_maximum() {
        let misfits = [0.02, 0.05, 0.011, 0.4, 0.07];
        let best = best_scale(&misfits, |_| 6, |_| 1.0);
        let at = |s: f64| misfits.iter().map(|d| log_density(*d, s, 6)).sum::<f64>();
        assert!((at(best.scale) - best.sum).abs() <= 1e-12);
        assert!(best.sum > at(best.scale * 1.001) && best.sum > at(best.scale * 0.999));
    }
}
