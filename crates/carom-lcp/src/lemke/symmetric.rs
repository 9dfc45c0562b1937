//! Principal pivoting for symmetric positive semidefinite matrices.
//!
//! The principal transform of $w = q + Mz$ is kept as a symmetric tableau, of which only one half is computed.
//! While a basic variable is negative, the pair with the most negative one, in scaled units, exchanges its
//! basic and nonbasic members by a pivot on the diagonal, the *sweep* of statistics (Cottle, Pang & Stone 1992,
//! Section 4.1; Beaton 1964; Goodnight 1979). Every pair is exchanged once or twice, and no column is computed
//! for an artificial variable. A pair whose diagonal entry has vanished depends on the pairs with basic $z$: if
//! these contacts are closed, so is it.

use super::room::reserve;
use crate::LcpRef;
use crate::balance::{Balance, LIGHT, root};
use crate::scalar::larger;

/// If a diagonal entry is below this fraction of the original one, its row depends on others.
const DEPENDENT: f64 = 1e-11;

/// A variable below this fraction of the largest $|q_i|$, in scaled units, counts as zero. The final check
/// computes its actual value.
const NEGLIGIBLE: f64 = 1e-13;

/// Largest number of pivots per row; few problems need more than two.
const MAX_PIVOTS: usize = 6;

/// Bound of a squared off-diagonal entry, divided by the product of the two diagonal entries.
const BOUNDED: f64 = 1.0 + 1e-9;

/// Symmetric tableau with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Symmetric {
    n: usize,
    /// Length of a row in memory: a multiple of four.
    stride: usize,
    /// Rows of the lower half; entries above the diagonal are meaningless. The last row is $\bar q$. If $z_i$
    /// is basic, $\bar q_i$ is $-z_i$; the block of all such pairs is minus the inverse of the matrix block.
    rows: Vec<f64>,
    /// Scale factors $\sqrt{M_{ii}}$ of the pairs: $z_i$ is multiplied by it and $w_i$ divided by it to compare
    /// them.
    units: Vec<f64>,
    /// Complete row of the last pivot.
    pivot: Vec<f64>,
    is_basic: Vec<bool>,
    pub(super) n_pivots: u64,
}

impl Symmetric {
    /// Solves a problem with a symmetric matrix by principal pivoting, with at most `limit` pivots. Returns true if
    /// all variables are nonnegative at the end; [`write`](Self::write) then writes the solution. Returns false if the
    /// method fails.
    pub(super) fn solve(&mut self, problem: LcpRef<'_>, limit: u64) -> bool {
        self.pose(problem);
        let mut largest = 0.0;
        for (q, unit) in problem.vector().iter().zip(&self.units) {
            if *unit > 0.0 {
                largest = larger(largest, q.abs() / unit);
            } else if *q < 0.0 {
                return false;
            }
        }
        let limit = limit.min((MAX_PIVOTS * self.n) as u64);
        loop {
            let mut least = -NEGLIGIBLE * largest;
            let mut found = None;
            let values = &self.rows[self.n * self.stride..];
            for (i, (value, unit)) in values.iter().zip(&self.units).enumerate() {
                let scaled = if self.is_basic[i] {
                    -value * unit
                } else {
                    value / unit
                };
                if scaled < least && self.is_regular(i) {
                    (least, found) = (scaled, Some(i));
                }
            }
            let Some(i) = found else { return true };
            if self.n_pivots >= limit {
                return false;
            }
            self.sweep(i);
        }
    }

    /// Loads the problem $w = Mz + q$ into the tableau, with all $w$ as basic variables.
    fn pose(&mut self, problem: LcpRef<'_>) {
        let n = problem.dim();
        self.n = n;
        self.stride = (n + 1).next_multiple_of(4);
        self.n_pivots = 0;
        reserve(&mut self.rows, (n + 1) * self.stride);
        reserve(&mut self.units, n);
        reserve(&mut self.pivot, self.stride);
        reserve(&mut self.is_basic, n);
        self.rows.clear();
        self.units.clear();
        self.is_basic.clear();
        self.is_basic.resize(n, false);
        for j in 0..n {
            let column = problem.column(j);
            // The matrix is symmetric: a column is a row.
            self.rows.extend_from_slice(column);
            self.rows.resize((j + 1) * self.stride, 0.0);
            self.units.push(larger(0.0, column[j]).sqrt());
        }
        self.rows.extend_from_slice(problem.vector());
        self.rows.resize((n + 1) * self.stride, 0.0);
    }

