//! Mass matrix as an inner product.

use crate::{Covector, MetricError, Tangent};
use carom_numeric::{dense, kernel};
use nalgebra::{DMatrix, DVector};
use smallvec::SmallVec;
use std::sync::Arc;

/// Smallest dimension of a mass matrix at which, with the feature `faer`, factorizations and the whitening of
/// many columns ($L^{-1}A$ with the Cholesky factor $L$) use the library faer. For smaller matrices, and
/// without the feature, they use plain loops over columns.
///
/// The two methods differ only by rounding. For dimension 128 the loop takes about 1.8 times as long; building faer
/// takes two minutes of processor time.
///
/// `cargo bench -p carom-benches --features bench --bench metric` prints the measurements behind this value.
pub const FAER_MIN_DIM: usize = 48;

/// Largest accepted difference of two mirror entries, as a fraction of the largest entry.
const SYMMETRY_TOLERANCE: f64 = 1e-12;

/// Kinetic-energy metric of a mechanical system at one configuration, given by the mass matrix.
///
/// The mass matrix $M$ (n × n, symmetric positive definite) maps velocities to momenta, [`flat`](Self::flat) $p = Mv$,
/// with the inverse [`sharp`](Self::sharp), and defines the inner product of covectors
/// $\langle a, b\rangle = a M^{-1} b^T$. The matrix is factored once, $M = LL^T$, and never inverted.
///
/// *Whitened* coordinates are those in which the metric is Euclidean: $L^{-1}a$ for a covector
/// and $L^T v$ for a velocity. A momentum and its velocity have the same whitened coordinates.
///
/// # Accuracy
///
/// Every operation is backward stable: the result is exact for a mass matrix that differs from
/// the given one by a few units in the last place, so relative errors are at most about
/// $\mathrm{cond}(M) 2^{-52}$.
#[derive(Clone, Debug)]
pub struct KineticMetric {
    mass: DMatrix<f64>,
    /// Cholesky factor in the lower triangle; entries above the diagonal are not used.
    lower: DMatrix<f64>,
    /// One number per column of the factor: the row after its last nonzero entry. Bodies without a coupling have blocks on the
    /// diagonal, and zeros below them.
    reach: SmallVec<[usize; 8]>,
}

/// Copies the metric and its factor. A value or an `Arc` of its own is taken without a copy.
impl From<&KineticMetric> for Arc<KineticMetric> {
    fn from(metric: &KineticMetric) -> Self {
        Self::new(metric.clone())
    }
}

impl KineticMetric {
    /// Creates the kinetic metric: checks and factors a mass matrix (n × n, in the units of the caller's
    /// coordinates).
    ///
    /// # Errors
    ///
    /// [`MetricError::Empty`], [`MetricError::NotSquare`], [`MetricError::NonFinite`], [`MetricError::NotSymmetric`]
    /// (by more than rounding), and [`MetricError::NotPositiveDefinite`], also if a pivot is smaller than its rounding
    /// error.
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_metric::{KineticMetric, MetricError};
    /// use nalgebra::dmatrix;
    /// assert!(KineticMetric::new(dmatrix![2.0, 0.3; 0.3, 1.0]).is_ok());
    /// let singular = KineticMetric::new(dmatrix![1.0, 1.0; 1.0, 1.0]);
    /// assert_eq!(singular.unwrap_err(), MetricError::NotPositiveDefinite { size: 2 });
    /// ```
    pub fn new(mut mass: DMatrix<f64>) -> Result<Self, MetricError> {
        validate(&mass)?;
        symmetrize(&mut mass)?;
        let lower = factor(&mass).map_err(|size| MetricError::NotPositiveDefinite { size })?;
        let columns = lower.as_slice().chunks_exact(lower.nrows());
        let reach =
            columns.map(|column| column.iter().rposition(|x| *x != 0.0).map_or(0, |k| k + 1));
        let reach = reach.collect();
        Ok(Self { mass, lower, reach })
    }

    /// Returns the dimension n of the configuration space, the number of rows of the mass matrix.
    #[inline]
    pub fn dim(&self) -> usize {
        self.mass.nrows()
    }

    /// Returns the mass matrix $M$ (n × n) of this metric.
    pub fn mass_matrix(&self) -> &DMatrix<f64> {
        &self.mass
    }

