//! Unit normals in whitened coordinates, their Gram matrix, and the angles between them.

use crate::{Covector, KineticMetric, MetricError};
use carom_numeric::kernel;
use nalgebra::DMatrix;
use smallvec::SmallVec;

/// Norm of the part of a unit normal orthogonal to the removed directions, below which the normal lies in their span.
const DEPENDENT_NORMAL: f64 = 1e-10;

/// Norm below which a gradient counts as zero.
const ZERO_NORMAL: f64 = 1e-300;

/// Gap gradients of contacts, normalized to unit length in the kinetic metric:
/// $u_i = D\phi_i/\lVert D\phi_i\rVert$ with the gap $\phi_i$ of contact i. They are stored in whitened
/// coordinates.
///
/// The whitened column of a normal is $y_i = L^{-1}u_i$ with the Cholesky factor $L$ of the mass matrix, so
/// that $\langle u_i, u_j\rangle = y_i \cdot y_j$. The columns are kept because they determine small angles
/// accurately: for two nearly opposite normals the Gram matrix loses half the digits of the angle.
#[derive(Clone, Debug)]
pub struct UnitNormals {
    columns: DMatrix<f64>,
    norms: SmallVec<[f64; 8]>,
}

impl UnitNormals {
    /// Normalizes covectors, such as the gap gradients of contacts, to unit length in the kinetic metric. Each
    /// has n entries, the dimension of the metric; an empty list is allowed.
    ///
    /// # Errors
    ///
    /// [`MetricError::DimensionMismatch`], [`MetricError::NonFinite`], and [`MetricError::ZeroNormal`] with the index
    /// of the zero covector.
    pub fn new<'a>(
        metric: &KineticMetric,
        covectors: impl ExactSizeIterator<Item = &'a Covector>,
    ) -> Result<Self, MetricError> {
        Self::new_or_zero(metric, covectors, |_| false)
    }

    /// Normalizes covectors to unit length in the kinetic metric, some of which may be zero. `may_be_zero` receives the index of
    /// a covector and returns true if this covector is allowed to be zero. A zero covector stays zero, and [`norm`](Self::norm)
    /// returns 1 for it.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn new_or_zero<'a>(
        metric: &KineticMetric,
        covectors: impl ExactSizeIterator<Item = &'a Covector>,
        may_be_zero: impl Fn(usize) -> bool,
    ) -> Result<Self, MetricError> {
        let n = metric.dim();
        let count = covectors.len();
        let mut columns = Vec::with_capacity(n * count);
        for covector in covectors {
            let entries = covector.0.as_slice();
            metric.check_vector("normal", entries)?;
            columns.extend_from_slice(entries);
        }
        let mut columns = DMatrix::from_vec(n, count, columns);
        let mut norms = SmallVec::with_capacity(count);
        metric.whiten_columns(&mut columns);
        for (index, column) in columns.as_mut_slice().chunks_exact_mut(n).enumerate() {
            let norm = kernel::norm(column);
            if norm == 0.0 && may_be_zero(index) {
                norms.push(1.0);
                continue;
            }
            if !norm.is_finite() || norm <= ZERO_NORMAL {
                return Err(MetricError::ZeroNormal { index });
            }
            column.iter_mut().for_each(|x| *x /= norm);
            norms.push(norm);
        }
        Ok(Self { columns, norms })
    }

    /// Returns the number of unit normals.
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    /// True if there are no normals.
    pub fn is_empty(&self) -> bool {
        self.norms.is_empty()
    }

    /// Returns unit normal `i` in whitened coordinates (n entries), in which the kinetic metric is Euclidean.
    #[inline]
    pub fn column(&self, i: usize) -> &[f64] {
        let n = self.columns.nrows();
        &self.columns.as_slice()[i * n..(i + 1) * n]
    }

    /// Returns all unit normals in whitened coordinates, in which the kinetic metric is Euclidean, as columns
    /// of a matrix (n × number of normals).
    pub fn columns(&self) -> &DMatrix<f64> {
        &self.columns
    }

    /// Returns the kinetic norm of covector `i` before its normalization.
    #[inline]
    pub fn norm(&self, i: usize) -> f64 {
        self.norms[i]
    }

    /// Projects every unit normal onto the orthogonal complement of given directions, and normalizes it again.
    /// `directions` are orthonormal columns in whitened coordinates (n × m). [`norm`](Self::norm) then returns
    /// the norm of the projected covector.
    ///
    /// # Errors
    ///
    /// [`MetricError::ZeroNormal`] if a normal lies in the span of the directions.
    pub fn deflate(&mut self, directions: &DMatrix<f64>) -> Result<(), MetricError> {
        let n = self.columns.nrows();
        for (index, column) in self.columns.as_mut_slice().chunks_exact_mut(n).enumerate() {
            if column.iter().all(|x| *x == 0.0) {
                continue;
            }
            // Two passes are enough: the second removes the rounding error of the first.
            for _ in 0..2 {
                for direction in directions.column_iter() {
                    let direction = direction.as_slice();
                    let along = kernel::dot(direction, column);
                    kernel::add_scaled(column, -along, direction);
                }
            }
            let left = kernel::norm(column);
            if left < DEPENDENT_NORMAL {
                return Err(MetricError::ZeroNormal { index });
            }
            column.iter_mut().for_each(|x| *x /= left);
            self.norms[index] *= left;
        }
        Ok(())
    }

    /// Computes the Gram matrix of the unit normals: the inner products $\langle u_i, u_j\rangle$ of all pairs
    /// in the kinetic metric (square, one row per normal, 1 on the diagonal).
    pub fn gram(&self) -> DMatrix<f64> {
        let m = self.len();
        let mut gram = DMatrix::identity(m, m);
        for j in 0..m {
            for i in j + 1..m {
                let c = self.cosine(i, j);
                gram[(i, j)] = c;
                gram[(j, i)] = c;
            }
        }
        gram
    }

    /// Computes the cosine of the angle between unit normals `i` and `j` in the kinetic metric,
    /// $c = \langle u_i, u_j\rangle$ in $[-1, 1]$. The absolute error is about one unit in the last place of 1.
    pub fn cosine(&self, i: usize, j: usize) -> f64 {
        kernel::dot(self.column(i), self.column(j)).clamp(-1.0, 1.0)
    }

    /// Returns the feasible wedge of contacts `i` and `j`: the set of momenta with which neither contact
    /// approaches.
    pub fn wedge(&self, i: usize, j: usize) -> Wedge {
        let (u, v) = (self.column(i), self.column(j));
        let (mut sum, mut difference) = (0.0, 0.0);
        for (u, v) in u.iter().zip(v) {
            sum += (u + v) * (u + v);
            difference += (u - v) * (u - v);
        }
        Wedge {
            sin: 0.5 * sum.sqrt(),
            cos: 0.5 * difference.sqrt(),
        }
    }
}

/// Feasible wedge of two contacts with unit normals $u$ and $v$: the momenta $p$ with
/// $\langle p,u\rangle \ge 0$ and $\langle p,v\rangle \ge 0$ in the kinetic inner product, with which neither
/// contact approaches.
///
/// The half angle $\gamma \in [0, \pi/2]$ of the wedge satisfies $\sin\gamma = \lVert u+v\rVert/2$,
/// $\cos\gamma = \lVert u-v\rVert/2$ and $c = -\cos 2\gamma$ with $c = \langle u,v\rangle$. Sine and cosine are
/// stored, so that the angle is accurate to the last digits also for nearly opposite ($\gamma \to 0$) and
/// nearly equal ($\gamma \to \pi/2$) normals, for which $\arccos c$ is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wedge {
    /// Sine of the half angle, $\sin\gamma$.
    pub sin: f64,
    /// Cosine of the half angle, $\cos\gamma$.
    pub cos: f64,
}

impl Wedge {
    /// Returns half the opening angle $\gamma$ of the wedge, in radians.
    pub fn half_angle(&self) -> f64 {
        libm::atan2(self.sin, self.cos)
    }
}
