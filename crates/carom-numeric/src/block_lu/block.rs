//! Small square blocks: products, and factors with pivots inside the block.
#![expect(
    clippy::needless_range_loop,
    reason = "triangular loops over a row and a column"
)]

/// Square block, stored row by row.
pub type Block<const N: usize> = [[f64; N]; N];

/// Returns the N × N zero matrix.
pub const fn zero<const N: usize>() -> Block<N> {
    [[0.0; N]; N]
}

/// Returns the N × N identity matrix times `value`.
pub fn scalar<const N: usize>(value: f64) -> Block<N> {
    let mut block = zero();
    for (i, row) in block.iter_mut().enumerate() {
        row[i] = value;
    }
    block
}

/// Subtracts the matrix product of `a` and `b` from `c`.
#[inline]
pub fn subtract_product<const N: usize>(c: &mut Block<N>, a: &Block<N>, b: &Block<N>) {
    for (row, left) in c.iter_mut().zip(a) {
        for (x, right) in left.iter().zip(b) {
            for (value, y) in row.iter_mut().zip(right) {
                *value -= x * y;
            }
        }
    }
}

/// Returns the matrix product of `a` and `b`.
#[inline]
pub fn product<const N: usize>(a: &Block<N>, b: &Block<N>) -> Block<N> {
    let mut c = zero();
    for (row, left) in c.iter_mut().zip(a) {
        for (x, right) in left.iter().zip(b) {
            for (value, y) in row.iter_mut().zip(right) {
                *value += x * y;
            }
        }
    }
    c
}

/// Returns the sum of the matrices `a` and `b`.
#[inline]
pub fn sum<const N: usize>(mut a: Block<N>, b: &Block<N>) -> Block<N> {
    for (row, other) in a.iter_mut().zip(b) {
        for (x, y) in row.iter_mut().zip(other) {
            *x += y;
        }
    }
    a
}

/// Returns the product of the matrix `a` and the vector `x`.
#[inline]
pub fn apply<const N: usize>(a: &Block<N>, x: &[f64; N]) -> [f64; N] {
    let mut y = [0.0; N];
    for (value, row) in y.iter_mut().zip(a) {
        *value = row.iter().zip(x).map(|(a, b)| a * b).sum();
    }
    y
}

/// Subtracts the product of the matrix `a` and the vector `x` from the vector `y`.
#[inline]
pub fn subtract_applied<const N: usize>(y: &mut [f64; N], a: &Block<N>, x: &[f64; N]) {
    for (value, row) in y.iter_mut().zip(a) {
        *value -= row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
    }
}

/// LU factors of a block $D$: $PD = LU$ with partial pivoting, $P$ a permutation.
#[derive(Clone, Copy, Debug)]
pub struct Factored<const N: usize> {
    /// $L$ below the diagonal, $U$ above it. The diagonal holds the reciprocals of the diagonal of $U$.
    lu: Block<N>,
    /// Row of the original block for each row of the factors.
    rows: [u8; N],
}

impl<const N: usize> Default for Factored<N> {
    fn default() -> Self {
        Self {
            lu: scalar(1.0),
            rows: std::array::from_fn(|i| i as u8),
        }
    }
}

impl<const N: usize> Factored<N> {
    /// Computes the LU factors of a block with partial pivoting; `None` if the block is singular or not finite.
    pub fn new(block: &Block<N>) -> Option<Self> {
        let mut factored = Self {
            lu: *block,
            rows: std::array::from_fn(|i| i as u8),
        };
        // Columns with constant indices: the compiler keeps the entries of a small block in registers.
        let is_regular = factored.eliminate(0)
            && factored.eliminate(1)
            && factored.eliminate(2)
            && factored.eliminate(3)
            && factored.eliminate(4)
            && factored.eliminate(5)
            && (6..N).all(|k| factored.eliminate(k));
        is_regular.then_some(factored)
    }

    /// Chooses the pivot of column `k` and eliminates the column from the rows below; nothing if there is no such column. Returns
    /// false if the pivot is zero or not finite.
    #[inline(always)]
    fn eliminate(&mut self, k: usize) -> bool {
        if k >= N {
            return true;
        }
        let (lu, rows) = (&mut self.lu, &mut self.rows);
        let (mut best, mut largest) = (k, lu[k][k].abs());
        for i in k + 1..N {
            if lu[i][k].abs() > largest {
                (best, largest) = (i, lu[i][k].abs());
            }
        }
        for i in k + 1..N {
            if i == best {
                lu.swap(k, i);
                rows.swap(k, i);
            }
        }
        let pivot = 1.0 / lu[k][k];
        if !pivot.is_finite() {
            return false;
        }
        lu[k][k] = pivot;
        for i in k + 1..N {
            let factor = lu[i][k] * pivot;
            lu[i][k] = factor;
            for j in k + 1..N {
                lu[i][j] -= factor * lu[k][j];
            }
        }
        true
    }

    /// Returns the solution $x$ of $Dx = b$, with $D$ the block that these LU factors belong to.
    #[inline]
    pub fn solve(&self, b: &[f64; N]) -> [f64; N] {
        let mut x = [0.0; N];
        for i in 0..N {
            let mut value = b[usize::from(self.rows[i])];
            for j in 0..i {
                value -= self.lu[i][j] * x[j];
            }
            x[i] = value;
        }
        for i in (0..N).rev() {
            let mut value = x[i];
            for j in i + 1..N {
                value -= self.lu[i][j] * x[j];
            }
            x[i] = value * self.lu[i][i];
        }
        x
    }

    /// Returns the product $D^{-1}B$, with $D$ the block that these LU factors belong to and $B$ = `b`.
    #[inline]
    pub fn solve_block(&self, b: &Block<N>) -> Block<N> {
        let mut x = zero();
        for i in 0..N {
            let mut row = b[usize::from(self.rows[i])];
            for j in 0..i {
                let factor = self.lu[i][j];
                for (value, y) in row.iter_mut().zip(&x[j]) {
                    *value -= factor * y;
                }
            }
            x[i] = row;
        }
        for i in (0..N).rev() {
            let mut row: [f64; N] = x[i];
            for j in i + 1..N {
                let factor = self.lu[i][j];
                for (value, y) in row.iter_mut().zip(&x[j]) {
                    *value -= factor * y;
                }
            }
            let pivot = self.lu[i][i];
            x[i] = row.map(|value| value * pivot);
        }
        x
    }

    /// Overwrites the block $A$ = `a` by the product $AD^{-1}$, with $D$ the block that these LU factors belong to.
    #[inline]
    pub fn divide(&self, a: &mut Block<N>) {
        // All rows at once, column by column.
        let mut columns: Block<N> = std::array::from_fn(|j| std::array::from_fn(|r| a[r][j]));
        for j in 0..N {
            let mut column = columns[j];
            for i in 0..j {
                let factor = self.lu[i][j];
                for (value, y) in column.iter_mut().zip(&columns[i]) {
                    *value -= y * factor;
                }
            }
            let pivot = self.lu[j][j];
            columns[j] = column.map(|value| value * pivot);
        }
        for j in (0..N).rev() {
            let mut column = columns[j];
            for i in j + 1..N {
                let factor = self.lu[i][j];
                for (value, y) in column.iter_mut().zip(&columns[i]) {
                    *value -= y * factor;
                }
            }
            columns[j] = column;
        }
        for (column, place) in columns.iter().zip(&self.rows) {
            for (row, value) in a.iter_mut().zip(column) {
                row[usize::from(*place)] = *value;
            }
        }
    }
}
