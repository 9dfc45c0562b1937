//! Velocities and momenta as different types.

use nalgebra::DVector;

/// A tangent vector: a generalized velocity $v = \dot q$, length n.
#[derive(Clone, Debug, PartialEq)]
pub struct Tangent(pub DVector<f64>);

/// A covector: a generalized momentum $p = M v$, or the gradient of a gap function, length n.
#[derive(Clone, Debug, PartialEq)]
pub struct Covector(pub DVector<f64>);

impl Tangent {
    /// A tangent vector with the given entries.
    pub fn from_slice(entries: &[f64]) -> Self {
        Self(DVector::from_column_slice(entries))
    }
}

impl Covector {
    /// A covector with the given entries.
    pub fn from_slice(entries: &[f64]) -> Self {
        Self(DVector::from_column_slice(entries))
    }
}
