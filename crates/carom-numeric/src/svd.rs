//! Singular values of small matrices, and minimum-norm solutions.

use crate::kernel;

/// Fraction of the largest singular value of unit columns, or of their largest pivot, below which columns count as linearly
/// dependent. A thousand roundings of the data are smaller, and a basis of columns that differ by more keeps four digits.
pub const RANK: f64 = 1e-12;

/// Largest number of sweeps over all pairs of columns. Convergence is quadratic, so that ten are many.
const MAX_SWEEPS: usize = 40;

/// Two columns count as orthogonal if the cosine of their angle is below this.
const ORTHOGONAL: f64 = 2.0 * f64::EPSILON;

/// A column below this fraction of the longest counts as rounding error.
const VANISHING: f64 = f64::EPSILON / 64.0;

/// Largest number of corrections of a solution by its residual.
const MAX_CORRECTIONS: usize = 2;

/// Singular value decomposition $A = U\Sigma V^T$ of a matrix $A$ (rows × n, column-major), with orthonormal
/// columns of $U$ and $V$ and the diagonal matrix $\Sigma$ of singular values.
///
/// One-sided Jacobi rotations make the columns of $AV$ orthogonal (Hestenes, *J. SIAM* 6, 1958; de Rijk, *SIAM
/// J. Sci. Stat. Comput.* 10, 1989). Unlike methods that reduce to bidiagonal form, they find small singular
/// values of nearly parallel columns to nearly all digits (Demmel & Veselić, *SIAM J. Matrix Anal. Appl.* 13,
/// 1992).
///
/// # Examples
///
/// ```
/// use carom_numeric::svd::Svd;
/// // Three columns in the plane; the last is the sum of the others.
/// let matrix = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
/// let svd = Svd::new(&matrix, 2);
/// let x = svd.least_norm(&[3.0, 0.0], 1e-12);
/// assert!(x.iter().zip([2.0, -1.0, 1.0]).all(|(x, y)| (x - y).abs() < 1e-15));
/// ```
#[derive(Clone, Debug)]
pub struct Svd {
    rows: usize,
    matrix: Vec<f64>,
    /// Matrix $U$; columns of vanishing singular values are zero.
    left: Vec<f64>,
    /// Matrix $V$.
    right: Vec<f64>,
    /// Singular values, in the order of the columns of `right`.
    sizes: Vec<f64>,
}

impl Svd {
    /// Computes the singular value decomposition of a matrix (rows × n, column-major) of any rank and shape.
    /// Entries that are not finite give results that are not finite.
    pub fn new(matrix: &[f64], rows: usize) -> Self {
        let n = matrix.len().checked_div(rows).unwrap_or(0);
        // The scaling keeps squares of entries from overflow and underflow.
        let scale = kernel::power_of_two_scale(kernel::max_abs(matrix));
        let mut left: Vec<f64> = matrix.iter().map(|x| x * scale).collect();
        let mut right = vec![0.0; n * n];
        for j in 0..n {
            right[j * n + j] = 1.0;
        }
        for _ in 0..MAX_SWEEPS {
            let largest = left.chunks_exact(rows.max(1)).map(kernel::norm);
            let vanishing = VANISHING * largest.fold(0.0, f64::max);
            let mut is_done = true;
            for p in 0..n {
                for q in p + 1..n {
                    if let Some(rotation) = rotation(&left, rows, p, q, vanishing) {
                        is_done = false;
                        rotation.turn(&mut left, rows, p, q);
                        rotation.turn(&mut right, n, p, q);
                    }
                }
            }
            if is_done {
                break;
            }
        }
        let mut sizes = Vec::with_capacity(n);
        for column in left.chunks_exact_mut(rows.max(1)) {
            let size = kernel::norm(column);
            if size > 0.0 {
                column.iter_mut().for_each(|x| *x /= size);
            }
            sizes.push(size / scale);
        }
        Self {
            rows,
            matrix: matrix.to_vec(),
            left,
            right,
            sizes,
        }
    }

    /// Returns the singular values of the matrix (n entries, one per column) in no particular order; entry i
    /// belongs to the [`right`](Self::right) singular vector i.
    pub fn singular_values(&self) -> &[f64] {
        &self.sizes
    }

    /// Returns the largest singular value of the matrix, its spectral norm; 0 for a matrix without columns.
    pub fn largest(&self) -> f64 {
        self.sizes.iter().copied().fold(0.0, f64::max)
    }

    /// Returns the largest size of a singular value that counts as zero: [`RANK`] times the largest.
    pub fn cutoff(&self) -> f64 {
        RANK * self.largest()
    }

