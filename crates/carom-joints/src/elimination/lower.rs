//! Cholesky factors of constant size.

use carom_numeric::dense::is_regular;

/// Cholesky factor $L$ of a positive definite matrix, by columns, with the inverses of its diagonal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lower<const N: usize> {
    pub(super) columns: [[f64; N]; N],
    pub(super) inverse: [f64; N],
}

impl<const N: usize> Lower<N> {
    pub(super) fn zero() -> Self {
        Self {
            columns: [[0.0; N]; N],
            inverse: [0.0; N],
        }
    }

    /// Computes the Cholesky factor of a symmetric matrix, given by the columns of its lower triangle; `None` if the matrix is
    /// not positive definite.
    #[inline]
    pub(super) fn factor(mut columns: [[f64; N]; N]) -> Option<Self> {
        let given: [f64; N] = std::array::from_fn(|j| columns[j][j]);
        let mut inverse = [0.0; N];
        for j in 0..N {
            let pivot = columns[j][j];
            if !is_regular(pivot, given[j], N) {
                return None;
            }
            let root = pivot.sqrt();
            inverse[j] = 1.0 / root;
            columns[j][j] = root;
            for i in j + 1..N {
                columns[j][i] *= inverse[j];
            }
            let done = columns[j];
            for k in j + 1..N {
                for i in k..N {
                    columns[k][i] -= done[k] * done[i];
                }
            }
        }
        Some(Self { columns, inverse })
    }

    /// Computes $x \leftarrow L^{-1}x$ with the Cholesky factor $L$, for `K` vectors at once. `x[i]` contains the i-th entries of
    /// all vectors. If the vectors are shorter than $L$, its leading block of that size is used.
    #[inline]
    pub(super) fn whiten<const K: usize, const L: usize>(&self, x: &mut [[f64; K]; L]) {
        for j in 0..L {
            let mut head = x[j];
            for entry in &mut head {
                *entry *= self.inverse[j];
            }
            x[j] = head;
            for i in j + 1..L {
                let l = self.columns[j][i];
                for k in 0..K {
                    x[i][k] -= l * head[k];
                }
            }
        }
    }

    /// Computes $x \leftarrow L^{-T}x$ with the Cholesky factor $L$, for `K` vectors at once, in the layout of
    /// [`whiten`](Self::whiten).
    #[inline]
    pub(super) fn unwhiten<const K: usize, const L: usize>(&self, x: &mut [[f64; K]; L]) {
        for j in (0..L).rev() {
            let mut sum = x[j];
            for i in j + 1..L {
                let l = self.columns[j][i];
                for k in 0..K {
                    sum[k] -= l * x[i][k];
                }
            }
            for entry in &mut sum {
                *entry *= self.inverse[j];
            }
            x[j] = sum;
        }
    }

    /// Solves the linear system whose matrix was factored, $LL^Tx = b$; `x` contains $b$ on entry. If `x` is shorter than $L$,
    /// the leading block of that size is used.
    #[inline]
    pub(super) fn solve<const L: usize>(&self, x: &mut [f64; L]) {
        for j in 0..L {
            x[j] *= self.inverse[j];
            for i in j + 1..L {
                x[i] -= self.columns[j][i] * x[j];
            }
        }
        for j in (0..L).rev() {
            for i in j + 1..L {
                x[j] -= self.columns[j][i] * x[i];
            }
            x[j] *= self.inverse[j];
        }
    }
}
