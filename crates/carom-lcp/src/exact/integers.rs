//! Linear complementarity problem with integer entries.

use super::sum::decode;
use crate::LcpRef;
use crate::balance::Balance;
use num_bigint::{BigInt, Sign};

/// Integer problem with the complementary bases of the original one.
///
/// The variables are $z_j = 2^{c_j + s} z'_j$ and the rows are multiplied by powers of two, which keeps all
/// signs.
#[derive(Clone, Debug)]
pub(crate) struct Integers {
    n: usize,
    /// Rows with n + 1 entries each: those of $M'$, then that of $q'$.
    entries: Vec<BigInt>,
    /// Exponents $r_i$: row i of $M'$ is $2^{r_i}$ times row i of $M$, up to the factors of the columns.
    pub row: Vec<i64>,
    /// Exponents $c_j + s$, one per column.
    pub column: Vec<i64>,
}

impl Integers {
    /// Converts a linear complementarity problem to integers by scaling rows and columns with powers of two. Rows
    /// and columns are balanced first to keep the integers short.
    pub(crate) fn new(problem: LcpRef<'_>) -> Self {
        let n = problem.dim();
        let mut balance = Balance::new();
        balance.set(problem);
        let (mut row, column) = (balance.row.clone(), balance.column.clone());
        let decoded = |i: usize, j: usize| match problem.column(j).get(i) {
            Some(m) if j < n => decode(*m),
            _ => decode(problem.vector().get(i).copied().unwrap_or(0.0)),
        };
        // Scales q to about the size of the matrix.
        let sizes = problem.vector().iter().zip(&row).filter_map(|(q, r)| {
            let (m, e) = decode(*q);
            (m != 0).then_some(e + 63 - m.unsigned_abs().leading_zeros() as i32 + r)
        });
        let shift = -sizes.max().unwrap_or(0);
        let exponent = |i: usize, j: usize, e: i32, row: &[i32]| {
            e + row[i] + column.get(j).copied().unwrap_or(shift)
        };
        let mut entries = Vec::with_capacity(n * (n + 1));
        for i in 0..n {
            let nonzero = (0..=n).filter_map(|j| {
                let (m, e) = decoded(i, j);
                (m != 0).then_some(exponent(i, j, e, &row))
            });
            row[i] -= nonzero.min().unwrap_or(0);
            for j in 0..=n {
                let (m, e) = decoded(i, j);
                let shift = if m == 0 { 0 } else { exponent(i, j, e, &row) };
                entries.push(BigInt::from(m) << shift.unsigned_abs());
            }
        }
        Self {
            n,
            entries,
            row: row.into_iter().map(i64::from).collect(),
            column: column
                .into_iter()
                .map(|c| i64::from(c) - i64::from(shift))
                .collect(),
        }
    }

    pub(crate) fn dim(&self) -> usize {
        self.n
    }

    /// Returns the rows of the integer problem: the n entries of the matrix, then the entry of the vector.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[BigInt]> {
        self.entries.chunks_exact(self.n + 1)
    }
}

/// Prime modulus, $2^{61} - 1$.
const PRIME: u64 = (1 << 61) - 1;

/// Matrix of a problem modulo a prime.
#[derive(Clone, Debug)]
pub(crate) struct Residues {
    n: usize,
    /// Entries, row after row.
    entries: Vec<u64>,
}

impl Residues {
    pub(crate) fn new(integers: &Integers) -> Self {
        let n = integers.n;
        let prime = BigInt::from(PRIME);
        let residue = |x: &BigInt| {
            let rest = x % &prime;
            let size = rest.magnitude().iter_u64_digits().next().unwrap_or(0);
            match rest.sign() {
                Sign::Minus => PRIME - size,
                _ => size,
            }
        };
        let rows = integers.rows();
        Self {
            n,
            entries: rows.flat_map(|row| row[..n].iter().map(residue)).collect(),
        }
    }

    /// Computes the dimension of the null space of the principal submatrix with the rows and columns in `support`, by
    /// arithmetic modulo a prime. The result is never less than the true dimension, and larger only in one of
    /// $10^{18}$ cases.
    pub(crate) fn nullity(&self, support: &[usize]) -> usize {
        let k = support.len();
        let entry = |i: &usize, j: &usize| self.entries[i * self.n + j];
        let mut rows: Vec<Vec<u64>> = support
            .iter()
            .map(|i| support.iter().map(|j| entry(i, j)).collect())
            .collect();
        let mut rank = 0;
        for column in 0..k {
            let Some(pivot) = (rank..k).find(|i| rows[*i][column] != 0) else {
                continue;
            };
            rows.swap(rank, pivot);
            let (head, tail) = rows.split_at_mut(rank + 1);
            let lead = &head[rank];
            for row in tail.iter_mut().filter(|row| row[column] != 0) {
                // Cross-multiplication avoids an inverse: only zeros matter.
                let (a, b) = (lead[column], row[column]);
                for (x, l) in row.iter_mut().zip(lead) {
                    *x = (product(*x, a) + PRIME - product(*l, b)) % PRIME;
                }
            }
            rank += 1;
        }
        k - rank
    }
}

fn product(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}
