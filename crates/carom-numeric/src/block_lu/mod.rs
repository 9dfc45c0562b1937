//! LU factors of a sparse block matrix with a symmetric pattern.
//!
//! Pivots are chosen inside the diagonal blocks only, so that the pattern of the factors, the
//! symbolic phase, depends on the pattern of the matrix alone and is kept from one matrix to the
//! next. The columns are computed from left to right.

pub mod block;
mod ordering;

use block::{Block, Factored, subtract_applied, subtract_product, zero};
use ordering::Ordering;

/// LU factors $A = LDU$ of a sparse matrix that consists of $N\times N$ blocks with a symmetric nonzero pattern. The rows
/// are eliminated in an order of minimum degree. $L$ and $U$ have unit block diagonals; the upper rows are stored as the
/// product $DU$. Pivots are chosen inside the diagonal blocks only.
///
/// # Examples
///
/// ```
/// use carom_numeric::block_lu::BlockLu;
/// // Three bodies in a row: blocks of one number, 2 on the diagonal and -1 beside it.
/// let beside: [&[u32]; 3] = [&[1], &[0, 2], &[1]];
/// let mut factors = BlockLu::<1>::default();
/// factors.analyze(3, |i, list| list.extend(beside[i]));
/// factors.clear();
/// for i in 0..3 {
///     factors.entry(i, i).expect("in the pattern")[0][0] = 2.0;
///     for j in beside[i] {
///         factors.entry(i, *j as usize).expect("in the pattern")[0][0] = -1.0;
///     }
/// }
/// assert!(factors.factor());
/// let mut x = [[1.0], [0.0], [1.0]];
/// factors.solve(&mut x);
/// assert!(x.iter().all(|x| (x[0] - 1.0).abs() < 1e-15));
/// ```
#[derive(Clone, Debug, Default)]
pub struct BlockLu<const N: usize> {
    n: usize,
    ordering: Ordering,
    /// Position of each variable in the elimination order.
    position: Vec<u32>,
    /// Offset in `rows` of each column's blocks below the diagonal.
    starts: Vec<usize>,
    /// Row positions of these blocks, ascending in each column.
    rows: Vec<u32>,
    /// For each column the earlier columns that update it: offsets into `earlier`. An entry of `earlier` is an
    /// earlier column, and the offset in `rows` of its block in this row.
    earlier_starts: Vec<usize>,
    earlier: Vec<(u32, u32)>,
    lower: Vec<Block<N>>,
    upper: Vec<Block<N>>,
    diagonal: Vec<Block<N>>,
    pivots: Vec<Factored<N>>,
    places: Vec<u32>,
    solution: Vec<[f64; N]>,
}

impl<const N: usize> BlockLu<N> {
    /// Computes the elimination order of a sparse block matrix with `n` block rows, and the nonzero pattern of its
    /// LU factors (symbolic factorization). `neighbors(i, list)` appends the columns with a nonzero block in row
    /// `i` to `list`.
    pub fn analyze(&mut self, n: usize, neighbors: impl FnMut(usize, &mut Vec<u32>)) {
        self.n = n;
        self.ordering.run(n, neighbors);
        self.position.clear();
        self.position.resize(n, 0);
        for (at, variable) in self.ordering.order.iter().enumerate() {
            self.position[*variable as usize] = at as u32;
        }
        self.starts.clear();
        self.rows.clear();
        self.earlier_starts.clear();
        self.earlier_starts.resize(n + 1, 0);
        for variable in &self.ordering.order {
            self.starts.push(self.rows.len());
            let first = self.rows.len();
            let fill = self.ordering.fill[*variable as usize].iter();
            self.rows.extend(fill.map(|v| self.position[*v as usize]));
            self.rows[first..].sort_unstable();
            for row in &self.rows[first..] {
                self.earlier_starts[*row as usize + 1] += 1;
            }
        }
        self.starts.push(self.rows.len());
        for k in 0..n {
            self.earlier_starts[k + 1] += self.earlier_starts[k];
        }
        self.places.clear();
        self.places
            .extend(self.earlier_starts.iter().map(|x| *x as u32));
        self.earlier.clear();
        self.earlier.resize(self.rows.len(), (0, 0));
        for j in 0..n {
            for at in self.starts[j]..self.starts[j + 1] {
                let place = &mut self.places[self.rows[at] as usize];
                self.earlier[*place as usize] = (j as u32, at as u32);
                *place += 1;
            }
        }
        self.places.clear();
        self.places.resize(n, 0);
    }

