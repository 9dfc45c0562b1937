//! Velocities and momenta as different types.

use nalgebra::DVector;

/// A tangent vector: a generalized velocity $v = \dot q$, length n.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<f64>", into = "Vec<f64>"))]
pub struct Tangent(pub DVector<f64>);

/// A covector: a generalized momentum $p = M v$, or the gradient of a gap function, length n.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<f64>", into = "Vec<f64>"))]
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

impl From<Vec<f64>> for Tangent {
    fn from(entries: Vec<f64>) -> Self {
        Self(DVector::from_vec(entries))
    }
}

impl From<Tangent> for Vec<f64> {
    fn from(vector: Tangent) -> Self {
        vector.0.data.into()
    }
}

impl From<Vec<f64>> for Covector {
    fn from(entries: Vec<f64>) -> Self {
        Self(DVector::from_vec(entries))
    }
}

impl From<Covector> for Vec<f64> {
    fn from(vector: Covector) -> Self {
        vector.0.data.into()
    }
}
