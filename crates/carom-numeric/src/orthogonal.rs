//! Minimum-norm solutions by orthogonal factors, for matrices whose numerical rank is clear.

use crate::kernel;

/// Largest number of corrections of a solution by its residual.
const MAX_CORRECTIONS: usize = 2;

/// Complete orthogonal decomposition $AP = Q_r L Z_r^T$ of a matrix $A$ of rank r (rows × n, column-major), for
/// least-squares solutions of shortest length. $P$ is a permutation, $L$ a lower triangle, and $Q_r$, $Z_r$
/// have orthonormal columns. Householder reflections with the longest remaining column first are followed by
/// reflections of the trapezoid from the right (Golub & Van Loan, *Matrix Computations*, 5.4).
///
/// The decomposition needs one pass, while [`Svd`](crate::svd::Svd) needs several sweeps over all pairs of
/// columns. The rank is meaningful only if there is a gap between the lengths of the remaining columns that are
/// kept and those that are not. Without such a gap, singular values are more informative.
///
/// # Examples
///
/// ```
/// use carom_numeric::orthogonal::Orthogonal;
/// // Three columns in the plane; the last is the sum of the others.
/// let matrix = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
/// let factors = Orthogonal::new(&matrix, 2, 1e-12);
/// assert_eq!(factors.rank(), 2);
/// let x = factors.least_norm(&[3.0, 0.0]);
/// assert!(x.iter().zip([2.0, -1.0, 1.0]).all(|(x, y)| (x - y).abs() < 1e-14));
/// ```
#[derive(Clone, Debug)]
pub struct Orthogonal {
    rows: usize,
    matrix: Vec<f64>,
    /// Unit normals of the reflections from the left, one after the other. Entries before the reflection's own
    /// row are zero.
    left: Vec<f64>,
    /// Unit normals of the reflections from the right (n entries each).
    right: Vec<f64>,
    /// Lower triangle $L$ (rank × rank, column-major).
    lower: Vec<f64>,
    /// Original index of each column after the exchanges.
    order: Vec<usize>,
    rank: usize,
}

impl Orthogonal {
    /// Computes the complete orthogonal decomposition of a matrix (rows × n, column-major). Each column is
    /// reduced by its components along the columns chosen before. If the remainder is shorter than `cutoff`
    /// times the longest column of the matrix, the column counts as linearly dependent. Entries that are not
    /// finite give results that are not finite.
    pub fn new(matrix: &[f64], rows: usize, cutoff: f64) -> Self {
        let n = matrix.len().checked_div(rows).unwrap_or(0);
        let mut order: Vec<usize> = (0..n).collect();
        let mut work = matrix.to_vec();
        let (mut left, mut rank) = (Vec::new(), 0);
        let mut longest = 0.0;
        while rank < rows.min(n) {
            let length = |j: usize| kernel::norm(&work[j * rows + rank..(j + 1) * rows]);
            let (mut at, mut size) = (rank, length(rank));
            for j in rank + 1..n {
                let other = length(j);
                if other > size {
                    (at, size) = (j, other);
                }
            }
            longest = if rank == 0 { size } else { longest };
            // This comparison is false for NaN, which therefore appears in the result.
            if size <= cutoff * longest {
                break;
            }
            exchange(&mut work, rows, rank, at);
            order.swap(rank, at);
            let mut normal = vec![0.0; rows];
            normal[rank..].copy_from_slice(&work[rank * rows + rank..(rank + 1) * rows]);
            let diagonal = reflection(&mut normal[rank..]);
            for column in work.chunks_exact_mut(rows).skip(rank + 1) {
                reflect(&normal[rank..], &mut column[rank..]);
            }
            work[rank * rows + rank] = diagonal;
            left.extend_from_slice(&normal);
            rank += 1;
        }
        let (lower, right) = from_right(&work, rows, n, rank);
        Self {
            rows,
            matrix: matrix.to_vec(),
            left,
            right,
            lower,
            order,
            rank,
        }
    }

    /// Returns the rank of the decomposed matrix: the number of its columns that count as linearly independent.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Solves a least-squares problem with the decomposed matrix $A$: returns the shortest $x$ (n entries, one
    /// per column) among those that minimize $\lVert Ax-b\rVert$.
    pub fn least_norm(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.solve(b);
        let mut left = self.misses(b, &x);
        for _ in 0..MAX_CORRECTIONS {
            let mut corrected = self.solve(&left);
            kernel::add_scaled(&mut corrected, 1.0, &x);
            let remains = self.misses(b, &corrected);
            // This comparison is false for NaN.
            if !(kernel::norm(&remains) < kernel::norm(&left)) {
                break;
            }
            (x, left) = (corrected, remains);
        }
        x
    }

    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let (n, rank) = (self.order.len(), self.rank);
        let mut turned = b.to_vec();
        for normal in self.left.chunks_exact(self.rows.max(1)) {
            reflect(normal, &mut turned);
        }
        let mut along = vec![0.0; n];
        along[..rank].copy_from_slice(&turned[..rank]);
        for j in 0..rank {
            let column = &self.lower[j * rank..(j + 1) * rank];
            along[j] /= column[j];
            let known = along[j];
            kernel::add_scaled(&mut along[j + 1..rank], -known, &column[j + 1..]);
        }
        for normal in self.right.chunks_exact(n.max(1)).rev() {
            reflect(normal, &mut along);
        }
        let mut x = vec![0.0; n];
        for (value, place) in along.iter().zip(&self.order) {
            x[*place] = *value;
        }
        x
    }

    /// Returns the residual $b - Ax$ for the matrix $A$ that was factorized.
    fn misses(&self, b: &[f64], x: &[f64]) -> Vec<f64> {
        let mut left = b.to_vec();
        for (column, x) in self.matrix.chunks_exact(self.rows.max(1)).zip(x) {
            kernel::add_scaled(&mut left, -x, column);
        }
        left
    }
}