    /// Computes the momentum $p = M v$ of a velocity, with the mass matrix $M$.
    ///
    /// # Errors
    ///
    /// [`MetricError::DimensionMismatch`].
    pub fn flat(&self, velocity: &Tangent) -> Result<Covector, MetricError> {
        self.check("velocity", velocity.0.len())?;
        Ok(Covector(&self.mass * &velocity.0))
    }

    /// Computes the velocity $v = M^{-1} p$ of a momentum by two triangular solves, with the mass matrix $M$.
    ///
    /// # Errors
    ///
    /// [`MetricError::DimensionMismatch`].
    pub fn sharp(&self, momentum: &Covector) -> Result<Tangent, MetricError> {
        let mut x = self.whiten(momentum)?;
        self.unwhiten_velocity_in_place(x.as_mut_slice());
        Ok(Tangent(x))
    }

    /// Computes the inner product $\langle a, b\rangle = a M^{-1} b^T$ of two covectors (row vectors such as
    /// momenta or gap gradients), with the mass matrix $M$.
    ///
    /// # Errors
    ///
    /// [`MetricError::DimensionMismatch`].
    pub fn inner(&self, a: &Covector, b: &Covector) -> Result<f64, MetricError> {
        Ok(kernel::dot(
            self.whiten(a)?.as_slice(),
            self.whiten(b)?.as_slice(),
        ))
    }

    /// Computes the kinetic norm $\lVert a\rVert = \sqrt{a M^{-1} a^T}$ of a covector, with the mass matrix
    /// $M$.
    ///
    /// # Errors
    ///
    /// [`MetricError::DimensionMismatch`].
    pub fn norm(&self, a: &Covector) -> Result<f64, MetricError> {
        Ok(kernel::norm(self.whiten(a)?.as_slice()))
    }

    /// Computes the kinetic energy $\tfrac12 v^T M v$ of a velocity, in joules for SI input, with the mass
    /// matrix $M$.
    ///
    /// # Errors
    ///
    /// [`MetricError::DimensionMismatch`].
    pub fn energy(&self, velocity: &Tangent) -> Result<f64, MetricError> {
        let norm = kernel::norm(self.whiten_velocity(velocity)?.as_slice());
        Ok(0.5 * norm * norm)
    }

    /// Converts a covector to whitened coordinates $L^{-1} a$, in which the metric is Euclidean. $L$ is the
    /// Cholesky factor of the mass matrix, $M = LL^T$.
    ///
    /// # Errors
    ///
    /// [`MetricError::DimensionMismatch`].
    pub fn whiten(&self, a: &Covector) -> Result<DVector<f64>, MetricError> {
        self.check("covector", a.0.len())?;
        let mut x = a.0.clone();
        self.whiten_in_place(x.as_mut_slice());
        Ok(x)
    }

    /// Converts a velocity to whitened coordinates $L^T v$, in which the metric is Euclidean. $L$ is the
    /// Cholesky factor of the mass matrix, $M = LL^T$.
    ///
    /// # Errors
    ///
    /// [`MetricError::DimensionMismatch`].
    pub fn whiten_velocity(&self, velocity: &Tangent) -> Result<DVector<f64>, MetricError> {
        self.check("velocity", velocity.0.len())?;
        let mut z = DVector::zeros(self.dim());
        self.whiten_velocity_into(velocity.0.as_slice(), z.as_mut_slice());
        Ok(z)
    }

    /// Replaces a covector (n entries) by its whitened coordinates, $a \leftarrow L^{-1}a$, with the Cholesky
    /// factor $L$ of the mass matrix, $M = LL^T$.
    ///
    /// Entries beyond [`dim`](Self::dim) do not change. A slice with fewer entries does not change at all.
    pub fn whiten_in_place(&self, a: &mut [f64]) {
        let Some(a) = a.get_mut(..self.dim()) else {
            return;
        };
        for j in 0..a.len() {
            dense::whiten_column(self.column(j), &mut a[j..]);
        }
    }

    /// Writes the whitened coordinates $L^T v$ of a velocity (n entries) to `out`, with the Cholesky factor $L$
    /// of the mass matrix, $M = LL^T$.
    pub fn whiten_velocity_into(&self, velocity: &[f64], out: &mut [f64]) {
        for (j, out) in out.iter_mut().enumerate().take(self.dim()) {
            *out = kernel::dot(self.column(j), &velocity[j.min(velocity.len())..]);
        }
    }

