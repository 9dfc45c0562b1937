//! Componentwise backward error of an answer.

use crate::LcpRef;
use crate::exact::ProductSum;
use crate::size::max_abs;
use carom_numeric::sums::{two_product, two_sum};

/// Largest componentwise backward error (relative, dimensionless) with which an answer counts as a solution of
/// a linear complementarity problem.
pub const SOLVED_ERROR: f64 = 1e-12;

/// Number of rows that are evaluated together.
const LANES: usize = 8;

/// Range of magnitudes within which sums in twice the precision neither overflow nor lose their low half.
const SAFE: std::ops::Range<f64> = 1e-250..1e250;

/// Returns the backward error of the answer `z` (n entries): the smallest relative change of the entries of $M$ and
/// $q$ that makes `z` a solution. The error is infinite if an entry of `z` is negative or not finite.
///
/// With $w = Mz + q$ and $t_i = |q_i| + \sum_j |M_{ij}| z_j$ the backward error is the largest of $|w_i|/t_i$ where
/// $z_i > 0$ and $\max(0, -w_i)/t_i$ elsewhere, with 0/0 = 0. $w$ is evaluated in twice the precision, or without
/// rounding where products would leave the range of doubles.
///
/// Oettli & Prager, *Compatibility of approximate solution of linear equations*, 1964; Ogita, Rump & Oishi,
/// *Accurate sum and dot product*, 2005, Algorithm 5.3.
pub(crate) fn backward_error(problem: LcpRef<'_>, z: &[f64]) -> f64 {
    if !z.iter().all(|z| *z >= 0.0 && z.is_finite()) {
        return f64::INFINITY;
    }
    let is_safe = max_abs(z) < SAFE.end && problem.matrix_max() < SAFE.end;
    let n = problem.dim();
    let mut largest = 0.0f64;
    for first in (0..n).step_by(LANES) {
        let rows = first..(first + LANES).min(n);
        let (mut high, mut low, mut size) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for (k, q) in problem.vector()[rows.clone()].iter().enumerate() {
            (high[k], size[k]) = (*q, q.abs());
        }
        for (j, z) in z.iter().enumerate().filter(|(_, z)| **z != 0.0) {
            let mut entries = [0.0; LANES];
            let column = &problem.column(j)[rows.clone()];
            entries[..column.len()].copy_from_slice(column);
            for k in 0..LANES {
                let (product, rest) = two_product(entries[k], *z);
                let (sum, error) = two_sum(high[k], product);
                high[k] = sum;
                low[k] += error + rest;
                size[k] += product.abs();
            }
        }
        for (k, i) in rows.enumerate() {
            let relative = if is_safe && SAFE.contains(&size[k]) {
                (high[k] + low[k]) / size[k]
            } else {
                exact_row(problem, z, i)
            };
            let is_positive = z.get(i).is_some_and(|z| *z > 0.0);
            let error = if is_positive {
                relative.abs()
            } else {
                -relative
            };
            largest = largest.max(error);
        }
    }
    largest
}

/// Computes the quotient $w_i/t_i$ of row `i` without rounding errors in the sums, for [`backward_error`].
/// $w_i = q_i + \sum_j M_{ij}z_j$ is the value of the row, and $t_i$ is the sum of the magnitudes of its terms.
#[cold]
fn exact_row(problem: LcpRef<'_>, z: &[f64], i: usize) -> f64 {
    let products = z.iter().enumerate();
    let products = products.filter_map(|(j, z)| Some((*problem.column(j).get(i)?, *z)));
    let constant = problem.vector().get(i).map(|q| (*q, 1.0));
    ProductSum::of(products.chain(constant)).relative()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(matrix: &[f64], vector: &[f64], z: &[f64]) -> f64 {
        backward_error(LcpRef::new(matrix, vector).unwrap(), z)
    }

    #[test]
    fn a_row_is_measured_by_its_own_terms() {
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let vector = [-1.0, -1.0, 1e300];
        assert_eq!(error(&identity, &vector, &[0.0, 1.0, 0.0]), 1.0);
        assert_eq!(error(&identity, &vector, &[1.0, 1.0, 0.0]), 0.0);
        assert_eq!(error(&identity, &vector, &[1.0, 1.0, 1.0]), 1.0);
        assert_eq!(error(&[1.0], &[-1.0], &[f64::NAN]), f64::INFINITY);
        assert_eq!(error(&[1.0], &[-1.0], &[-1.0]), f64::INFINITY);
    }

    #[test]
    fn cancellation_and_the_ends_of_the_range_lose_nothing() {
        // 3 (1/3) - 1 is -2^-54 times 2.
        let third = error(&[3.0], &[-1.0], &[1.0 / 3.0]);
        assert_eq!(third, 2f64.powi(-54) / 2.0);
        assert_eq!(error(&[1e300], &[-1e-300], &[1e-300]), 1.0);
        assert_eq!(error(&[f64::MAX], &[-f64::MAX], &[f64::MAX]), 1.0);
        assert_eq!(error(&[1e-200], &[-1e-300], &[1e-100]), {
            // Decimals that are no powers of two: rounded inputs.
            error(
                &[1e-200 * 2f64.powi(300)],
                &[-1e-300 * 2f64.powi(300)],
                &[1e-100],
            )
        });
        assert_eq!(error(&[0.0], &[0.0], &[0.0]), 0.0);
    }
}
