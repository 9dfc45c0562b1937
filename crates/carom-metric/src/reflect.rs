//! Reset map and projections of momenta.

use crate::{Covector, KineticMetric, MetricError, UnitNormals};
use carom_numeric::kernel;
use nalgebra::{DMatrix, DVector};

/// Singular values below this fraction of the largest do not count towards the span.
const RANK_TOLERANCE: f64 = 1e-12;

impl KineticMetric {
    /// Reflects a momentum across a contact manifold.
    ///
    /// $$ p^+ = p^- - 2 \frac{\langle p^-, u\rangle}{\lVert u\rVert^2} u $$
    ///
    /// `p` is the pre-impact momentum and `u` $= \mathrm{D}\phi(q)$ the contact normal, both of
    /// length n; only the direction of `u` matters. Kinetic energy and every momentum component
    /// tangent to the contact manifold are kept.
    ///
    /// # Errors
    ///
    /// [`MetricError::ZeroNormal`], [`MetricError::DimensionMismatch`],
    /// [`MetricError::NonFinite`].
    ///
    /// # Examples
    ///
    /// Equal masses exchange their momenta:
    ///
    /// ```
    /// # use carom_metric::{Covector, KineticMetric};
    /// # use nalgebra::dmatrix;
    /// let metric = KineticMetric::new(dmatrix![2.0, 0.0; 0.0, 2.0])?;
    /// let normal = Covector::from_slice(&[-1.0, 1.0]);
    /// let p_plus = metric.reflect(&Covector::from_slice(&[3.0, 0.0]), &normal)?;
    /// assert!((p_plus.0[0] - 0.0).abs() < 1e-15 && (p_plus.0[1] - 3.0).abs() < 1e-15);
    /// # Ok::<(), carom_metric::MetricError>(())
    /// ```
    ///
    /// Seghete & Murphey, Eqs. (7)-(9).
    pub fn reflect(&self, p: &Covector, u: &Covector) -> Result<Covector, MetricError> {
        let unit = UnitNormals::new(self, std::iter::once(u))?;
        let z = self.whiten(p)?;
        let along = kernel::dot(z.as_slice(), unit.column(0));
        // The unit covector first: a small momentum over a long normal would underflow.
        Ok(Covector(&p.0 - &u.0 / unit.norm(0) * (2.0 * along)))
    }

    /// The reset map $\Gamma(u) = I - 2 M^{-1}u^T u/\langle u,u\rangle$ (n × n).
    ///
    /// It acts on momenta written as rows, $p^+ = p^-\Gamma(u)$, and is its own inverse.
    ///
    /// # Errors
    ///
    /// The errors of [`reflect`](Self::reflect). Seghete & Murphey, Eq. (8).
    pub fn reset_map(&self, u: &Covector) -> Result<DMatrix<f64>, MetricError> {
        let unit = UnitNormals::new(self, std::iter::once(u))?;
        let mut velocity = DVector::from_column_slice(unit.column(0));
        self.unwhiten_velocity_in_place(velocity.as_mut_slice());
        let n = self.dim();
        Ok(DMatrix::identity(n, n) - velocity * u.0.transpose() * (2.0 / unit.norm(0)))
    }

    /// Orthogonal projection of a momentum onto the span of contact normals.
    ///
    /// Dependent normals are allowed; no normals give zero.
    ///
    /// # Errors
    ///
    /// The errors of [`reflect`](Self::reflect).
    pub fn project_onto_span(
        &self,
        p: &Covector,
        normals: &[Covector],
    ) -> Result<Covector, MetricError> {
        let units = UnitNormals::new(self, normals.iter())?;
        let z = self.whiten(p)?;
        let basis = orthonormal_span(units.columns());
        let inside = &basis * basis.tr_mul(&z);
        Ok(Covector(self.unwhiten_covector(&inside)))
    }

    /// Orthogonal projection of a momentum onto the null space of contact normals: the part that
    /// no frictionless impact on these contacts can change (Seghete & Murphey, Lemma 2).
    ///
    /// # Errors
    ///
    /// The errors of [`reflect`](Self::reflect).
    pub fn project_onto_null(
        &self,
        p: &Covector,
        normals: &[Covector],
    ) -> Result<Covector, MetricError> {
        Ok(Covector(&p.0 - self.project_onto_span(p, normals)?.0))
    }

    /// Covector $L z$ of whitened coordinates.
    fn unwhiten_covector(&self, z: &DVector<f64>) -> DVector<f64> {
        let mut velocity = z.clone();
        self.unwhiten_velocity_in_place(velocity.as_mut_slice());
        self.mass_matrix() * velocity
    }
}

/// Orthonormal basis (n × rank) of the column space.
pub fn orthonormal_span(columns: &DMatrix<f64>) -> DMatrix<f64> {
    if columns.ncols() == 0 {
        return DMatrix::zeros(columns.nrows(), 0);
    }
    let svd = columns.clone().svd(true, false);
    let largest = svd.singular_values.max();
    let rank = svd
        .singular_values
        .iter()
        .filter(|s| **s > RANK_TOLERANCE * largest)
        .count();
    match svd.u {
        Some(u) => u.columns(0, rank.min(u.ncols())).into_owned(),
        None => DMatrix::zeros(columns.nrows(), 0),
    }
}
