//! Reset map and projections of momenta.

use crate::{Covector, KineticMetric, MetricError, UnitNormals};
use carom_numeric::kernel;
use carom_numeric::svd::Svd;
use nalgebra::{DMatrix, DVector};

impl KineticMetric {
    /// Reflects a momentum across a contact manifold: computes the momentum after an elastic frictionless impact.
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
        // The unit covector is formed first: a small momentum times a long normal would underflow.
        Ok(Covector(&p.0 - &u.0 / unit.norm(0) * (2.0 * along)))
    }

    /// Computes the matrix that maps a momentum before an elastic frictionless impact to the momentum after the impact,
    /// $\Gamma(u) = I - 2 M^{-1}u^T u/\langle u,u\rangle$ (n × n). $u$ is the contact normal (the gap gradient, a row), $M$ the
    /// mass matrix and $\langle u,u\rangle = uM^{-1}u^T$.
    ///
    /// The matrix applies to momenta written as rows, $p^+ = p^-\Gamma(u)$, and is its own inverse.
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

    /// Projects the momentum `p` orthogonally, in the kinetic metric, onto the span of the contact normals (gap gradients)
    /// `normals`.
    ///
    /// Linearly dependent normals are allowed; an empty list gives zero.
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

    /// Projects the momentum `p` orthogonally, in the kinetic metric, onto the complement of the span of the contact normals (gap
    /// gradients) `normals`. No frictionless impact at these contacts can change the result (Seghete & Murphey, Lemma 2).
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

    /// Converts whitened coordinates $z$ back to a covector: computes $Lz$ with the Cholesky factor $L$ of the mass
    /// matrix.
    fn unwhiten_covector(&self, z: &DVector<f64>) -> DVector<f64> {
        let mut velocity = z.clone();
        self.unwhiten_velocity_in_place(velocity.as_mut_slice());
        self.mass_matrix() * velocity
    }
}

/// Computes an orthonormal basis of the span of the columns of a matrix with n rows. The basis vectors are the columns of the
/// result (n × rank).
///
/// Singular values below $10^{-12}$ of the largest count as zero. They are computed by one-sided Jacobi rotations. The
/// bidiagonalizing decomposition of nalgebra has errors of up to a tenth for some matrices of six unit columns, one of which
/// depends linearly on the others.
pub fn orthonormal_span(columns: &DMatrix<f64>) -> DMatrix<f64> {
    let n = columns.nrows();
    let svd = Svd::new(columns.as_slice(), n);
    let least = svd.cutoff();
    let sizes = svd.singular_values().iter().enumerate();
    let kept = sizes.filter(|(_, size)| **size > least);
    let basis: Vec<f64> = kept
        .flat_map(|(index, _)| svd.left(index).iter().copied())
        .collect();
    DMatrix::from_vec(n, basis.len().checked_div(n).unwrap_or(0), basis)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six unit columns, the last in the span of the others: what is orthogonal to the basis sees no column.
    #[test]
    fn the_span_holds_every_column() {
        let mut columns = DMatrix::from_column_slice(
            6,
            6,
            &[
                -0.7435586019699507,
                0.43930407081518325,
                -0.5041156006331301,
                -0.05616511843562391,
                0.05940012357531743,
                0.134605580449818,
                -0.10545167107656228,
                0.6674342870970429,
                0.7371644439841246,
                0.5186497825366412,
                0.31064300641226655,
                -0.20706547704538505,
                -0.6603033776255075,
                -0.60128479589332,
                0.4499511570424898,
                -0.01958255820985494,
                0.38821621836157305,
                0.4900489238450332,
                0.24102614918677556,
                -0.940223858195428,
                0.24059403959428827,
                0.7733613014182634,
                0.3219291559530164,
                0.48332525968189477,
                -0.5200484871578734,
                -0.334429407124663,
                -0.7859430912318357,
                0.7396855469974921,
                -0.7953070205952913,
                -0.1510265763934441,
                0.8194241675792834,
                0.06431227044934884,
                -0.5695682272183451,
                0.24196510320582998,
                0.5708306896876013,
                0.4125642192529967,
            ],
        );
        columns
            .column_iter_mut()
            .for_each(|mut column| _ = column.normalize_mut());
        let span = orthonormal_span(&columns);
        assert_eq!(span.shape(), (6, 5));
        let left = &columns - &span * span.tr_mul(&columns);
        assert!(left.amax() <= 1e-15, "{:e}", left.amax());
    }

    #[test]
    fn no_columns_and_zero_columns_span_nothing() {
        for columns in [DMatrix::zeros(3, 0), DMatrix::zeros(3, 2)] {
            assert_eq!(orthonormal_span(&columns).shape(), (3, 0));
        }
    }
}
