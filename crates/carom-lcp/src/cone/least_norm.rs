//! Minimum-norm solutions of square systems that may be singular.

use carom_numeric::dense::{lu, lu_solve};
use carom_numeric::kernel;

/// Pivots below this fraction of the largest count as zero.
pub(super) const RANK_TOLERANCE: f64 = 1e-11;

/// Gaussian elimination is accepted if its pivots stay above this fraction of the largest. Other systems are
/// solved by orthogonal transformations.
const SAFE_PIVOT: f64 = 1e-5;

/// Number of rows from which systems are regularized if that is asked for. Orthogonal factors give all digits of impulses
/// that share a load, and are quick enough below.
const LARGE: usize = 48;

/// Regularization $\varepsilon$, as a fraction of the largest entry: below the independent part of most nearly dependent
/// rows, and so far above rounding that the impulses of contacts that share a load have nine digits.
const REGULARIZATION: f64 = 1e-7;

/// Largest number of turns of the regularized iteration. Each reduces the error by the factor [`REGULARIZATION`] over the
/// smallest eigenvalue.
const TURNS: usize = 8;

/// A turn that leaves more than this fraction of the error is the last: what is left is rounding, or inconsistent.
const TURN_GAIN: f64 = 0.5;

/// Householder factorization with column pivoting, and its work space.
///
/// $AP = QR$ with the rank r decided by the pivots. The columns of $R$ beyond r are then removed by
/// transformations from the right, which gives the minimum-norm solution.
#[derive(Clone, Debug)]
pub(super) struct LeastNorm {
    /// Column-major matrix, set up with [`begin`](Self::begin).
    pub(super) matrix: Vec<f64>,
    rows: usize,
    columns: usize,
    order: Vec<usize>,
    factor: Vec<f64>,
    scratch: Vec<f64>,
    /// Remaining squared norms of the columns.
    squares: Vec<f64>,
    /// Number of rows of the last system on which Gaussian elimination was not accepted.
    unsafe_rows: usize,
    /// Pivots below this fraction of the largest count as zero when a system is solved.
    pub(super) tolerance: f64,
    /// True if large systems are regularized instead of factorized by orthogonal transformations.
    pub(super) is_regularized: bool,
    /// LU factors of a regularized matrix, and their row exchanges.
    regular: Vec<f64>,
    pivots: Vec<usize>,
    /// Part of the right-hand side that is left, and a change of the solution.
    left: Vec<f64>,
    change: Vec<f64>,
}

impl Default for LeastNorm {
    fn default() -> Self {
        Self {
            matrix: Vec::new(),
            rows: 0,
            columns: 0,
            order: Vec::new(),
            factor: Vec::new(),
            scratch: Vec::new(),
            squares: Vec::new(),
            unsafe_rows: 0,
            tolerance: RANK_TOLERANCE,
            is_regularized: false,
            regular: Vec::new(),
            pivots: Vec::new(),
            left: Vec::new(),
            change: Vec::new(),
        }
    }
}

impl LeastNorm {
    /// Sets the matrix of the linear system to zero, with the given numbers of rows and columns.
    pub(super) fn begin(&mut self, rows: usize, columns: usize) {
        self.rows = rows;
        self.columns = columns;
        self.matrix.clear();
        self.matrix.resize(rows * columns, 0.0);
    }

    /// Deletes the stored size of a linear system for which Gaussian elimination was inaccurate, so that later answers
    /// do not depend on earlier systems.
    pub(super) fn forget(&mut self) {
        self.unsafe_rows = 0;
    }

