//! Matrices as lists of their rows.

use crate::error::WireError;
use nalgebra::DMatrix;

/// Converts a matrix to the list of its rows.
pub(crate) fn rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix
        .row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}

/// Builds a square matrix from the list of its rows. Fails if a row has a wrong length.
pub(crate) fn square(rows: &[Vec<f64>]) -> Result<DMatrix<f64>, WireError> {
    let n = rows.len();
    if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != n) {
        let found = row.len();
        let message = format!("mass_matrix: row {i} has {found} entries where there are {n} rows");
        return Err(WireError::new("not-square", message));
    }
    Ok(DMatrix::from_fn(n, n, |i, j| rows[i][j]))
}
