//! Symmetries of orbits.

use nalgebra::{DMatrix, DVector};

/// Affine map of states that carries the end of an orbit to its start, and coordinates that are not compared.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Carried {
    /// Matrix and constant of the map; `None` for the identity.
    pub map: Option<(DMatrix<f64>, DVector<f64>)>,
    /// States that are not compared.
    pub free: Vec<usize>,
}

impl Carried {
    /// Describes a map by its matrix and its constant.
    pub fn new(matrix: DMatrix<f64>, constant: DVector<f64>, free: Vec<usize>) -> Self {
        Self {
            map: Some((matrix, constant)),
            free,
        }
    }

    pub(crate) fn apply(&self, state: &DVector<f64>) -> DVector<f64> {
        match &self.map {
            Some((matrix, constant)) => matrix * state + constant,
            None => state.clone(),
        }
    }

    pub(crate) fn apply_linear(&self, columns: &DMatrix<f64>) -> DMatrix<f64> {
        match &self.map {
            Some((matrix, _)) => matrix * columns,
            None => columns.clone(),
        }
    }

    /// Returns the indices of the states that are compared.
    pub(crate) fn compared(&self, n: usize) -> Vec<usize> {
        (0..n).filter(|i| !self.free.contains(i)).collect()
    }
}