    /// Solves the linear system with this square matrix and the right-hand side `rhs`, which is overwritten by the
    /// solution. If the matrix is singular, the solution is the least-squares solution with minimum norm.
    ///
    /// Gaussian elimination is tried first. If the elimination is inaccurate, it is not tried again on later systems
    /// with the same number of unknowns, because these usually belong to the same contacts.
    pub(super) fn solve(&mut self, rhs: &mut [f64]) {
        if self.is_regularized && self.rows >= LARGE && self.regularize(rhs) {
            return;
        }
        if self.unsafe_rows != self.rows && self.eliminate(rhs) {
            return;
        }
        self.unsafe_rows = self.rows;
        let rank = self.factorize(rhs, self.tolerance);
        self.reduce(rank);
        let (n, a) = (self.rows, &self.matrix);
        for i in (0..rank).rev() {
            let x = rhs[i] / a[i * n + i];
            rhs[i] = x;
            for (r, c) in rhs[..i].iter_mut().zip(&a[i * n..]) {
                *r -= c * x;
            }
        }
        for x in &mut rhs[rank..] {
            *x = 0.0;
        }
        for i in 0..rank {
            let mut sum = rhs[i];
            for k in rank..self.columns {
                sum += a[k * n + i] * rhs[k];
            }
            sum *= self.factor[i];
            rhs[i] -= sum;
            for k in rank..self.columns {
                rhs[k] -= sum * a[k * n + i];
            }
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(rhs);
        for (x, column) in self.scratch.iter().zip(&self.order) {
            rhs[*column] = *x;
        }
    }

    /// Solves the linear system by the iteration
    ///
    /// $$ x_{k+1} - x_k = (A + \varepsilon I)^{-1}A(A + \varepsilon I)^{-1}(r - Ax_k), $$
    ///
    /// which converges in a few iterations. The LU factorization of $A + \varepsilon I$ costs a quarter of an
    /// orthogonal factorization. The matrix $A$ in the middle removes the part of $r$ that no $x$ changes; without it
    /// this part would be divided by $\varepsilon$. Returns true and overwrites `rhs` by the solution unless the
    /// regularized matrix is singular.
    fn regularize(&mut self, rhs: &mut [f64]) -> bool {
        let n = self.rows;
        let largest = self.matrix.iter().fold(0.0, |a, x| f64::max(a, x.abs()));
        self.regular.clone_from(&self.matrix);
        for i in 0..n {
            self.regular[i * n + i] += REGULARIZATION * largest;
        }
        self.pivots.clear();
        self.pivots.resize(n, 0);
        if !lu(&mut self.regular, n, &mut self.pivots) {
            return false;
        }
        self.left.clear();
        self.left.extend_from_slice(rhs);
        rhs.fill(0.0);
        let mut last = f64::INFINITY;
        for _ in 0..TURNS {
            let most = self.left.iter().fold(0.0, |a, x| f64::max(a, x.abs()));
            if !(most > 0.0 && most <= TURN_GAIN * last) {
                break;
            }
            last = most;
            self.scratch.clear();
            self.scratch.extend_from_slice(&self.left);
            lu_solve(&self.regular, &self.pivots, &mut self.scratch);
            self.change.clear();
            self.change.resize(n, 0.0);
            for (column, x) in self.matrix.chunks_exact(n).zip(&self.scratch) {
                kernel::add_scaled(&mut self.change, *x, column);
            }
            lu_solve(&self.regular, &self.pivots, &mut self.change);
            kernel::add_scaled(rhs, 1.0, &self.change);
            for (column, x) in self.matrix.chunks_exact(n).zip(&self.change) {
                kernel::add_scaled(&mut self.left, -x, column);
            }
        }
        true
    }

    /// Solves the linear system by Gaussian elimination on a copy of the matrix. Returns true and overwrites `rhs`
    /// by the solution if no pivot was too small; otherwise returns false.
    fn eliminate(&mut self, rhs: &mut [f64]) -> bool {
        let n = self.rows;
        let a = &mut self.scratch;
        a.clear();
        a.extend_from_slice(&self.matrix);
        a.extend_from_slice(rhs);
        let mut largest = 0.0f64;
        for k in 0..n {
            let (mut row, mut pivot) = (k, 0.0f64);
            for (i, x) in a[k * n..(k + 1) * n].iter().enumerate().skip(k) {
                if x.abs() > pivot {
                    (row, pivot) = (i, x.abs());
                }
            }
            largest = largest.max(pivot);
            let is_safe = pivot > SAFE_PIVOT * largest;
            if !is_safe {
                return false;
            }
            if row != k {
                for j in k..=n {
                    a.swap(j * n + row, j * n + k);
                }
            }
            let (left, right) = a.split_at_mut((k + 1) * n);
            let (head, lower) = left[k * n..].split_at_mut(k + 1);
            let inverse = 1.0 / head[k];
            for x in &mut *lower {
                *x *= inverse;
            }
            for column in right.chunks_exact_mut(n) {
                let (head, tail) = column.split_at_mut(k + 1);
                let top = head[k];
                if top != 0.0 {
                    for (x, l) in tail.iter_mut().zip(&*lower) {
                        *x -= l * top;
                    }
                }
            }
        }
        let (a, x) = a.split_at_mut(n * n);
        for k in (0..n).rev() {
            let value = x[k] / a[k * n + k];
            x[k] = value;
            for (r, c) in x[..k].iter_mut().zip(&a[k * n..]) {
                *r -= c * value;
            }
        }
        rhs.copy_from_slice(x);
        true
    }

    /// Computes the QR factorization of the matrix in place, with column pivoting. Applies $Q^T$ to `rhs`, which has
    /// one entry per row or is empty. Returns the rank: the number of pivots above `tolerance` times the largest one.
    fn factorize(&mut self, rhs: &mut [f64], tolerance: f64) -> usize {
        let (m, n) = (self.rows, self.columns);
        self.order.clear();
        self.order.extend(0..n);
        self.squares.clear();
        let columns = self.matrix.chunks_exact(m.max(1)).take(n);
        self.squares
            .extend(columns.map(|column| dot(column, column)));
        let mut largest = 0.0f64;
        for k in 0..m.min(n) {
            let (mut best, mut pivot) = (k, -1.0);
            for (j, square) in self.squares.iter().enumerate().skip(k) {
                if *square > pivot {
                    (best, pivot) = (j, *square);
                }
            }
            let column = &self.matrix[best * m + k..(best + 1) * m];
            let norm = dot(column, column).sqrt();
            largest = largest.max(norm);
            let is_pivot = norm > tolerance * largest;
            if !is_pivot {
                return k;
            }
            if best != k {
                self.order.swap(k, best);
                self.squares.swap(k, best);
                for i in 0..m {
                    self.matrix.swap(k * m + i, best * m + i);
                }
            }
            let (left, right) = self.matrix.split_at_mut((k + 1) * m);
            let v = &mut left[k * m + k..];
            let head = v[0];
            let alpha = if head > 0.0 { -norm } else { norm };
            v[0] = head - alpha;
            // H = I - v v^T / (norm (norm + |head|)).
            let scale = 1.0 / (norm * (norm + head.abs()));
            let squares = &mut self.squares[k + 1..];
            for (column, square) in right.chunks_exact_mut(m).zip(squares) {
                let column = &mut column[k..];
                reflect(v, scale, column);
                let left = *square - column[0] * column[0];
                // The difference of a column that is nearly eliminated is rounding.
                let is_told = left > 1e-6 * *square;
                *square = if is_told {
                    left
                } else {
                    dot(&column[1..], &column[1..])
                };
            }
            if !rhs.is_empty() {
                reflect(v, scale, &mut rhs[k..]);
            }
            v[0] = alpha;
        }
        m.min(n)
    }

    /// Makes the second half of a complete orthogonal factorization, after the QR factorization: eliminates the
    /// columns to the right of the leading triangle by Householder reflections from the right. `rank` is the number of
    /// rows of this triangle.
    fn reduce(&mut self, rank: usize) {
        let (m, n) = (self.rows, self.columns);
        self.factor.clear();
        self.factor.resize(rank, 0.0);
        if rank == n {
            return;
        }
        let a = &mut self.matrix;
        for i in (0..rank).rev() {
            let head = a[i * m + i];
            let rest: f64 = (rank..n).map(|k| a[k * m + i] * a[k * m + i]).sum();
            if rest == 0.0 {
                continue;
            }
            let norm = (head * head + rest).sqrt();
            let alpha = if head > 0.0 { -norm } else { norm };
            let v = head - alpha;
            // The leading entry of the reflector is scaled to one.
            for k in rank..n {
                a[k * m + i] /= v;
            }
            let tau = -v / alpha;
            self.factor[i] = tau;
            a[i * m + i] = alpha;
            for j in 0..i {
                let mut sum = a[i * m + j];
                for k in rank..n {
                    sum += a[k * m + i] * a[k * m + j];
                }
                sum *= tau;
                a[i * m + j] -= sum;
                for k in rank..n {
                    a[k * m + j] -= sum * a[k * m + i];
                }
            }
        }
    }

    /// Computes a basis of the null space of the matrix and returns its dimension. The vectors, `columns` entries
    /// each, are written one after the other into `basis`. Pivots below `tolerance` times the largest one count as
    /// zero.
    pub(super) fn null_space(&mut self, tolerance: f64, basis: &mut Vec<f64>) -> usize {
        let rank = self.factorize(&mut [], tolerance);
        let (m, n) = (self.rows, self.columns);
        basis.clear();
        basis.resize(n * (n - rank), 0.0);
        for (vector, k) in basis.chunks_exact_mut(n.max(1)).zip(rank..n) {
            vector[self.order[k]] = 1.0;
            self.scratch.clear();
            self.scratch
                .extend((0..rank).map(|i| -self.matrix[k * m + i]));
            for i in (0..rank).rev() {
                let x = self.scratch[i] / self.matrix[i * m + i];
                self.scratch[i] = x;
                for r in 0..i {
                    self.scratch[r] -= self.matrix[i * m + r] * x;
                }
                vector[self.order[i]] = x;
            }
        }
        n - rank
    }

    /// Returns the rank of the matrix: the number of pivots of a QR factorization with column pivoting that exceed
    /// `size` (an absolute number, not a fraction).
    pub(super) fn rank_above(&mut self, size: f64) -> usize {
        self.factorize(&mut [], 0.0);
        let (m, n) = (self.rows, self.columns);
        (0..m.min(n))
            .take_while(|k| self.matrix[k * m + k].abs() > size)
            .count()
    }
}

/// Returns the inner product of two vectors, computed in four independent sums, which the processor evaluates in
/// parallel.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[inline]
fn reflect(v: &[f64], scale: f64, x: &mut [f64]) {
    let factor = scale * dot(v, x);
    for (x, v) in x.iter_mut().zip(v) {
        *x -= factor * v;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(rows: &[&[f64]], rhs: &[f64]) -> Vec<f64> {
        let n = rows.len();
        let mut system = LeastNorm::default();
        system.begin(n, n);
        for (i, row) in rows.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                system.matrix[j * n + i] = *x;
            }
        }
        let mut x = rhs.to_vec();
        system.solve(&mut x);
        x
    }