    /// Sets all blocks of the matrix to zero and keeps its nonzero pattern.
    pub fn clear(&mut self) {
        for blocks in [&mut self.lower, &mut self.upper] {
            blocks.clear();
            blocks.resize(self.rows.len(), zero());
        }
        self.diagonal.clear();
        self.diagonal.resize(self.n, zero());
    }

    /// Returns the block in row `i` and column `j` of the matrix for writing. `None` if this block is not in the
    /// nonzero pattern.
    pub fn entry(&mut self, i: usize, j: usize) -> Option<&mut [[f64; N]; N]> {
        let (i, j) = (*self.position.get(i)?, *self.position.get(j)?);
        if i == j {
            return self.diagonal.get_mut(i as usize);
        }
        let (column, row) = (i.min(j) as usize, i.max(j));
        let range = self.starts[column]..self.starts[column + 1];
        let at = range.start + self.rows[range].binary_search(&row).ok()?;
        if i > j {
            self.lower.get_mut(at)
        } else {
            self.upper.get_mut(at)
        }
    }

    /// Computes the LU factors of the matrix in place (numeric factorization). Returns false if a pivot block on
    /// the diagonal is singular or not finite.
    pub fn factor(&mut self) -> bool {
        self.pivots.clear();
        for k in 0..self.n {
            let own = self.starts[k]..self.starts[k + 1];
            for (at, row) in self.rows[own.clone()].iter().enumerate() {
                self.places[*row as usize] = (own.start + at) as u32;
            }
            for which in self.earlier_starts[k]..self.earlier_starts[k + 1] {
                let (j, at) = self.earlier[which];
                self.change(k, at as usize, self.starts[j as usize + 1]);
            }
            let Some(pivot) = Factored::new(&self.diagonal[k]) else {
                return false;
            };
            for block in &mut self.lower[own] {
                pivot.divide(block);
            }
            self.pivots.push(pivot);
        }
        true
    }

    /// Subtracts the contribution of an earlier column from column and row `k` during the LU factorization. The earlier
    /// column is given by its blocks from row `k` downwards, which have the indices `at..end` in the lists of lower and
    /// upper blocks.
    fn change(&mut self, k: usize, at: usize, end: usize) {
        let (left, right) = (self.lower[at], self.upper[at]);
        subtract_product(&mut self.diagonal[k], &left, &right);
        for t in at + 1..end {
            let place = self.places[self.rows[t] as usize] as usize;
            let lower = self.lower[t];
            subtract_product(&mut self.lower[place], &lower, &right);
            let upper = self.upper[t];
            subtract_product(&mut self.upper[place], &left, &upper);
        }
    }

    /// Solves the linear system with the computed LU factors. `x` holds the right-hand side and is overwritten by
    /// the solution, one entry of N numbers for each block row.
    pub fn solve(&mut self, x: &mut [[f64; N]]) {
        self.solution.clear();
        let order = self.ordering.order.iter();
        self.solution.extend(order.map(|v| x[*v as usize]));
        for k in 0..self.n {
            let value = self.solution[k];
            for at in self.starts[k]..self.starts[k + 1] {
                let row = self.rows[at] as usize;
                subtract_applied(&mut self.solution[row], &self.lower[at], &value);
            }
        }
        for k in (0..self.n).rev() {
            let mut value = self.solution[k];
            for at in self.starts[k]..self.starts[k + 1] {
                let row = self.rows[at] as usize;
                subtract_applied(&mut value, &self.upper[at], &self.solution[row]);
            }
            self.solution[k] = self.pivots[k].solve(&value);
        }
        for (variable, value) in self.ordering.order.iter().zip(&self.solution) {
            x[*variable as usize] = *value;
        }
    }
}