    /// True if the diagonal entry of the pair ($w_i$, $z_i$) in the tableau is larger than rounding error, so that
    /// the pair can be exchanged.
    fn is_regular(&self, i: usize) -> bool {
        let diagonal = self.rows[i * self.stride + i];
        let unit = self.units[i] * self.units[i];
        if self.is_basic[i] {
            -diagonal * unit > DEPENDENT
        } else {
            diagonal > DEPENDENT * unit
        }
    }

    /// Exchanges the basic and the nonbasic variable of the pair ($w_k$, $z_k$) by a pivot on the diagonal of the
    /// tableau.
    fn sweep(&mut self, k: usize) {
        let (n, stride) = (self.n, self.stride);
        self.pivot.clear();
        self.pivot
            .extend_from_slice(&self.rows[k * stride..k * stride + k + 1]);
        let below = self.rows.chunks_exact(stride).skip(k + 1);
        self.pivot.extend(below.map(|row| row[k]));
        self.pivot.resize(stride, 0.0);
        let inverse = 1.0 / self.pivot[k];
        let signed = if self.is_basic[k] { -inverse } else { inverse };
        let chunks = self.pivot.as_chunks::<4>().0;
        for (i, row) in self.rows.chunks_exact_mut(stride).enumerate() {
            let factor = self.pivot[i] * inverse;
            if factor == 0.0 || i == k {
                continue;
            }
            let row_chunks = &mut row.as_chunks_mut::<4>().0[..=i / 4];
            for (row, pivot) in row_chunks.iter_mut().zip(chunks) {
                for lane in 0..4 {
                    row[lane] -= factor * pivot[lane];
                }
            }
            if i > k {
                row[k] = self.pivot[i] * signed;
            }
        }
        let row = &mut self.rows[k * stride..=k * stride + k];
        for (row, pivot) in row.iter_mut().zip(&self.pivot) {
            *row = pivot * signed;
        }
        row[k] = -inverse;
        // This entry is not part of the problem.
        self.rows[n * stride + n] = 0.0;
        self.is_basic[k] = !self.is_basic[k];
        self.n_pivots += 1;
    }

    /// Writes the variables $z$ of the problem $w = Mz + q$ into `z`, and into `basis` a flag for each that is true
    /// if the variable is basic (n entries each).
    pub(super) fn write(&self, z: &mut [f64], basis: &mut [bool]) {
        basis.copy_from_slice(&self.is_basic);
        let values = &self.rows[self.n * self.stride..];
        for ((z, value), is_basic) in z.iter_mut().zip(values).zip(&self.is_basic) {
            *z = if *is_basic { larger(0.0, -value) } else { 0.0 };
        }
    }

    /// Corrects the basic variables in `z` by one step of iterative refinement. `w` holds $Mz + q$ (n entries), whose
    /// entries should be zero in the rows of basic variables.
    pub(super) fn correct(&self, w: &[f64], z: &mut [f64]) {
        for i in (0..self.n).filter(|i| self.is_basic[*i]) {
            let entry = |j: usize| self.rows[i.max(j) * self.stride + i.min(j)];
            let basic = (0..self.n).filter(|j| self.is_basic[*j]);
            let change: f64 = basic.map(|j| entry(j) * w[j]).sum();
            z[i] = larger(0.0, z[i] + change);
        }
    }
}

/// True if the answer `z` is certainly not very large compared with the vector $q$ (not heavy). In units in which
/// the diagonal entries of the matrix are one, no other entry may exceed one. In every block of connected variables
/// the largest entry of the answer must then be at most [`LIGHT`] times that of $q$.
pub(super) fn is_light(problem: LcpRef<'_>, z: &[f64], balance: &mut Balance) -> bool {
    let n = problem.dim();
    let Balance { parent, sizes, .. } = balance;
    parent.clear();
    parent.extend(0..n);
    sizes.clear();
    sizes.resize(n, (0.0, 0.0));
    for j in 0..n {
        let column = problem.column(j);
        let diagonal = column[j];
        let mut is_bounded = diagonal > 0.0;
        for (i, m) in column.iter().enumerate().filter(|(_, m)| **m != 0.0) {
            is_bounded &= m * m <= BOUNDED * (diagonal * problem.column(i)[i]);
            let (a, b) = (root(parent, i), root(parent, j));
            parent[a.max(b)] = a.min(b);
        }
        if !is_bounded {
            return false;
        }
    }
    for (i, (q, z)) in problem.vector().iter().zip(z).enumerate() {
        let length = problem.column(i)[i].sqrt();
        let block = &mut sizes[root(parent, i)];
        block.0 = larger(block.0, q.abs() / length);
        block.1 = larger(block.1, z * length);
    }
    sizes.iter().all(|(q, z)| *z <= LIGHT * q)
}
