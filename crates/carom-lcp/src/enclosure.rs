//! Decides a complementary basis by verified error bounds. The decision is as certain as rational arithmetic,
//! unless a sign is zero to working precision.

use crate::LcpRef;
use crate::balance::Balance;
use crate::scalar::{Double, Scalar, scale_by_power};
use crate::tolerances::SMALLEST;
use nalgebra::DMatrix;

/// Decision about a complementary basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enclosed {
    /// The system of the basis has one solution, and it solves the problem: entries not zero by definition are
    /// positive.
    Solution,
    /// The system of the basis has one solution, and it has a negative entry.
    NoSolution,
    /// A sign is zero to working precision, or the matrix of the basis is singular.
    Unknown,
}

/// Part of the terms of a row that may be rounding error of the assembled matrix, relative, $2^{-50}$. The rows
/// of redundant contacts depend on each other up to this error. Beyond eight rows such problems are solved,
/// although the problem with the rounded entries may have no solution.
pub(crate) const DATA_ROUNDING: f64 = 8.881_784_197_001_252e-16;

/// Factor that enlarges a bound by more than its own rounding error.
pub(crate) const INFLATED: f64 = 1.0 + 1e-9;

/// Solution of the system of a basis in balanced units, with error bounds.
struct Bounded<'a> {
    problem: LcpRef<'a>,
    balance: Balance,
    /// Exponent of the power of two that scales the balanced vector to about one.
    shift: i32,
    inside: Vec<usize>,
    outside: Vec<usize>,
    x: Vec<Double>,
    radius: Vec<f64>,
}

impl<'a> Bounded<'a> {
    /// Computes the solution of a complementary basis near `z` (n entries), with proven bounds of its errors. `basis`
    /// is `true` where $z_i$ is basic. Returns `None` if no bound is found.
    ///
    /// The solution of the basis solves a linear system $Ax = b$. Let $R$ be an approximate inverse of $A$ with
    /// $\lVert I - RA\rVert_\infty \le \alpha < 1$, and $\tilde x$ an approximate solution with
    /// $v = |R||b - A\tilde x|$. Then the error of $\tilde x$ is at most
    /// $v + \frac{\alpha}{1-\alpha}\lVert v\rVert_\infty$ in every entry (Rump, *Verification methods*, Acta Numerica
    /// 2010, Section 10). Here $\tilde x$ has twice the precision, so that few signs remain unknown.
    fn new(problem: LcpRef<'a>, basis: &[bool], z: &[f64]) -> Option<Self> {
        let n = problem.dim();
        let mut balance = Balance::new();
        balance.set(problem);
        let shift = shift(problem, &balance)?;
        let is_basic = |i: &usize| basis.get(*i) == Some(&true);
        let (inside, outside): (Vec<usize>, Vec<usize>) = (0..n).partition(is_basic);
        let mut bounded = Self {
            problem,
            balance,
            shift,
            inside,
            outside,
            x: Vec::new(),
            radius: Vec::new(),
        };
        if !bounded.is_exact() {
            return None;
        }
        let inside = &bounded.inside;
        let k = inside.len();
        let block = DMatrix::from_fn(k, k, |i, j| bounded.entry(inside[i], inside[j]));
        let inverse = block.clone().try_inverse()?;
        let contraction = contraction(&block, &inverse)?;
        let scaled = |j: &usize| scale_by_power(z[*j], shift - bounded.balance.column[*j]);
        let mut x: Vec<Double> = inside.iter().map(|j| Double::from_f64(scaled(j))).collect();
        for _ in 0..2 {
            let rest = inside.iter().map(|i| -bounded.row(*i, &x).value.to_f64());
            let rest: Vec<f64> = rest.collect();
            for (i, x) in x.iter_mut().enumerate() {
                let terms = rest.iter().enumerate();
                let change: f64 = terms.map(|(j, r)| inverse[(i, j)] * r).sum();
                *x = *x + Double::from_f64(change);
            }
        }
        let rest = inside.iter().map(|i| {
            let row = bounded.row(*i, &x);
            row.value.to_f64().abs() * INFLATED + row.rounding
        });
        let rest: Vec<f64> = rest.collect();
        let first = (0..k).map(|i| {
            let terms = rest.iter().enumerate();
            INFLATED * terms.map(|(j, r)| inverse[(i, j)].abs() * r).sum::<f64>()
        });
        let first: Vec<f64> = first.collect();
        if !first.iter().all(|v| v.is_finite()) {
            return None;
        }
        let largest = first.iter().fold(0.0f64, |m, v| m.max(*v));
        let common = INFLATED * contraction / (1.0 - contraction) * largest;
        bounded.radius = first.iter().map(|v| v + common).collect();
        bounded.x = x;
        Some(bounded)
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        let m = self.problem.column(j).get(i).copied().unwrap_or(0.0);
        scale_by_power(m, self.balance.row[i] + self.balance.column[j])
    }

    fn constant(&self, i: usize) -> f64 {
        scale_by_power(self.problem.vector()[i], self.balance.row[i] + self.shift)
    }

    /// True if the scaling by powers of two was exact: no entry of the vector was rounded, and no entry of the matrix
    /// columns that belong to basic variables.
    fn is_exact(&self) -> bool {
        let is_exact = |x: f64, scaled: f64| x == 0.0 || scaled.abs() > SMALLEST;
        let vector = self.problem.vector().iter().enumerate();
        vector
            .into_iter()
            .all(|(i, q)| is_exact(*q, self.constant(i)))
            && self.inside.iter().all(|j| {
                let column = self.problem.column(*j).iter().enumerate();
                column
                    .into_iter()
                    .all(|(i, m)| is_exact(*m, self.entry(i, *j)))
            })
    }

