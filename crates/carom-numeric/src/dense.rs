//! Factorizations of small dense matrices, in place, column-major and without allocation.
//!
//! The functions panic if a slice is shorter than its stated dimensions.

use crate::kernel;

/// A pivot below this fraction of the original diagonal entry, times the dimension, counts as rounding error.
const LOST_PIVOT: f64 = 4.0 * f64::EPSILON;

/// True if a pivot of a Cholesky factorization is larger than its rounding error, so that the matrix counts as
/// positive definite. `pivot` is the diagonal entry after elimination, `given` the diagonal entry of the
/// original matrix and `n` its dimension. NaN and infinities give false.
#[inline]
pub fn is_regular(pivot: f64, given: f64, n: usize) -> bool {
    pivot > LOST_PIVOT * n as f64 * given.abs() && pivot.is_finite()
}

/// Overwrites the lower triangle of a symmetric matrix $A$ (n × n, column-major) by its Cholesky factor $L$,
/// $A = LL^T$. The entries above the diagonal are neither read nor changed.
///
/// # Errors
///
/// The error is the size of the smallest leading block that is not positive definite to working precision.
///
/// # Examples
///
/// ```
/// let mut matrix = [4.0, 2.0, 2.0, 10.0];
/// assert_eq!(carom_numeric::dense::cholesky(&mut matrix, 2), Ok(()));
/// assert_eq!(matrix, [2.0, 1.0, 2.0, 3.0]);
/// ```
pub fn cholesky(matrix: &mut [f64], n: usize) -> Result<(), usize> {
    for j in 0..n {
        let (done, rest) = matrix.split_at_mut(j * n);
        let column = &mut rest[j..n];
        let given = column[0];
        // Skips zero entries: uncoupled bodies have no entries in each other's columns.
        for before in done.chunks_exact(n).filter(|before| before[j] != 0.0) {
            kernel::add_scaled(column, -before[j], &before[j..]);
        }
        if !is_regular(column[0], given, n) {
            return Err(j + 1);
        }
        let root = column[0].sqrt();
        column[0] = root;
        column[1..].iter_mut().for_each(|x| *x /= root);
    }
    Ok(())
}

/// Solves a triangular system by forward substitution: replaces $x$ by $L^{-1}x$. `lower` is the Cholesky
/// factor $L$ from [`cholesky`] (n × n, n the length of `x`).
pub fn whiten(lower: &[f64], x: &mut [f64]) {
    let n = x.len();
    for j in 0..n {
        whiten_column(&lower[j * n + j..(j + 1) * n], &mut x[j..]);
    }
}

/// Makes one step of forward substitution with a lower triangular matrix: divides the first entry of `x` by the
/// diagonal entry of a matrix column, and subtracts multiples of the quotient from the entries below. `column`
/// is the part of the column from the diagonal down; it may end after its last nonzero entry.
#[inline]
pub fn whiten_column(column: &[f64], x: &mut [f64]) {
    if let ([diagonal, below @ ..], [first, rest @ ..]) = (column, x) {
        *first /= diagonal;
        kernel::add_scaled(rest, -*first, below);
    }
}

/// Solves a transposed triangular system by backward substitution: replaces $z$ by $L^{-T}z$. `lower` is the
/// Cholesky factor $L$ from [`cholesky`] (n × n, n the length of `z`).
pub fn unwhiten(lower: &[f64], z: &mut [f64]) {
    let n = z.len();
    for j in (0..n).rev() {
        unwhiten_column(&lower[j * n + j..(j + 1) * n], &mut z[j..]);
    }
}

/// Makes one step of backward substitution with the transpose of a lower triangular matrix. Subtracts the terms of the entries
/// below from the first entry of `z`, and divides the difference by the diagonal entry of a matrix column. `column` is the part
/// of the column from the diagonal down; it may end after its last nonzero entry.
#[inline]
pub fn unwhiten_column(column: &[f64], z: &mut [f64]) {
    if let ([diagonal, below @ ..], [first, rest @ ..]) = (column, z) {
        *first = (*first - kernel::dot(below, rest)) / diagonal;
    }
}

