//! Velocities and momenta as distinct types.

use nalgebra::DVector;

/// Tangent vector: a generalized velocity $v = \dot q$ (n entries).
///
/// # Examples
///
/// The momentum $p = Mv$ of two masses:
///
/// ```
/// use carom_metric::{KineticMetric, Tangent};
/// use nalgebra::dmatrix;
/// let metric = KineticMetric::new(dmatrix![2.0, 0.0; 0.0, 3.0])?;
/// let momentum = metric.flat(&Tangent::from_slice(&[1.0, -1.0]))?;
/// assert_eq!(momentum.0.as_slice(), [2.0, -3.0]);
/// # Ok::<(), carom_metric::MetricError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<f64>", into = "Vec<f64>"))]
pub struct Tangent(pub DVector<f64>);

/// Covector: a generalized momentum $p = M v$, or the gradient of a gap function (n entries).
///
/// # Examples
///
/// Equal momenta give the heavier mass a smaller velocity, $v = M^{-1}p$:
///
/// ```
/// use carom_metric::{Covector, KineticMetric};
/// use nalgebra::{dmatrix, dvector};
/// let metric = KineticMetric::new(dmatrix![2.0, 0.0; 0.0, 4.0])?;
/// let velocity = metric.sharp(&Covector::from_slice(&[2.0, 2.0]))?;
/// assert!((velocity.0 - dvector![1.0, 0.5]).amax() < 1e-15);
/// # Ok::<(), carom_metric::MetricError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<f64>", into = "Vec<f64>"))]
pub struct Covector(pub DVector<f64>);

impl Tangent {
    /// Creates a tangent vector (generalized velocity) with the given entries.
    pub fn from_slice(entries: &[f64]) -> Self {
        Self(DVector::from_column_slice(entries))
    }
}

impl Covector {
    /// Creates a covector (generalized momentum or gap gradient) with the given entries.
    pub fn from_slice(entries: &[f64]) -> Self {
        Self(DVector::from_column_slice(entries))
    }
}

impl From<DVector<f64>> for Tangent {
    fn from(entries: DVector<f64>) -> Self {
        Self(entries)
    }
}

impl From<Tangent> for DVector<f64> {
    fn from(vector: Tangent) -> Self {
        vector.0
    }
}

impl From<DVector<f64>> for Covector {
    fn from(entries: DVector<f64>) -> Self {
        Self(entries)
    }
}

impl From<Covector> for DVector<f64> {
    fn from(vector: Covector) -> Self {
        vector.0
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
