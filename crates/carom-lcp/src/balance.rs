//! Rows and columns brought to about one by powers of two, and answers that are large against them.

use crate::LcpRef;
use crate::scalar::{exponent, larger};
use crate::tolerances::LIGHT_TERMS;

/// An answer is heavy above this multiple of the vector, both in balanced units.
const HEAVY: f64 = 1e4;

/// Room for all entries is made at once up to this dimension.
const ROOM: usize = 512;

/// Rows and columns that are averaged in turns, before their largest entries are brought to one.
const SWEEPS: usize = 6;

/// Exponents $r_i$ and $c_j$ with which $2^{r_i} M_{ij} 2^{c_j}$ has rows and columns of largest
/// entry in \[1, 2), where they have entries at all.
///
/// The logarithms of the entries are first balanced in the sense of least squares (Curtis & Reid,
/// *On the automatic scaling of matrices for Gaussian elimination*, 1972), so that a scaled problem
/// comes back to about what it was.
#[derive(Clone, Debug)]
pub(crate) struct Balance {
    pub row: Vec<i32>,
    pub column: Vec<i32>,
    means: Vec<f64>,
    column_means: Vec<f64>,
    /// Rows 0..n and columns n..2n that nonzero entries connect have the same root.
    pub(crate) parent: Vec<usize>,
    /// Rows and exponents of the nonzero entries, column after column, and where each column ends.
    entries: Vec<(u32, i32)>,
    ends: Vec<usize>,
    pub(crate) sizes: Vec<(f64, f64)>,
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

    /// Room for n rows.
    pub(crate) fn reserve(&mut self, n: usize) {
        for vector in [&mut self.means, &mut self.column_means] {
            vector.reserve(n.saturating_sub(vector.len()));
        }
        for vector in [&mut self.row, &mut self.column] {
            vector.reserve(n.saturating_sub(vector.len()));
        }
        if n <= ROOM {
            self.entries
                .reserve((n * n).saturating_sub(self.entries.len()));
        }
        self.ends.reserve(n.saturating_sub(self.ends.len()));
        self.parent
            .reserve((2 * n).saturating_sub(self.parent.len()));
        self.sizes.reserve((2 * n).saturating_sub(self.sizes.len()));
    }

    /// Balances the matrix of a problem.
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

    /// True if an answer (n) is heavy: in the balanced problem, in one of the blocks into which
    /// the matrix falls, its largest entry exceeds that of the vector $10^4$ times.
    ///
    /// Only such answers can have a small backward error where there is no solution: the smaller
    /// the error, the larger they are. One that is light in other balanced units is not looked at further.
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

/// The root of a tree of parents, whose paths become shorter.
pub(crate) fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

/// True if an answer is not heavy, by the sizes of the terms of each row alone: if none exceeds its
/// $|q_i|$ too much, no entry of the answer does, in any units.
#[inline]
pub(crate) fn is_surely_light(terms: &[f64], vector: &[f64]) -> bool {
    let rows = terms.iter().zip(vector);
    rows.fold(true, |is_light, (t, q)| {
        is_light & (*t <= LIGHT_TERMS * HEAVY * q.abs())
    })
}

/// An answer below this multiple of the vector in some balanced units is not heavy in others.
pub(crate) const LIGHT: f64 = 0.1 * HEAVY;

/// True if an answer is not heavy in the units in which the largest entry of every row is one, and then that of every
/// column: no entry exceeds too much what a row that holds it has on the right.
///
/// `units` (n) is overwritten.
fn is_light_by_rows(problem: LcpRef<'_>, z: &[f64], units: &mut [f64]) -> bool {
    let mut positive = z.iter().enumerate().filter(|(_, z)| **z > 0.0);
    // In these units no entry exceeds one, and what is on the right is no less than with the largest entry of all
    // in place of the row's.
    let most = problem.matrix_max();
    let is_light = positive.clone().all(|(j, z)| {
        let mut rows = problem.column(j).iter().zip(problem.vector());
        rows.any(|(m, q)| *m != 0.0 && z * most <= LIGHT * q.abs())
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
        most > 0.0 && z * most <= LIGHT * right
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