    #[test]
    fn a_singular_system_has_its_shortest_solution() {
        let x = solve(
            &[&[1.0, 2.0, 2.0], &[2.0, 4.0, 4.0], &[0.0, 0.0, 0.0]],
            &[9.0, 18.0, 0.0],
        );
        for (x, y) in x.iter().zip([1.0, 2.0, 2.0]) {
            assert!((x - y).abs() < 1e-14, "{x} {y}");
        }
    }

    #[test]
    fn a_singular_system_of_rank_two_has_its_shortest_solution() {
        // Two copies of one unknown share its value.
        let x = solve(
            &[&[2.0, 2.0, 1.0], &[2.0, 2.0, 1.0], &[1.0, 1.0, 3.0]],
            &[5.0, 5.0, 5.0],
        );
        for (x, y) in x.iter().zip([1.0, 1.0, 1.0]) {
            assert!((x - y).abs() < 1e-14, "{x} {y}");
        }
    }

    #[test]
    fn a_regular_system_is_solved() {
        let x = solve(&[&[0.0, 2.0], &[3.0, 1.0]], &[2.0, 7.0]);
        assert!((x[0] - 2.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_null_space_is_what_the_matrix_does_not_see() {
        let mut system = LeastNorm::default();
        system.begin(2, 3);
        system
            .matrix
            .copy_from_slice(&[1.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        let mut basis = Vec::new();
        assert_eq!(system.null_space(1e-12, &mut basis), 1);
        assert!((basis[0] + basis[1]).abs() < 1e-15 && basis[2].abs() < 1e-15);
        assert!(basis[0].abs() > 0.5);
    }
}