/// Reduces the upper trapezoid in the first `rank` rows of a factorized matrix to a lower triangle by Householder reflections
/// from the right. `work` contains the matrix column by column (`rows` × `n`). Returns the triangle and the unit normals of the
/// reflections.
fn from_right(work: &[f64], rows: usize, n: usize, rank: usize) -> (Vec<f64>, Vec<f64>) {
    // Trapezoid, row after row.
    let entry = |i: usize, j: usize| if j < i { 0.0 } else { work[j * rows + i] };
    let mut trapezoid: Vec<f64> = (0..rank)
        .flat_map(|i| (0..n).map(move |j| entry(i, j)))
        .collect();
    let mut normals = Vec::with_capacity(rank * n);
    let mut lower = vec![0.0; rank * rank];
    for i in 0..rank {
        let mut normal = vec![0.0; n];
        normal[i..].copy_from_slice(&trapezoid[i * n + i..(i + 1) * n]);
        let diagonal = reflection(&mut normal[i..]);
        lower[i * rank + i] = diagonal;
        for (k, row) in trapezoid.chunks_exact_mut(n).enumerate().skip(i + 1) {
            reflect(&normal[i..], &mut row[i..]);
            lower[i * rank + k] = row[i];
        }
        normals.extend_from_slice(&normal);
    }
    (lower, normals)
}

/// Overwrites `x` by the unit normal of the Householder reflection that maps `x` to a multiple of the first unit vector. Returns
/// the factor of this multiple.
fn reflection(x: &mut [f64]) -> f64 {
    let size = kernel::norm(x);
    let Some(first) = x.first_mut() else {
        return 0.0;
    };
    let image = if *first > 0.0 { -size } else { size };
    *first -= image;
    let length = kernel::norm(x);
    if length > 0.0 {
        x.iter_mut().for_each(|x| *x /= length);
    }
    image
}

/// Reflects the vector `x` in the plane through the origin with the given unit normal.
fn reflect(normal: &[f64], x: &mut [f64]) {
    let along = kernel::dot(normal, x);
    kernel::add_scaled(x, -2.0 * along, normal);
}

/// Exchanges the columns `a` and `b` of a matrix that is stored column after column with `rows` rows.
fn exchange(matrix: &mut [f64], rows: usize, a: usize, b: usize) {
    for i in 0..rows {
        matrix.swap(a * rows + i, b * rows + i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::CounterRng;
    use crate::svd::Svd;

    /// A matrix of a rank as a product.
    fn of_rank(rows: usize, n: usize, rank: usize, random: &mut CounterRng) -> Vec<f64> {
        let a: Vec<f64> = (0..rows * rank)
            .map(|_| random.next_uniform() - 0.5)
            .collect();
        let b: Vec<f64> = (0..rank * n).map(|_| random.next_uniform() - 0.5).collect();
        let mut out = vec![0.0; rows * n];
        for j in 0..n {
            for k in 0..rank {
                kernel::add_scaled(
                    &mut out[j * rows..(j + 1) * rows],
                    b[j * rank + k],
                    &a[k * rows..(k + 1) * rows],
                );
            }
        }
        out
    }

    #[test]
    fn the_solutions_are_those_of_singular_values() {
        let mut random = CounterRng::new(7, 0, 0);
        let shapes = [
            (1, 1, 1),
            (4, 4, 4),
            (5, 8, 3),
            (8, 5, 5),
            (9, 4, 2),
            (30, 30, 17),
            (6, 9, 6),
        ];
        for (rows, n, rank) in shapes {
            for size in [1.0, 1e-200, 1e150] {
                let matrix = of_rank(rows, n, rank, &mut random);
                let matrix: Vec<f64> = matrix.iter().map(|x| x * size).collect();
                let b: Vec<f64> = (0..rows).map(|_| random.next_uniform() - 0.5).collect();
                let factors = Orthogonal::new(&matrix, rows, 1e-10);
                assert_eq!(factors.rank(), rank, "{rows} {n}");
                let found = factors.least_norm(&b);
                let expected = Svd::new(&matrix, rows).least_norm(&b, 1e-10);
                let unit = kernel::norm(&expected);
                for (x, y) in found.iter().zip(&expected) {
                    assert!((x - y).abs() <= 1e-10 * unit, "{rows} {n} {rank}: {x} {y}");
                }
            }
        }
    }

    #[test]
    fn what_is_zero_empty_or_not_finite_ends() {
        assert_eq!(Orthogonal::new(&[], 0, 1e-10).least_norm(&[]), [0.0; 0]);
        let zero = Orthogonal::new(&[0.0; 6], 2, 1e-10);
        assert_eq!(zero.least_norm(&[1.0, 2.0]), [0.0; 3]);
        let nan = Orthogonal::new(&[f64::NAN, 1.0], 1, 1e-10).least_norm(&[1.0]);
        assert!(nan.iter().any(|x| x.is_nan()));
    }
}
