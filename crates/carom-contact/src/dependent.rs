//! Contact rows that depend on each other.
//!
//! Two points on one straight edge cannot move apart along it, and the four corners of a face cannot rotate against each other.
//! Velocities $Jv$ at one configuration respect such dependences exactly. The conditions of a step do so only approximately: they
//! use rates at both ends of the step, between which the rows rotate. The part that no motion can fulfill is removed here;
//! otherwise the contacts would press against each other without effect.

use nalgebra::{DMatrix, DVector};

/// Number of rows up to which all eigenvectors are computed. Of more rows, such as those of the corners of the face of a prism,
/// few are independent, and a pivoted Cholesky factorization finds these.
const FEW_ROWS: usize = 96;

/// Combinations of rows are dependent if their mobility is below this fraction of the largest one.
const DEPENDENT: f64 = 1e-10;

/// Linear combinations of contact rows that are zero, because the rows depend on each other linearly. No impulse changes the
/// same combination of the contact velocities.
#[derive(Clone, Debug)]
pub struct Dependent {
    rows: Vec<usize>,
    /// Orthonormal columns; the entries belong to `rows`.
    columns: DMatrix<f64>,
    /// True if the columns span the velocities that motions can have, instead of those that motions cannot have.
    is_range: bool,
}

impl Dependent {
    /// Finds the linear combinations of contact velocities that no impulse can change. `mobility` is the `n` × `n` matrix
    /// (row-major) that maps impulses to velocity changes; a row belongs to one direction, normal or tangent, at one contact.
    /// Only the rows `rows` are considered. The combinations span the null space of their part of the matrix.
    pub fn new(mobility: &[f64], n: usize, rows: Vec<usize>) -> Self {
        let entry = |i: usize, j: usize| mobility.get(n * i + j).copied().unwrap_or_default();
        let matrix = DMatrix::from_fn(rows.len(), rows.len(), |i, j| entry(rows[i], rows[j]));
        let none = Self {
            columns: DMatrix::zeros(rows.len(), 0),
            is_range: false,
            rows,
        };
        if none.rows.len() < 4 || matrix.iter().any(|x| !x.is_finite()) {
            return none;
        }
        if none.rows.len() > FEW_ROWS {
            return Self {
                columns: range(matrix),
                is_range: true,
                ..none
            };
        }
        if is_independent(&matrix) {
            return none;
        }
        let eigen = matrix.symmetric_eigen();
        let cut = DEPENDENT * eigen.eigenvalues.amax();
        let columns: Vec<usize> = (0..none.rows.len())
            .filter(|k| eigen.eigenvalues[*k] <= cut)
            .collect();
        Self {
            columns: eigen.eigenvectors.select_columns(&columns),
            ..none
        }
    }

    /// Replaces contact velocities by the nearest ones that a motion of the bodies can have. `velocity` has one entry per contact
    /// row (m/s).
    ///
    /// # Panics
    ///
    /// If `velocity` has no entry for one of the rows.
    pub fn make_consistent(&self, velocity: &mut [f64]) {
        if self.columns.ncols() == 0 {
            return;
        }
        let here = self.rows.iter().map(|row| velocity[*row]);
        let here = DVector::from_iterator(self.rows.len(), here);
        let along = &self.columns * self.columns.tr_mul(&here);
        let off = if self.is_range { here - along } else { along };
        for (row, off) in self.rows.iter().zip(off.iter()) {
            velocity[*row] -= off;
        }
    }
}

/// Returns true if the smallest eigenvalue of a positive semidefinite matrix certainly exceeds [`DEPENDENT`] times the largest.
/// The test subtracts twice [`DEPENDENT`] times the trace, which bounds the largest eigenvalue, from the diagonal. The remaining
/// matrix must be positive definite.
fn is_independent(matrix: &DMatrix<f64>) -> bool {
    let mut shifted = matrix.clone();
    let cut = 2.0 * DEPENDENT * matrix.trace();
    for i in 0..matrix.nrows() {
        shifted[(i, i)] -= cut;
    }
    shifted.cholesky().is_some()
}

/// Returns a matrix with orthonormal columns that span the range of a positive semidefinite matrix. The range is found by a
/// Cholesky factorization with pivoting.
fn range(matrix: DMatrix<f64>) -> DMatrix<f64> {
    let n = matrix.nrows();
    let mut left = matrix.diagonal();
    let cut = DEPENDENT * left.max();
    let mut factor: Vec<DVector<f64>> = Vec::new();
    while factor.len() < n && left.max() > cut {
        let pivot = left.imax();
        let mut column = matrix.column(pivot).into_owned();
        for earlier in &factor {
            column.axpy(-earlier[pivot], earlier, 1.0);
        }
        column /= left[pivot].sqrt();
        for (left, x) in left.iter_mut().zip(column.iter()) {
            *left -= x * x;
        }
        left[pivot] = 0.0;
        factor.push(column);
    }
    if factor.is_empty() {
        return DMatrix::zeros(n, 0);
    }
    DMatrix::from_columns(&factor).qr().q()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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

    /// Checks that two almost equal rows count as dependent below the limit of the eigenvalues, and that the fast test
    /// reports independence only where it is certain.
    #[test]
    fn rows_that_nearly_depend_are_told_by_their_eigenvalues() {
        for (apart, expected) in [(1e-11, 1), (1e-9, 0), (1e-3, 0)] {
            let mut mobility = vec![0.0; 16];
            for i in 0..4 {
                mobility[5 * i] = 1.0;
            }
            // Eigenvalues 2 - apart and apart.
            (mobility[1], mobility[4]) = (1.0 - apart, 1.0 - apart);
            let dependent = Dependent::new(&mobility, 4, (0..4).collect());
            assert_eq!(dependent.columns.ncols(), expected, "{apart}");
            let matrix = DMatrix::from_row_slice(4, 4, &mobility);
            assert!(expected == 0 || !is_independent(&matrix));
            assert!(apart < 1e-3 || is_independent(&matrix));
        }
    }

    /// Checks that the velocities of many points of one body are replaced by the nearest velocities that belong to a
    /// motion of the body.
    #[test]
    fn rows_of_many_points_get_the_velocities_of_a_motion() {
        let n = FEW_ROWS + 24;
        let row = |i: usize| {
            let t = i as f64;
            [1.0, (0.3 * t).sin(), (0.7 * t).cos(), (1.1 * t).sin()]
        };
        let rows = DMatrix::from_fn(n, 4, |i, k| row(i)[k]);
        let mobility = &rows * rows.transpose();
        let dependent = Dependent::new(mobility.as_slice(), n, (0..n).collect());
        let noise = DVector::from_fn(n, |i, _| (2.3 * i as f64).sin());
        let mut velocity = noise.as_slice().to_vec();
        dependent.make_consistent(&mut velocity);
        let taken = &noise - DVector::from_column_slice(&velocity);
        assert!((rows.tr_mul(&taken)).amax() <= 1e-11);
        let motion = rows.clone().svd(true, true).solve(&noise, 1e-12);
        let nearest = &rows * motion.unwrap();
        assert!((nearest - DVector::from_column_slice(&velocity)).amax() <= 1e-11);
    }
}
