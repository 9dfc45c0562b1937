//! Contact rows that depend on each other.
//!
//! Two points on one straight edge cannot move apart along it, and the four corners of a face cannot rotate against each other.
//! Velocities $Jv$ at one configuration respect such dependences exactly. The conditions of a step do so only approximately: they
//! use rates at both ends of the step, between which the rows rotate. The part that no motion can fulfill is removed here;
//! otherwise the contacts would press against each other without effect.

use carom_contact::internal::orthonormal;
use nalgebra::{DMatrix, DVector};

/// Combinations of rows are dependent if their mobility is below this fraction of the largest one.
const DEPENDENT: f64 = 1e-10;

/// Contact rows that depend on each other linearly: their velocities cannot be chosen alone, and no impulse changes some
/// combinations of them.
#[derive(Clone, Debug)]
pub struct Dependent {
    rows: Vec<usize>,
    /// Orthonormal columns that span the velocities that motions can have; the entries belong to `rows`. `None` if the rows are
    /// independent.
    range: Option<DMatrix<f64>>,
}

impl Dependent {
    /// Finds the contact velocities that impulses can change. `mobility` is the `n` × `n` matrix (row-major) that maps impulses to
    /// velocity changes; a row belongs to one direction, normal or tangent, at one contact. Only the rows `rows` are considered.
    /// Their velocities span the range of their part of the matrix.
    pub fn new(mobility: &[f64], n: usize, rows: Vec<usize>) -> Self {
        let entry = |i: usize, j: usize| mobility.get(n * i + j).copied().unwrap_or_default();
        let matrix = DMatrix::from_fn(rows.len(), rows.len(), |i, j| entry(rows[i], rows[j]));
        let is_asked = rows.len() >= 4 && matrix.iter().all(|x| x.is_finite());
        let range = (is_asked && !is_independent(&matrix)).then(|| {
            let columns = matrix.as_slice().chunks_exact(rows.len());
            let basis = orthonormal(columns, DEPENDENT * matrix.diagonal().amax());
            DMatrix::from_column_slice(rows.len(), basis.len() / rows.len(), &basis)
        });
        Self { rows, range }
    }

    /// Replaces contact velocities by the nearest ones that a motion of the bodies can have. `velocity` has one entry per contact
    /// row (m/s).
    ///
    /// # Panics
    ///
    /// If `velocity` has no entry for one of the rows.
    pub fn make_consistent(&self, velocity: &mut [f64]) {
        let Some(range) = &self.range else {
            return;
        };
        let here = self.rows.iter().map(|row| velocity[*row]);
        let here = DVector::from_iterator(self.rows.len(), here);
        let along = range * range.tr_mul(&here);
        for (row, along) in self.rows.iter().zip(along.iter()) {
            velocity[*row] = *along;
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
            // Two units in the last place of the largest velocity.
            assert!((found - expected).abs() <= 2e-15);
        }
    }

    /// Checks that two almost equal rows count as dependent below the limit of the pivots, and that the fast test
    /// reports independence only where it is certain.
    #[test]
    fn rows_that_nearly_depend_are_told_by_their_pivots() {
        for (apart, expected) in [(1e-11, 1), (1e-9, 0), (1e-3, 0)] {
            let mut mobility = vec![0.0; 16];
            for i in 0..4 {
                mobility[5 * i] = 1.0;
            }
            // Eigenvalues 2 - apart and apart.
            (mobility[1], mobility[4]) = (1.0 - apart, 1.0 - apart);
            let dependent = Dependent::new(&mobility, 4, (0..4).collect());
            let rank = dependent.range.map_or(4, |range| range.ncols());
            assert_eq!(rank, 4 - expected, "{apart}");
            let matrix = DMatrix::from_row_slice(4, 4, &mobility);
            assert!(expected == 0 || !is_independent(&matrix));
            assert!(apart < 1e-3 || is_independent(&matrix));
        }
    }

    /// Checks that the velocities of many points of one body are replaced by the nearest velocities that belong to a
    /// motion of the body.
    #[test]
    fn rows_of_many_points_get_the_velocities_of_a_motion() {
        let n = 120;
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
