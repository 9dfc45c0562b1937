//! What a complementary basis is, by verified bounds: as certain as rational arithmetic, where the
//! signs are not zero.

use crate::LcpRef;
use crate::balance::Balance;
use crate::scalar::{Double, Scalar, scale_by_power};
use nalgebra::DMatrix;

/// What the bounds say about a complementary basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enclosed {
    /// Its system has one solution, which is positive where it is not fixed.
    Solution,
    /// Its system has one solution, with a negative entry.
    NoSolution,
    /// A sign is zero to working precision, or the system is singular.
    Unknown,
}

/// Entries below this may have been rounded by the scaling.
const SMALLEST: f64 = 1e-280;

/// Inflates bounds by more than their own rounding.
const INFLATED: f64 = 1.0 + 1e-9;

/// Encloses the solution of a basis near `z` (n).
///
/// With an approximate inverse $R$ and $\lVert I - RA\rVert_\infty \le \alpha < 1$ the solution of
/// $Ax = b$ is within $v + \frac{\alpha}{1-\alpha}\lVert v\rVert_\infty$ of $\tilde x$,
/// $v = |R||b - A\tilde x|$ (Rump, *Verification methods*, Acta Numerica 2010, Section 10). Here
/// $\tilde x$ has twice the precision, so that few signs stay open.
pub(crate) fn enclose(problem: LcpRef<'_>, basis: &[bool], z: &[f64]) -> Enclosed {
    let n = problem.dim();
    let mut balance = Balance::new();
    balance.set(problem);
    let Some(shift) = shift(problem, &balance) else {
        return Enclosed::Unknown;
    };
    let is_basic = |i: &usize| basis.get(*i) == Some(&true);
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..n).partition(is_basic);
    let entry = |i: usize, j: usize| {
        let m = problem.column(j).get(i).copied().unwrap_or(0.0);
        scale_by_power(m, balance.row[i] + balance.column[j])
    };
    let constant = |i: usize| scale_by_power(problem.vector()[i], balance.row[i] + shift);
    let is_exact = |x: f64, scaled: f64| x == 0.0 || scaled.abs() > SMALLEST;
    let are_exact = (0..n).all(|i| is_exact(problem.vector()[i], constant(i)))
        && inside.iter().all(|j| {
            let column = problem.column(*j).iter().enumerate();
            column.into_iter().all(|(i, m)| is_exact(*m, entry(i, *j)))
        });
    if !are_exact {
        return Enclosed::Unknown;
    }
    let k = inside.len();
    let block = DMatrix::from_fn(k, k, |i, j| entry(inside[i], inside[j]));
    let Some(inverse) = block.clone().try_inverse() else {
        return Enclosed::Unknown;
    };
    let Some(contraction) = contraction(&block, &inverse) else {
        return Enclosed::Unknown;
    };
    let scaled = |j: &usize| scale_by_power(z[*j], shift - balance.column[*j]);
    let mut x: Vec<Double> = inside.iter().map(|j| Double::from_f64(scaled(j))).collect();
    // $M_i x + q_i$, and a bound of its rounding.
    let row = |i: usize, x: &[Double]| {
        let (mut sum, mut size) = (Double::from_f64(constant(i)), constant(i).abs());
        for (j, x) in inside.iter().zip(x) {
            let m = entry(i, *j);
            sum = sum + Double::from_f64(m) * *x;
            size += (m * x.to_f64()).abs();
        }
        (sum, Double::ROUNDOFF * (2 * k + 4) as f64 * size)
    };
    for _ in 0..2 {
        let rest: Vec<f64> = inside.iter().map(|i| -row(*i, &x).0.to_f64()).collect();
        for (i, x) in x.iter_mut().enumerate() {
            let terms = rest.iter().enumerate();
            let change: f64 = terms.map(|(j, r)| inverse[(i, j)] * r).sum();
            *x = *x + Double::from_f64(change);
        }
    }
    let rest = inside.iter().map(|i| {
        let (sum, rounding) = row(*i, &x);
        sum.to_f64().abs() * INFLATED + rounding
    });
    let rest: Vec<f64> = rest.collect();
    let first = (0..k).map(|i| {
        let terms = rest.iter().enumerate();
        INFLATED * terms.map(|(j, r)| inverse[(i, j)].abs() * r).sum::<f64>()
    });
    let first: Vec<f64> = first.collect();
    let largest = first.iter().fold(0.0f64, |m, v| m.max(*v));
    let common = INFLATED * contraction / (1.0 - contraction) * largest;
    let radius: Vec<f64> = first.iter().map(|v| v + common).collect();

    let mut is_known = true;
    let mut note = |value: f64, radius: f64| {
        // Written so that NaN is unknown.
        let is_sure = value.abs() > radius;
        is_known &= is_sure;
        is_sure && value < 0.0
    };
    for (x, radius) in x.iter().zip(&radius) {
        if note(x.to_f64(), *radius) {
            return Enclosed::NoSolution;
        }
    }
    for i in outside {
        let (sum, rounding) = row(i, &x);
        let spread = inside
            .iter()
            .zip(&radius)
            .map(|(j, r)| entry(i, *j).abs() * r);
        let radius = INFLATED * spread.sum::<f64>() + rounding;
        // A row without other terms is what it is given as.
        let is_constant = inside.iter().all(|j| entry(i, *j) == 0.0);
        if is_constant && constant(i) >= 0.0 {
            continue;
        }
        if note(sum.to_f64(), radius) {
            return Enclosed::NoSolution;
        }
    }
    if is_known {
        Enclosed::Solution
    } else {
        Enclosed::Unknown
    }
}

