//! Balancing: scales rows and columns by powers of two, and detects answers that are large in the balanced
//! problem.

use crate::LcpRef;
use crate::scalar::{exponent, larger};
use crate::tolerances::LIGHT_TERMS;

/// An answer is heavy if it exceeds this multiple of the vector $q$, both in the balanced problem.
const HEAVY: f64 = 1e4;

/// Number of alternating averages over rows and columns, before the largest entries are scaled to about one.
const SWEEPS: usize = 6;

/// Exponents $r_i$ and $c_j$ of a balanced matrix: the largest entry of every nonzero row and column of
/// $2^{r_i} M_{ij} 2^{c_j}$ lies in \[1, 2).
///
/// The logarithms of the entries are first balanced in the sense of least squares (Curtis & Reid, *On the
/// automatic scaling of matrices for Gaussian elimination*, 1972), so that a problem and a rescaled copy of it
/// have nearly the same balanced form.
#[derive(Clone, Debug)]
pub(crate) struct Balance {
    pub row: Vec<i32>,
    pub column: Vec<i32>,
    means: Vec<f64>,
    column_means: Vec<f64>,
    /// Forest of the blocks of the matrix: node i is row i, node n + j is column j. Rows and columns connected
    /// by nonzero entries have the same root.
    parent: Vec<usize>,
    /// Row and exponent of every nonzero entry, column after column. `ends` holds the end of each column.
    entries: Vec<(u32, i32)>,
    ends: Vec<usize>,
    sizes: Vec<(f64, f64)>,
}