/// Overwrites a matrix (n × n, column-major) by its LU factors with partial pivoting, and `pivots` (n entries)
/// by the row exchanges. Returns false if the matrix is singular to working precision: a pivot is not finite,
/// or is negligible compared with the largest entry of its column.
pub fn lu(matrix: &mut [f64], n: usize, pivots: &mut [usize]) -> bool {
    for j in 0..n {
        let column = &matrix[j * n..(j + 1) * n];
        let size = kernel::max_abs(column);
        let mut best = j;
        for i in j + 1..n {
            if column[i].abs() > column[best].abs() {
                best = i;
            }
        }
        pivots[j] = best;
        // This comparison is false for NaN.
        if !(column[best].abs() > f64::EPSILON * size && size.is_finite()) {
            return false;
        }
        if best != j {
            for k in 0..n {
                matrix.swap(k * n + j, k * n + best);
            }
        }
        let pivot = matrix[j * n + j];
        for i in j + 1..n {
            matrix[j * n + i] /= pivot;
        }
        for k in j + 1..n {
            let (head, tail) = matrix.split_at_mut(k * n);
            let factor = tail[j];
            if factor != 0.0 {
                kernel::add_scaled(
                    &mut tail[j + 1..n],
                    -factor,
                    &head[j * n + j + 1..(j + 1) * n],
                );
            }
        }
    }
    true
}

/// Solves a linear system $Ax = b$ with the LU factors of the matrix $A$. `factors` and `pivots` are the results of [`lu`]. `x`
/// contains the right-hand side $b$ when the function is called, and the solution when it returns.
pub fn lu_solve(factors: &[f64], pivots: &[usize], x: &mut [f64]) {
    let n = x.len();
    for (j, &pivot) in pivots.iter().enumerate().take(n) {
        x.swap(j, pivot);
    }
    for j in 0..n {
        let (head, tail) = x.split_at_mut(j + 1);
        kernel::add_scaled(tail, -head[j], &factors[j * n + j + 1..(j + 1) * n]);
    }
    for j in (0..n).rev() {
        x[j] /= factors[j * n + j];
        let (head, tail) = x.split_at_mut(j);
        kernel::add_scaled(head, -tail[0], &factors[j * n..j * n + j]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix without structure whose inverse is known: a product of elementary ones.
    const A: [f64; 9] = [2.0, 4.0, -2.0, 1.0, -6.0, 7.0, 1.0, 0.0, 2.0];

    #[test]
    fn lu_solves_with_row_exchanges() {
        let x = [1.0, -2.0, 3.0];
        let mut b: Vec<f64> = (0..3)
            .map(|i| (0..3).map(|j| A[j * 3 + i] * x[j]).sum())
            .collect();
        let (mut factors, mut pivots) = (A, [0; 3]);
        assert!(lu(&mut factors, 3, &mut pivots));
        lu_solve(&factors, &pivots, &mut b);
        let error = b.iter().zip(x).map(|(a, b)| (a - b).abs());
        assert!(error.fold(0.0, f64::max) <= 1e-14, "{b:?}");
    }

    #[test]
    fn singular_and_nan_matrices_are_refused() {
        let mut pivots = [0; 2];
        assert!(!lu(&mut [1.0, 2.0, 2.0, 4.0], 2, &mut pivots));
        assert!(!lu(&mut [f64::NAN, 2.0, 2.0, 4.0], 2, &mut pivots));
        assert_eq!(cholesky(&mut [1.0, 1.0, 1.0, 1.0], 2), Err(2));
        assert_eq!(cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2), Err(2));
        assert_eq!(cholesky(&mut [1.0, f64::NAN, f64::NAN, 1.0], 2), Err(2));
    }

    #[test]
    fn whitening_twice_solves_with_a_mass_matrix() {
        let mass = [4.0, 2.0, 2.0, 10.0];
        let mut lower = mass;
        assert_eq!(cholesky(&mut lower, 2), Ok(()));
        // Momentum of the velocity (1, -2).
        let mut x = [0.0, -18.0];
        whiten(&lower, &mut x);
        unwhiten(&lower, &mut x);
        assert!(
            (x[0] - 1.0).abs() <= 1e-15 && (x[1] + 2.0).abs() <= 1e-15,
            "{x:?}"
        );
    }
}
