//! Contact rows that depend on each other.
//!
//! Two points of an edge cannot slip along it apart, and four corners of a face cannot turn against each
//! other. Velocities $Jv$ at one configuration respect that. The conditions of a step do not quite: they
//! take rates from its two ends, between which the rows turn. What no motion can fulfill is left out of
//! them here, or the contacts would be pressed against each other in vain.

use nalgebra::{DMatrix, DVector};

/// Rows are dependent where the mobility is this fraction of its largest value.
const DEPENDENT: f64 = 1e-10;

/// The combinations of rows that no motion changes.
#[derive(Clone, Debug)]
pub(crate) struct Dependent {
    rows: Vec<usize>,
    /// Orthonormal columns, on `rows`.
    null: DMatrix<f64>,
}

impl Dependent {
    /// Of some rows of a mobility matrix (`n` × `n`, row by row).
    pub(crate) fn new(mobility: &[f64], n: usize, rows: Vec<usize>) -> Self {
        let entry = |i: usize, j: usize| mobility.get(n * i + j).copied().unwrap_or_default();
        let matrix = DMatrix::from_fn(rows.len(), rows.len(), |i, j| entry(rows[i], rows[j]));
        let none = Self {
            null: DMatrix::zeros(rows.len(), 0),
            rows,
        };
        if none.rows.len() < 4 || matrix.iter().any(|x| !x.is_finite()) {
            return none;
        }
        let eigen = matrix.symmetric_eigen();
        let cut = DEPENDENT * eigen.eigenvalues.amax();
        let columns: Vec<usize> = (0..none.rows.len())
            .filter(|k| eigen.eigenvalues[*k] <= cut)
            .collect();
        Self {
            null: eigen.eigenvectors.select_columns(&columns),
            rows: none.rows,
        }
    }

    /// Leaves of velocities what a motion can have.
    pub(crate) fn make_consistent(&self, velocity: &mut [f64]) {
        if self.null.ncols() == 0 {
            return;
        }
        let here = self.rows.iter().map(|row| velocity[*row]);
        let here = DVector::from_iterator(self.rows.len(), here);
        let off = &self.null * self.null.tr_mul(&here);
        for (row, off) in self.rows.iter().zip(off.iter()) {
            velocity[*row] -= off;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rows_that_are_the_same_get_the_same_velocity() {
        let mobility = [
            2.0, 0.0, 0.0, 2.0, //
            0.0, 1.0, 0.0, 0.0, //
            0.0, 0.0, 1.0, 0.0, //
            2.0, 0.0, 0.0, 2.0,
        ];
        let dependent = Dependent::new(&mobility, 4, vec![0, 1, 2, 3]);
        let mut velocity = [1.0, 5.0, 6.0, 3.0];
        dependent.make_consistent(&mut velocity);
        for (found, expected) in velocity.iter().zip([2.0, 5.0, 6.0, 2.0]) {
            assert!((found - expected).abs() <= 1e-15);
        }
    }
}