    /// Converts whitened coordinates (n entries) back to a velocity, $z \leftarrow L^{-T}z$, with the Cholesky
    /// factor $L$ of the mass matrix, $M = LL^T$.
    ///
    /// Entries beyond [`dim`](Self::dim) do not change. A slice with fewer entries does not change at all.
    pub fn unwhiten_velocity_in_place(&self, z: &mut [f64]) {
        let Some(z) = z.get_mut(..self.dim()) else {
            return;
        };
        for j in (0..z.len()).rev() {
            dense::unwhiten_column(self.column(j), &mut z[j..]);
        }
    }

    /// Converts whitened coordinates (n entries) back to a covector, $z \leftarrow Lz$, with the Cholesky
    /// factor $L$ of the mass matrix, $M = LL^T$.
    ///
    /// Entries beyond [`dim`](Self::dim) do not change. A slice with fewer entries does not change at all.
    pub fn unwhiten_in_place(&self, z: &mut [f64]) {
        let Some(z) = z.get_mut(..self.dim()) else {
            return;
        };
        for j in (0..self.dim()).rev() {
            let (to, rest) = z[j..].split_at_mut(1);
            let column = self.column(j);
            kernel::add_scaled(rest, to[0], &column[1..]);
            to[0] *= column[0];
        }
    }

    /// Converts the rows of a k × n matrix from whitened coordinates back to covectors, $Z \leftarrow ZL^T$, with the Cholesky
    /// factor $L$ of the mass matrix, $M = LL^T$. If the rows are derivatives with respect to a whitened velocity, the results
    /// are derivatives with respect to the velocity.
    ///
    /// Columns beyond [`dim`](Self::dim) do not change.
    pub fn unwhiten_rows(&self, rows: &mut DMatrix<f64>) {
        let k = rows.nrows();
        for j in (0..self.dim().min(rows.ncols())).rev() {
            let (before, from) = rows.as_mut_slice().split_at_mut(j * k);
            let column = &mut from[..k];
            let diagonal = self.column(j)[0];
            column.iter_mut().for_each(|x| *x *= diagonal);
            for i in (0..j).filter(|i| self.reach[*i] > j) {
                kernel::add_scaled(column, self.lower[(j, i)], &before[i * k..(i + 1) * k]);
            }
        }
    }

    /// Replaces each column of an n × k matrix of covectors by its whitened coordinates $L^{-1}g$, with the Cholesky
    /// factor $L$ of the mass matrix.
    pub(crate) fn whiten_columns(&self, columns: &mut DMatrix<f64>) {
        let n = self.dim();
        #[cfg(feature = "faer")]
        if n >= FAER_MIN_DIM {
            self.whiten_many(columns);
            return;
        }
        columns
            .as_mut_slice()
            .chunks_exact_mut(n)
            .for_each(|column| self.whiten_in_place(column));
    }

    #[cfg(feature = "faer")]
    fn whiten_many(&self, columns: &mut DMatrix<f64>) {
        let (n, k) = (self.dim(), columns.ncols());
        faer::linalg::triangular_solve::solve_lower_triangular_in_place(
            faer::MatRef::from_column_major_slice(self.lower.as_slice(), n, n),
            faer::MatMut::from_column_major_slice_mut(columns.as_mut_slice(), n, k),
            faer::Par::Seq,
        );
    }

    /// Checks that a vector has n entries, the dimension of the metric, and that all entries are finite. `what` names the vector
    /// in error messages.
    ///
    /// # Errors
    ///
    /// [`MetricError::DimensionMismatch`], [`MetricError::NonFinite`].
    pub fn check_vector(&self, what: &'static str, entries: &[f64]) -> Result<(), MetricError> {
        self.check(what, entries.len())?;
        check_finite(what, entries)
    }

    fn check(&self, what: &'static str, found: usize) -> Result<(), MetricError> {
        let expected = self.dim();
        if found == expected {
            Ok(())
        } else {
            Err(MetricError::DimensionMismatch {
                what,
                expected,
                found,
            })
        }
    }

    /// Returns column `j` of the Cholesky factor $L$ of the mass matrix, from the diagonal down to its last nonzero
    /// entry.
    #[inline]
    fn column(&self, j: usize) -> &[f64] {
        let first = j * self.dim();
        &self.lower.as_slice()[first + j..first + self.reach[j]]
    }
}

fn check_finite(what: &'static str, entries: &[f64]) -> Result<(), MetricError> {
    if kernel::is_finite(entries) {
        return Ok(());
    }
    let index = entries.iter().position(|x| !x.is_finite()).unwrap_or(0);
    let value = entries[index];
    Err(MetricError::NonFinite { what, index, value })
}

