//! Integer dictionary: basic variables as linear functions of nonbasic ones.

use super::integers::Integers;
use super::sum::ratio;
use crate::work::Work;
use num_bigint::{BigInt, Sign};

/// Dictionary $\delta x_B = b + A x_N$ with integers $A$, $b$ and one common denominator $\delta > 0$.
///
/// $x_B$ are the basic variables, $x_N$ the nonbasic ones. Variables are numbered
/// $w_0, \dots, w_{n-1}, z_0, \dots, z_{n-1}$. Every entry is a minor of the
/// problem, so that divisions by the last denominator leave no remainder (Edmonds, *Systems of distinct
/// representatives and linear algebra*, 1967).
#[derive(Clone, Debug)]
pub(super) struct Dictionary {
    n: usize,
    /// Rows of $A$, each with its entry of $b$ at the end.
    rows: Vec<Vec<BigInt>>,
    denominator: BigInt,
    pub basic: Vec<usize>,
    pub nonbasic: Vec<usize>,
}

impl Dictionary {
    /// Creates the simplex dictionary $w = q + Mz$, in which all $w$ are basic and all $z$ nonbasic.
    pub(super) fn of_slacks(integers: &Integers) -> Self {
        let n = integers.dim();
        Self {
            n,
            rows: integers.rows().map(<[BigInt]>::to_vec).collect(),
            denominator: BigInt::from(1),
            basic: (0..n).collect(),
            nonbasic: (n..2 * n).collect(),
        }
    }

    /// Returns the coefficient of the nonbasic variable `column` in the equation of the basic variable `row`, times
    /// the common denominator.
    pub(super) fn entry(&self, row: usize, column: usize) -> &BigInt {
        &self.rows[row][column]
    }

    /// Returns the value of the basic variable of a row if all nonbasic variables are zero, times the common
    /// denominator.
    pub(super) fn value(&self, row: usize) -> &BigInt {
        &self.rows[row][self.nonbasic.len()]
    }

    pub(super) fn denominator(&self) -> &BigInt {
        &self.denominator
    }

    /// Returns the row of the simplex dictionary that belongs to a basic variable; `None` for nonbasic variables.
    /// Variables are numbered $w_0, \dots, w_{n-1}, z_0, \dots, z_{n-1}$.
    pub(super) fn row_of(&self, variable: usize) -> Option<usize> {
        self.basic.iter().position(|basic| *basic == variable)
    }

    /// Returns the column of the simplex dictionary that belongs to a nonbasic variable; `None` for basic
    /// variables. Variables are numbered $w_0, \dots, w_{n-1}, z_0, \dots, z_{n-1}$.
    pub(super) fn column_of(&self, variable: usize) -> Option<usize> {
        self.nonbasic.iter().position(|v| *v == variable)
    }

    /// True if a variable is positive at the point where all nonbasic variables are zero. Variables are numbered
    /// $w_0, \dots, w_{n-1}, z_0, \dots, z_{n-1}$.
    pub(super) fn is_positive(&self, variable: usize) -> bool {
        let row = self.row_of(variable);
        row.is_some_and(|row| self.value(row).sign() == Sign::Plus)
    }

    /// Returns the column of a nonzero entry in the given row of the simplex dictionary. Of all nonzero entries, the
    /// integer with the fewest bits is chosen. `None` if all entries of the row are zero.
    pub(super) fn any_entry(&self, row: usize) -> Option<usize> {
        let columns = 0..self.nonbasic.len();
        let nonzero = columns.filter(|c| self.entry(row, *c).sign() != Sign::NoSign);
        nonzero.min_by_key(|c| self.entry(row, *c).bits())
    }

    /// True if this simplex dictionary is feasible: all basic variables are nonnegative if all nonbasic variables are
    /// zero.
    pub(super) fn is_feasible(&self) -> bool {
        (0..self.rows.len()).all(|i| self.value(i).sign() != Sign::Minus)
    }

    /// Fixes the nonbasic variable of a column at zero by removing that column.
    pub(super) fn drop_column(&mut self, column: usize) {
        self.nonbasic.remove(column);
        for row in &mut self.rows {
            row.remove(column);
        }
    }

    /// Fixes at zero the nonbasic variables for which `keep` returns false, by removing their columns. `keep`
    /// receives the number of a variable.
    pub(super) fn retain_columns(&mut self, keep: impl Fn(usize) -> bool) {
        for column in (0..self.nonbasic.len()).rev() {
            if !keep(self.nonbasic[column]) {
                self.drop_column(column);
            }
        }
    }

    /// Exchanges the basic variable of a row with the nonbasic variable of a column. The entry of that row and
    /// column must not be zero. Returns false if the budget `work` is exhausted.
    pub(super) fn pivot(&mut self, row: usize, column: usize, work: &mut Work) -> bool {
        let pivot_row = self.rows[row].clone();
        let pivot = pivot_row[column].clone();
        let (limbs, last) = (self.limbs(), self.denominator.clone());
        for (i, target) in self.rows.iter_mut().enumerate() {
            if i == row {
                for x in target.iter_mut() {
                    *x = -&*x;
                }
                target[column] = last.clone();
                continue;
            }
            let factor = std::mem::replace(&mut target[column], BigInt::ZERO);
            for (x, r) in target.iter_mut().zip(&pivot_row) {
                if factor.sign() != Sign::NoSign && r.sign() != Sign::NoSign {
                    *x = (&*x * &pivot - &factor * r) / &last;
                } else if x.sign() != Sign::NoSign {
                    *x = &*x * &pivot / &last;
                }
            }
            target[column] = factor;
        }
        self.denominator = pivot;
        if self.denominator.sign() == Sign::Minus {
            self.denominator = -&self.denominator;
            for x in self.rows.iter_mut().flatten() {
                *x = -&*x;
            }
        }
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        let entries = (self.rows.len() * pivot_row.len()) as u64;
        // Cost of an entry: two products and a quotient, and an allowance for memory.
        work.spend_pivots(1, entries.saturating_mul(3 * limbs * limbs + 64))
    }

    /// Estimates the length of the integers in the simplex dictionary in 64-bit words.
    fn limbs(&self) -> u64 {
        let values = (0..self.rows.len()).map(|i| self.value(i).bits());
        let bits = values.max().unwrap_or(0).max(self.denominator.bits());
        bits / 64 + 1
    }

    /// Returns the variables $z$ (n entries) of the problem before its conversion to integers, rounded to nearest.
    /// `integers` holds the scaling of that conversion.
    pub(super) fn variables(&self, integers: &Integers) -> Vec<f64> {
        let mut z = vec![0.0; self.n];
        for (i, variable) in self.basic.iter().enumerate() {
            let index = variable.checked_sub(self.n);
            if let Some(j) = index {
                z[j] = ratio(self.value(i), &self.denominator, integers.column[j]);
            }
        }
        z
    }
}