    /// Returns the left singular vector (one entry per row) of the nonzero singular value with the given index
    /// in [`singular_values`](Self::singular_values).
    pub fn left(&self, index: usize) -> &[f64] {
        &self.left[index * self.rows..(index + 1) * self.rows]
    }

    /// Returns the right singular vector (n entries) of the singular value with the given index in
    /// [`singular_values`](Self::singular_values).
    pub fn right(&self, index: usize) -> &[f64] {
        let n = self.sizes.len();
        &self.right[index * n..(index + 1) * n]
    }

    /// Solves a least-squares problem with the decomposed matrix $A$: returns the shortest $x$ (n entries, one
    /// per column) among those that minimize $\lVert Ax-b\rVert$. Singular values below `cutoff` times the
    /// largest count as zero.
    pub fn least_norm(&self, b: &[f64], cutoff: f64) -> Vec<f64> {
        let solve = |b: &[f64]| {
            let mut x = vec![0.0; self.sizes.len()];
            for (j, size) in self.kept(cutoff) {
                kernel::add_scaled(&mut x, kernel::dot(self.left(j), b) / size, self.right(j));
            }
            x
        };
        let mut x = solve(b);
        let mut left = self.misses(b, &x);
        for _ in 0..MAX_CORRECTIONS {
            let mut corrected = solve(&left);
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

    /// Solves the normal equations $A^TAx = b$ with the decomposed matrix $A$, without forming $A^TA$: returns the solution of
    /// minimum norm (n entries, one per column). Singular values below `cutoff` times the largest count as zero. The component of
    /// `b` outside the row space of $A$ is ignored.
    pub fn least_norm_gram(&self, b: &[f64], cutoff: f64) -> Vec<f64> {
        let mut x = vec![0.0; self.sizes.len()];
        for (j, size) in self.kept(cutoff) {
            let along = kernel::dot(self.right(j), b) / size / size;
            kernel::add_scaled(&mut x, along, self.right(j));
        }
        x
    }

    fn kept(&self, cutoff: f64) -> impl Iterator<Item = (usize, f64)> + '_ {
        let least = cutoff * self.largest();
        let sizes = self.sizes.iter().copied().enumerate();
        sizes.filter(move |(_, size)| *size > least)
    }

    fn misses(&self, b: &[f64], x: &[f64]) -> Vec<f64> {
        let mut left = b.to_vec();
        for (column, x) in self.matrix.chunks_exact(self.rows.max(1)).zip(x) {
            kernel::add_scaled(&mut left, -x, column);
        }
        left
    }
}

/// Rotation of two columns, after which the longer one comes first.
struct Rotation {
    cosine: f64,
    sine: f64,
    swaps: bool,
}

impl Rotation {
    fn turn(&self, columns: &mut [f64], rows: usize, p: usize, q: usize) {
        let (head, tail) = columns.split_at_mut(q * rows);
        let first = &mut head[p * rows..(p + 1) * rows];
        for (a, b) in first.iter_mut().zip(&mut tail[..rows]) {
            let (x, y) = if self.swaps { (*b, *a) } else { (*a, *b) };
            *a = self.cosine * x + self.sine * y;
            *b = self.cosine * y - self.sine * x;
        }
    }
}

/// Returns the plane rotation that makes the columns `p` and `q` of a matrix orthogonal. The matrix is stored column by column
/// with `rows` rows. Returns `None` if the columns are already orthogonal, or if the norm of one of them is at most `vanishing`.
fn rotation(columns: &[f64], rows: usize, p: usize, q: usize, vanishing: f64) -> Option<Rotation> {
    let column = |j: usize| &columns[j * rows..(j + 1) * rows];
    let (a, b) = (column(p), column(q));
    let (first, second) = (kernel::norm(a), kernel::norm(b));
    if !(first.min(second) > vanishing) {
        return None;
    }
    let swaps = first < second;
    let (long, short) = if swaps {
        (second, first)
    } else {
        (first, second)
    };
    let cosine = kernel::dot(a, b) / long / short;
    if !(cosine.abs() > ORTHOGONAL) {
        return None;
    }
    // tan(2x) = 2 a.b / (a.a - b.b); x is the smaller of the two angles.
    let zeta = (long / short - short / long) / (2.0 * cosine);
    let tangent = zeta.signum() / (zeta.abs() + libm::hypot(zeta, 1.0));
    let cosine = 1.0 / libm::hypot(tangent, 1.0);
    Some(Rotation {
        cosine,
        sine: cosine * tangent,
        swaps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::CounterRng;

    fn random(rng: &mut CounterRng, n: usize) -> Vec<f64> {
        (0..n).map(|_| rng.next_uniform() - 0.5).collect()
    }

    #[test]
    fn factors_are_orthonormal_and_multiply_to_the_matrix() {
        let mut rng = CounterRng::new(1, 0, 0);
        for (rows, n) in [(1, 1), (4, 4), (6, 3), (3, 6), (2, 7)] {
            let matrix = random(&mut rng, rows * n);
            let svd = Svd::new(&matrix, rows);
            for i in 0..n {
                for j in 0..n {
                    let expected = f64::from(u8::from(i == j));
                    let error = kernel::dot(svd.right(i), svd.right(j)) - expected;
                    assert!(error.abs() <= 1e-14, "{rows} {n} {error:e}");
                    let sizes = svd.singular_values();
                    if sizes[i].min(sizes[j]) > 1e-12 {
                        let error = kernel::dot(svd.left(i), svd.left(j)) - expected;
                        assert!(error.abs() <= 1e-14, "{rows} {n} {error:e}");
                    }
                }
            }
            for (k, entry) in matrix.iter().enumerate() {
                let (i, j) = (k % rows, k / rows);
                let terms =
                    (0..n).map(|k| svd.left(k)[i] * svd.singular_values()[k] * svd.right(k)[j]);
                assert!((terms.sum::<f64>() - entry).abs() <= 1e-14);
            }
        }
    }

    /// Columns (1, 0) and (1, t): the singular values multiply to t, and their squares add to 2 + t².
    #[test]
    fn small_singular_values_of_nearly_parallel_columns_keep_their_digits() {
        for k in 1..15 {
            let t = 0.7 * 10f64.powi(-k);
            let svd = Svd::new(&[1.0, 0.0, 1.0, t], 2);
            let product: f64 = svd.singular_values().iter().product();
            assert!((product / t - 1.0).abs() <= 1e-14, "{t:e} {product:e}");
        }
    }

    #[test]
    fn what_nearly_parallel_columns_can_make_is_reached() {
        let mut rng = CounterRng::new(2, 0, 0);
        for k in 0..200 {
            let (rows, n) = (3 + k % 4, 2 + k % 3);
            let near = 10f64.powi(-(k as i32 % 10));
            let first = random(&mut rng, rows);
            let columns = (0..n).flat_map(|_| {
                let other = random(&mut rng, rows);
                let sum = first.iter().zip(other).map(|(a, b)| a + near * b);
                sum.collect::<Vec<f64>>()
            });
            let matrix: Vec<f64> = columns.collect();
            let svd = Svd::new(&matrix, rows);
            let mut b = vec![0.0; rows];
            for (column, x) in matrix.chunks_exact(rows).zip([1.0, -2.0, 0.5, 3.0]) {
                kernel::add_scaled(&mut b, x, column);
            }
            let x = svd.least_norm(&b, 1e-13);
            let missed = kernel::norm(&svd.misses(&b, &x)) / kernel::norm(&b);
            assert!(missed <= 1e-15 * 4.0, "{k} {missed:e}");
        }
    }

    #[test]
    fn copies_share_in_equal_parts_and_scale_does_not_matter() {
        for scale in [1e-200, 1.0, 1e200] {
            let matrix = [scale, 0.0, scale, 0.0, 0.0, scale];
            let svd = Svd::new(&matrix, 2);
            let x = svd.least_norm(&[2.0 * scale, 3.0 * scale], 1e-12);
            let expected = [1.0, 1.0, 3.0];
            assert!(x.iter().zip(expected).all(|(x, y)| (x - y).abs() <= 1e-15));
        }
        // A Gram matrix with unit rows.
        let svd = Svd::new(&[1.0, 0.0, 1.0, 0.0, 0.0, 1.0], 2);
        let x = svd.least_norm_gram(&[2.0, 2.0, 3.0], 1e-12);
        assert!(
            x.iter()
                .zip([1.0, 1.0, 3.0])
                .all(|(x, y)| (x - y).abs() <= 1e-15)
        );
    }

    #[test]
    fn nothing_and_not_a_number_are_answered() {
        assert!(Svd::new(&[], 0).least_norm(&[], 1e-12).is_empty());
        assert_eq!(
            Svd::new(&[0.0, 0.0], 2).least_norm(&[1.0, 0.0], 1e-12),
            [0.0]
        );
        let svd = Svd::new(&[f64::NAN, 1.0, 1.0, 0.0], 2);
        assert_eq!(svd.least_norm(&[1.0, 1.0], 1e-12).len(), 2);
    }
}