    /// Evaluates row `i` of $Mx + q$ in the scaled problem. `x` holds the values of the basic variables in twice
    /// the precision; all other entries of the answer are zero.
    fn row(&self, i: usize, x: &[Double]) -> Row {
        let constant = self.constant(i);
        let (mut value, mut terms) = (Double::from_f64(constant), constant.abs());
        for (j, x) in self.inside.iter().zip(x) {
            let m = self.entry(i, *j);
            value = value + Double::from_f64(m) * *x;
            terms += (m * x.to_f64()).abs();
        }
        Row {
            value,
            terms,
            rounding: Double::ROUNDOFF * (2 * self.inside.len() + 4) as f64 * terms,
        }
    }

    /// Evaluates $w_i = (Mz + q)_i$ in the scaled problem at the solution of the basis, for a row whose $z_i$ is
    /// not basic. Returns the value and the radius of its proven error bounds.
    fn slack(&self, i: usize) -> (Row, f64) {
        let row = self.row(i, &self.x);
        let basic = self.inside.iter().zip(&self.radius);
        let spread = basic.map(|(j, radius)| self.entry(i, *j).abs() * radius);
        let radius = INFLATED * spread.sum::<f64>() + row.rounding;
        (row, radius)
    }

    /// True if row `i` of $Mz + q$ has no terms except the constant $q_i$: its matrix entries in the columns of the
    /// basic variables are zero.
    fn is_constant(&self, i: usize) -> bool {
        self.inside.iter().all(|j| self.entry(i, *j) == 0.0)
    }
}

/// Value of a row of $Mx + q$.
struct Row {
    value: Double,
    /// Sum of the magnitudes of its terms.
    terms: f64,
    /// Bound of the rounding error of the value.
    rounding: f64,
}

/// Decides by proven error bounds if a complementary basis has a nonnegative solution near `z` (n entries). `basis`
/// is `true` where $z_i$ is basic and $w_i = (Mz + q)_i = 0$; elsewhere $z_i = 0$.
pub(crate) fn enclose(problem: LcpRef<'_>, basis: &[bool], z: &[f64]) -> Enclosed {
    let Some(bounded) = Bounded::new(problem, basis, z) else {
        return Enclosed::Unknown;
    };
    let mut is_known = true;
    let mut note = |value: f64, radius: f64| {
        // If the value is NaN, its sign is unknown.
        let is_sure = value.abs() > radius;
        is_known &= is_sure;
        is_sure && value < 0.0
    };
    for (x, radius) in bounded.x.iter().zip(&bounded.radius) {
        if note(x.to_f64(), *radius) {
            return Enclosed::NoSolution;
        }
    }
    for i in bounded.outside.iter().copied() {
        // A row without other terms equals its constant.
        if bounded.is_constant(i) && bounded.constant(i) >= 0.0 {
            continue;
        }
        let (row, radius) = bounded.slack(i);
        if note(row.value.to_f64(), radius) {
            return Enclosed::NoSolution;
        }
    }
    if is_known {
        Enclosed::Solution
    } else {
        Enclosed::Unknown
    }
}

/// True if proven error bounds show that the solution of a complementary basis near `z` (n entries) is wrong: at
/// least one $w_i$ is negative by more than [`DATA_ROUNDING`] times the terms of its row. `basis` is `true` where
/// $z_i$ is basic; the other rows are examined.
pub(crate) fn refutes(problem: LcpRef<'_>, basis: &[bool], z: &[f64]) -> bool {
    let Some(bounded) = Bounded::new(problem, basis, z) else {
        return false;
    };
    bounded.outside.iter().any(|i| {
        let (row, radius) = bounded.slack(*i);
        row.value.to_f64() + radius < -DATA_ROUNDING * row.terms
    })
}

/// Returns the exponent of the power of two that scales the vector $q$, after balancing, to a largest entry of
/// about one; `None` if the vector is zero.
fn shift(problem: LcpRef<'_>, balance: &Balance) -> Option<i32> {
    let rows = problem.vector().iter().zip(&balance.row);
    let sizes = rows.filter(|(q, _)| **q != 0.0);
    sizes
        .map(|(q, r)| crate::scalar::exponent(*q) + r)
        .max()
        .map(|e| -e)
}

/// Returns an upper bound of $\lVert I - RA\rVert_\infty$ for a matrix $A$ = `block` and its approximate inverse
/// $R$ = `inverse`, rounding errors included. `None` if the bound is not below one half.
fn contraction(block: &DMatrix<f64>, inverse: &DMatrix<f64>) -> Option<f64> {
    let k = block.nrows();
    let rest = DMatrix::identity(k, k) - inverse * block;
    let sizes = inverse.abs() * block.abs();
    let rounding = (k + 3) as f64 * f64::EPSILON;
    let mut largest = 0.0f64;
    for (rest, size) in rest.row_iter().zip(sizes.row_iter()) {
        let sum = INFLATED * rest.abs().sum() + rounding * (1.0 + size.sum());
        // If the sum is NaN, there is no bound.
        let is_bound = sum < 0.5;
        if !is_bound {
            return None;
        }
        largest = largest.max(sum);
    }
    Some(largest)
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