fn validate(mass: &DMatrix<f64>) -> Result<(), MetricError> {
    let (rows, columns) = mass.shape();
    if rows != columns {
        return Err(MetricError::NotSquare { rows, columns });
    }
    if rows == 0 {
        return Err(MetricError::Empty);
    }
    check_finite("mass matrix", mass.as_slice())
}

/// Replaces a square matrix by its symmetric part. Returns an error if the matrix differs from its transpose by more
/// than rounding.
fn symmetrize(mass: &mut DMatrix<f64>) -> Result<(), MetricError> {
    // Once for all entries: their means are not larger.
    let mut largest = None;
    for column in 0..mass.ncols() {
        for row in column + 1..mass.nrows() {
            let (a, b) = (mass[(row, column)], mass[(column, row)]);
            if a == b {
                continue;
            }
            let difference = (a - b).abs();
            let scale = *largest.get_or_insert_with(|| kernel::max_abs(mass.as_slice()));
            if difference > SYMMETRY_TOLERANCE * scale {
                return Err(MetricError::NotSymmetric {
                    row,
                    column,
                    difference,
                });
            }
            let mean = 0.5 * a + 0.5 * b;
            mass[(row, column)] = mean;
            mass[(column, row)] = mean;
        }
    }
    Ok(())
}

/// Computes the Cholesky factor of the mass matrix. If the matrix is not positive definite to working precision, the error is the
/// size of its smallest leading block that is not.
#[cfg(feature = "faer")]
fn factor(mass: &DMatrix<f64>) -> Result<DMatrix<f64>, usize> {
    let n = mass.nrows();
    if n < FAER_MIN_DIM {
        return factor_small(mass);
    }
    let view = faer::MatRef::from_column_major_slice(mass.as_slice(), n, n);
    // The loop is slower but finds the block at which the factorization fails.
    let Ok(llt) = faer::linalg::solvers::Llt::new(view, faer::Side::Lower) else {
        return factor_small(mass).and(Err(n));
    };
    let l = llt.L();
    let lower = DMatrix::from_fn(n, n, |i, j| if i >= j { l[(i, j)] } else { 0.0 });
    let is_lost =
        |i: &usize| !dense::is_regular(lower[(*i, *i)] * lower[(*i, *i)], mass[(*i, *i)], n);
    match (0..n).find(is_lost) {
        Some(i) => Err(i + 1),
        None => Ok(lower),
    }
}

#[cfg(not(feature = "faer"))]
use factor_small as factor;

/// Computes the Cholesky factor of a small mass matrix, column by column. For the matrices of mechanisms this loop is faster than
/// a library function. The entries above the diagonal of the result are those of the input. The error is the size of the smallest
/// leading block that is not positive definite.
fn factor_small(mass: &DMatrix<f64>) -> Result<DMatrix<f64>, usize> {
    let mut lower = mass.clone();
    dense::cholesky(lower.as_mut_slice(), mass.nrows())?;
    Ok(lower)
}

#[cfg(all(test, feature = "faer"))]
mod tests {
    use super::*;

    /// Creates a dense symmetric mass matrix (n × n) with eigenvalues between 1 and about n.
    fn dense_mass(n: usize) -> DMatrix<f64> {
        let entry = |i: usize, j: usize| {
            let position = (i * n + j) as u64;
            carom_numeric::random::uniform(7, position, -1.0, 1.0)
        };
        let a = DMatrix::from_fn(n, n, entry);
        &a * a.transpose() / n as f64 + DMatrix::identity(n, n)
    }

    #[test]
    fn the_loop_and_faer_agree_to_rounding() {
        for n in [FAER_MIN_DIM, 65, 128] {
            let mass = dense_mass(n);
            let fast = factor(&mass).map(|l| l.lower_triangle());
            let slow = factor_small(&mass).map(|l| l.lower_triangle());
            let (Ok(fast), Ok(slow)) = (fast, slow) else {
                panic!("a positive definite matrix was refused");
            };
            assert!((fast - slow).amax() <= 1e-14 * mass.amax(), "{n}");
        }
    }

    #[test]
    fn faer_says_where_a_matrix_is_singular_as_the_loop_does() {
        let n = 60;
        let mut mass = DMatrix::identity(n, n);
        mass[(50, 50)] = 0.0;
        assert_eq!(factor(&mass).err(), Some(51));
        assert_eq!(factor_small(&mass).err(), Some(51));
    }
}