impl Balance {
    pub(crate) fn new() -> Self {
        Self {
            row: Vec::new(),
            column: Vec::new(),
            means: Vec::new(),
            column_means: Vec::new(),
            parent: Vec::new(),
            entries: Vec::new(),
            ends: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// Reserves memory for balancing problems with `n` rows.
    pub(crate) fn reserve(&mut self, n: usize) {
        for vector in [&mut self.means, &mut self.column_means] {
            vector.reserve(n.saturating_sub(vector.len()));
        }
        for vector in [&mut self.row, &mut self.column] {
            vector.reserve(n.saturating_sub(vector.len()));
        }
        self.ends.reserve(n.saturating_sub(self.ends.len()));
        self.parent
            .reserve((2 * n).saturating_sub(self.parent.len()));
        self.sizes.reserve((2 * n).saturating_sub(self.sizes.len()));
    }

    /// Computes the powers of two by which the rows and columns of the matrix must be multiplied to balance the
    /// matrix. In the balanced matrix the largest entry of every row and column is about one.
    pub(crate) fn set(&mut self, problem: LcpRef<'_>) {
        let n = problem.dim();
        self.means.clear();
        self.means.resize(n, 0.0);
        self.column_means.clear();
        self.column_means.resize(n, 0.0);
        self.entries.clear();
        self.ends.clear();
        for j in 0..n {
            let entries = problem.column(j).iter().enumerate();
            let nonzero = entries.filter(|(_, m)| **m != 0.0);
            self.entries
                .extend(nonzero.map(|(i, m)| (i as u32, exponent(*m))));
            self.ends.push(self.entries.len());
        }
        let (all, ends) = (&self.entries, &self.ends);
        let nonzero = |j: usize| {
            let begin = if j == 0 { 0 } else { ends[j - 1] };
            all[begin..ends[j]].iter().map(|(i, e)| (*i as usize, *e))
        };
        self.sizes.clear();
        self.sizes.resize(n, (0.0, 0.0));
        for _ in 0..SWEEPS {
            self.sizes.fill((0.0, 0.0));
            for (j, c) in self.column_means.iter().enumerate() {
                for (i, e) in nonzero(j) {
                    self.sizes[i].0 += f64::from(e) + c;
                    self.sizes[i].1 += 1.0;
                }
            }
            for (r, (sum, count)) in self.means.iter_mut().zip(&self.sizes) {
                *r = -sum / count.max(1.0);
            }
            for (j, c) in self.column_means.iter_mut().enumerate() {
                let (mut sum, mut count) = (0.0, 0.0f64);
                for (i, e) in nonzero(j) {
                    sum += f64::from(e) + self.means[i];
                    count += 1.0;
                }
                *c = -sum / count.max(1.0);
            }
        }
        self.column.clear();
        self.column
            .extend(self.column_means.iter().map(|c| c.round() as i32));
        self.row.clear();
        self.row.resize(n, i32::MIN);
        for (j, c) in self.column.iter().enumerate() {
            for (i, e) in nonzero(j) {
                self.row[i] = self.row[i].max(e + c);
            }
        }
        for r in &mut self.row {
            *r = if *r == i32::MIN { 0 } else { -*r };
        }
        for (j, c) in self.column.iter_mut().enumerate() {
            let most = nonzero(j).map(|(i, e)| e + self.row[i]).max();
            *c = -most.unwrap_or(0);
        }
    }

    /// True if the answer `z` (n entries) is heavy, that is, very large compared with the vector $q$. Matrix and
    /// vector are balanced first. The answer is heavy if its largest entry in at least one block of connected rows
    /// and columns exceeds $10^4$ times the largest entry of $q$ in that block.
    ///
    /// Only a heavy answer can have a small backward error although the problem has no solution. The balancing is
    /// skipped if simpler scalings already show that the answer is not heavy.
    pub(crate) fn is_heavy(&mut self, problem: LcpRef<'_>, z: &[f64]) -> bool {
        let n = problem.dim();
        self.means.resize(n, 0.0);
        if is_light_by_rows(problem, z, &mut self.means) {
            return false;
        }
        self.set(problem);
        self.parent.clear();
        self.parent.extend(0..2 * n);
        let mut begin = 0;
        for (j, end) in self.ends.iter().enumerate() {
            for (i, _) in &self.entries[begin..*end] {
                let a = root(&mut self.parent, *i as usize);
                let b = root(&mut self.parent, n + j);
                self.parent[a.max(b)] = a.min(b);
            }
            begin = *end;
        }
        self.sizes.clear();
        self.sizes
            .resize(2 * n, (f64::NEG_INFINITY, f64::NEG_INFINITY));
        for (i, (q, r)) in problem.vector().iter().zip(&self.row).enumerate() {
            let block = &mut self.sizes[root(&mut self.parent, i)];
            block.0 = block.0.max(libm::log2(q.abs()) + f64::from(*r));
        }
        for (j, (z, c)) in z.iter().zip(&self.column).enumerate() {
            let block = &mut self.sizes[root(&mut self.parent, n + j)];
            block.1 = block.1.max(libm::log2(*z) - f64::from(*c));
        }
        let is_heavy = |(q, z): &(f64, f64)| *z > f64::NEG_INFINITY && *z > q + libm::log2(HEAVY);
        self.sizes.iter().any(is_heavy)
    }
}

/// Returns the root of the tree that contains node `i` in a forest (union-find). `parent` holds the parent of each
/// node, and a root is its own parent. The path to the root is shortened on the way (path halving).
fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

/// True if simple bounds show that an answer is not heavy, that is, not very large compared with the vector $q$.
/// `terms` holds one sum per row, $|q_i| + \sum_j |M_{ij}z_j|$. If no such sum is large compared with $|q_i|$, no
/// entry of the answer is large, in any units.
#[inline]
pub(crate) fn is_surely_light(terms: &[f64], vector: &[f64]) -> bool {
    let rows = terms.iter().zip(vector);
    rows.fold(true, |is_light, (t, q)| {
        is_light & (*t <= LIGHT_TERMS * HEAVY * q.abs())
    })
}

/// True if the answer `z` is not very large compared with the vector $q$ (not heavy), after a simple scaling of the
/// problem. First the largest entry of every row of the matrix becomes one, then that of every column. The answer
/// is not heavy if in these units no entry exceeds a tenth of [`HEAVY`] times the largest $|q_i|$ among the rows in which its
/// column is nonzero.
///
/// `units` (n entries) is work space.
fn is_light_by_rows(problem: LcpRef<'_>, z: &[f64], units: &mut [f64]) -> bool {
    // Not heavy in the balanced problem either.
    let light = |q: f64| 0.1 * HEAVY * q.abs();
    let mut positive = z.iter().enumerate().filter(|(_, z)| **z > 0.0);
    // Shortcut: in these units no entry of the matrix exceeds one. Scaling all rows by the largest entry of the
    // whole matrix can only make the right-hand side smaller.
    let most = problem.matrix_max();
    let is_light = positive.clone().all(|(j, z)| {
        let mut rows = problem.column(j).iter().zip(problem.vector());
        rows.any(|(m, q)| *m != 0.0 && z * most <= light(*q))
    });
    if is_light {
        return true;
    }
    units.fill(0.0);
    for j in 0..problem.dim() {
        for (most, m) in units.iter_mut().zip(problem.column(j)) {
            *most = larger(*most, m.abs());
        }
    }
    for unit in &mut *units {
        *unit = 1.0 / *unit;
    }
    positive.all(|(j, z)| {
        let (mut most, mut right) = (0.0, 0.0);
        let rows = units.iter().zip(problem.vector());
        for (m, (unit, q)) in problem.column(j).iter().zip(rows) {
            if *m != 0.0 {
                most = larger(most, m.abs() * unit);
                right = larger(right, q.abs() * unit);
            }
        }
        most > 0.0 && z * most <= light(right)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_does_not_depend_on_units() {
        let (m, q) = ([1.0, -1.0, -1.0, 1.0 + 1e-6], [-1.0, 0.0]);
        let is_heavy = |rows: [f64; 2], columns: [f64; 2], z: [f64; 2]| {
            let matrix: Vec<f64> = (0..4)
                .map(|k| m[k] * rows[k % 2] * columns[k / 2])
                .collect();
            let vector = [q[0] * rows[0], q[1] * rows[1]];
            let z = [z[0] / columns[0], z[1] / columns[1]];
            let problem = LcpRef::new(&matrix, &vector).unwrap();
            Balance::new().is_heavy(problem, &z)
        };
        let far = 2f64.powi(40);
        for rows in [[1.0, 1.0], [far, 1.0 / far], [1.0, far]] {
            for columns in [[1.0, 1.0], [far, 1.0 / far], [1.0 / far, far]] {
                assert!(is_heavy(rows, columns, [1e6, 1e6]));
                assert!(!is_heavy(rows, columns, [1.0, 100.0]));
            }
        }
    }

    #[test]
    fn blocks_are_weighed_apart() {
        let problem = LcpRef::new(&[1.0, 0.0, 0.0, 1.0], &[-1e12, -1.0]).unwrap();
        assert!(Balance::new().is_heavy(problem, &[1e12, 1e9]));
        assert!(!Balance::new().is_heavy(problem, &[1e12, 1.0]));
        let zero = LcpRef::new(&[0.0], &[1.0]).unwrap();
        assert!(!Balance::new().is_heavy(zero, &[0.0]));
        assert!(Balance::new().is_heavy(zero, &[1.0]));
    }
}