/// The exponent that brings the balanced vector to about one; `None` if it vanishes.
fn shift(problem: LcpRef<'_>, balance: &Balance) -> Option<i32> {
    let rows = problem.vector().iter().zip(&balance.row);
    let sizes = rows.filter(|(q, _)| **q != 0.0);
    sizes
        .map(|(q, r)| crate::scalar::exponent(*q) + r)
        .max()
        .map(|e| -e)
}

/// A bound of $\lVert I - RA\rVert_\infty$ below one half.
fn contraction(block: &DMatrix<f64>, inverse: &DMatrix<f64>) -> Option<f64> {
    let k = block.nrows();
    let rest = DMatrix::identity(k, k) - inverse * block;
    let sizes = inverse.abs() * block.abs();
    let rounding = (k + 3) as f64 * f64::EPSILON;
    let mut largest = 0.0f64;
    for (rest, size) in rest.row_iter().zip(sizes.row_iter()) {
        let sum = INFLATED * rest.abs().sum() + rounding * (1.0 + size.sum());
        // Keeps NaN.
        largest = if sum <= largest { largest } else { sum };
    }
    (largest < 0.5).then_some(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enclosed(matrix: &[f64], vector: &[f64], basis: &[bool], z: &[f64]) -> Enclosed {
        enclose(LcpRef::new(matrix, vector).unwrap(), basis, z)
    }

    #[test]
    fn signs_that_are_not_zero_are_known() {
        let matrix = [2.0, 1.0, 1.0, 2.0];
        let both = [true, true];
        let is = |q: [f64; 2], z: [f64; 2]| enclosed(&matrix, &q, &both, &z);
        assert_eq!(is([-5.0, -6.0], [4.0 / 3.0, 7.0 / 3.0]), Enclosed::Solution);
        assert_eq!(is([-1.0, -6.0], [0.0, 11.0 / 3.0]), Enclosed::NoSolution);
        // Exactly zero.
        assert_eq!(is([-1.0, -2.0], [0.0, 1.0]), Enclosed::Unknown);
        let one = [true, false];
        assert_eq!(
            enclosed(&matrix, &[-2.0, 1.0], &one, &[1.0, 0.0]),
            Enclosed::Solution
        );
        assert_eq!(
            enclosed(&matrix, &[-2.0, -2.0], &one, &[1.0, 0.0]),
            Enclosed::NoSolution
        );
        let singular = [1.0, -1.0, -1.0, 1.0];
        let far = [1e16, 1e16];
        assert_eq!(
            enclosed(&singular, &[-1.0, -1.0], &both, &far),
            Enclosed::Unknown
        );
    }

    #[test]
    fn hilbert_matrices_of_ten_digits_are_within_reach() {
        let n = 8;
        let matrix: Vec<f64> = (0..n * n)
            .map(|k| 1.0 / (k / n + k % n + 1) as f64)
            .collect();
        let z = vec![1.0; n];
        let vector: Vec<f64> = (0..n)
            .map(|i| -(0..n).map(|j| 1.0 / (i + j + 1) as f64).sum::<f64>())
            .collect();
        assert_eq!(
            enclosed(&matrix, &vector, &vec![true; n], &z),
            Enclosed::Solution
        );
    }
}
