//! Linear complementarity problem, owned or borrowed, and its solution.

use crate::certificate::{Certificate, certify};
use crate::{Attempt, LcpError, LcpStatus, Limit, Proof};
use nalgebra::{DMatrix, DVector};

/// Largest dimension n of a linear complementarity problem with a dense matrix, which then takes 800 MB.
pub const MAX_DIM: usize = 10_000;

/// Linear complementarity problem: find $z \ge 0$ with $w = Mz + q \ge 0$ and $z^T w = 0$.
///
/// All entries are finite and the shapes agree. The empty problem is allowed; its solution is the empty vector.
///
/// # Examples
///
/// ```
/// use carom_lcp::{Lcp, LcpSolver, LcpStatus, Lemke};
/// use nalgebra::{dmatrix, dvector};
/// let lcp = Lcp::new(dmatrix![2.0, 1.0; 1.0, 2.0], dvector![-5.0, -6.0])?;
/// let solution = Lemke::default().solve(&lcp)?;
/// assert_eq!(solution.status, LcpStatus::Solved);
/// assert!((solution.z[0] - 4.0 / 3.0).abs() < 1e-15 && (solution.z[1] - 7.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), carom_lcp::LcpError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lcp {
    matrix: DMatrix<f64>,
    vector: DVector<f64>,
    matrix_max: f64,
    vector_max: f64,
}

impl Lcp {
    /// Creates a linear complementarity problem with the matrix $M$ (n × n) and the vector $q$ (n entries).
    ///
    /// # Errors
    ///
    /// [`LcpError::NotSquare`], [`LcpError::TooLarge`], [`LcpError::DimensionMismatch`],
    /// [`LcpError::NonFinite`].
    pub fn new(matrix: DMatrix<f64>, vector: DVector<f64>) -> Result<Self, LcpError> {
        let (rows, columns) = matrix.shape();
        if rows != columns {
            return Err(LcpError::NotSquare { rows, columns });
        }
        let view = LcpRef::new(matrix.as_slice(), vector.as_slice())?;
        let (matrix_max, vector_max) = (view.matrix_max, view.vector_max);
        Ok(Self {
            matrix,
            vector,
            matrix_max,
            vector_max,
        })
    }

    /// Creates a linear complementarity problem from the rows of the matrix $M$ (n rows of n entries) and the
    /// vector $q$ (n entries). Nothing is allocated before the shape is checked.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new); a short or long row is a [`LcpError::DimensionMismatch`].
    pub fn from_rows(rows: &[Vec<f64>], vector: Vec<f64>) -> Result<Self, LcpError> {
        let n = vector.len();
        check_dim(n)?;
        let mismatch = |what, found| LcpError::DimensionMismatch {
            what,
            expected: n,
            found,
        };
        if rows.len() != n {
            return Err(mismatch("matrix", rows.len()));
        }
        if let Some(row) = rows.iter().find(|row| row.len() != n) {
            return Err(mismatch("a row of the matrix", row.len()));
        }
        let matrix = DMatrix::from_row_iterator(n, n, rows.iter().flatten().copied());
        Self::new(matrix, DVector::from_vec(vector))
    }

    /// Returns the dimension n of the linear complementarity problem, its number of variables.
    pub fn dim(&self) -> usize {
        self.vector.len()
    }

    /// Returns the matrix $M$ (n × n) of the linear complementarity problem.
    pub fn matrix(&self) -> &DMatrix<f64> {
        &self.matrix
    }

    /// Returns the vector $q$ (n entries) of the linear complementarity problem.
    pub fn vector(&self) -> &DVector<f64> {
        &self.vector
    }

    /// Returns the linear complementarity problem as borrowed slices, for the methods that reuse a workspace.
    pub fn view(&self) -> LcpRef<'_> {
        LcpRef {
            matrix: self.matrix.as_slice(),
            vector: self.vector.as_slice(),
            matrix_max: self.matrix_max,
            vector_max: self.vector_max,
        }
    }

    /// Checks an answer `z` (n entries) to the linear complementarity problem. Returns its dimensionless
    /// residuals and the vector $w = Mz + q$.
    ///
    /// # Errors
    ///
    /// [`LcpError::DimensionMismatch`].
    pub fn certify(&self, z: &DVector<f64>) -> Result<(Certificate, DVector<f64>), LcpError> {
        let n = self.dim();
        if z.len() != n {
            return Err(LcpError::DimensionMismatch {
                what: "z",
                expected: n,
                found: z.len(),
            });
        }
        let mut w = DVector::zeros(n);
        let certificate = certify(self.view(), z.as_slice(), w.as_mut_slice());
        Ok((certificate, w))
    }
}

/// Linear complementarity problem that borrows its matrix $M$ and its vector $q$ from slices, so that nothing is
/// copied. The methods with a reusable workspace take the problem in this form.
#[derive(Clone, Copy, Debug)]
pub struct LcpRef<'a> {
    matrix: &'a [f64],
    vector: &'a [f64],
    /// Largest absolute entry of the matrix; `matrix_max` and `vector_max` are computed once.
    matrix_max: f64,
    vector_max: f64,
}

impl<'a> LcpRef<'a> {
    /// Creates a linear complementarity problem that borrows the matrix $M$ (n × n, column after column) and
    /// the vector $q$ (n entries).
    ///
    /// # Errors
    ///
    /// [`LcpError::TooLarge`], [`LcpError::DimensionMismatch`], [`LcpError::NonFinite`].
    pub fn new(matrix: &'a [f64], vector: &'a [f64]) -> Result<Self, LcpError> {
        let n = vector.len();
        check_dim(n)?;
        if matrix.len() != n * n {
            return Err(LcpError::DimensionMismatch {
                what: "matrix",
                expected: n * n,
                found: matrix.len(),
            });
        }
        Ok(Self {
            matrix_max: check_finite("matrix", matrix)?,
            vector_max: check_finite("vector", vector)?,
            matrix,
            vector,
        })
    }

    /// Returns the dimension n of the linear complementarity problem, its number of variables.
    #[inline]
    pub fn dim(&self) -> usize {
        self.vector.len()
    }

    /// Returns the matrix $M$ of the linear complementarity problem, column after column (n² entries).
    #[inline]
    pub fn matrix(&self) -> &'a [f64] {
        self.matrix
    }

    /// Returns the vector $q$ (n entries) of the linear complementarity problem.
    #[inline]
    pub fn vector(&self) -> &'a [f64] {
        self.vector
    }

    /// Returns the largest absolute entry of the matrix $M$ of the problem.
    #[inline]
    pub(crate) fn matrix_max(&self) -> f64 {
        self.matrix_max
    }

    /// Returns the largest absolute entry of the vector $q$ of the problem.
    #[inline]
    pub(crate) fn vector_max(&self) -> f64 {
        self.vector_max
    }

    /// Returns column `j` of the matrix $M$ of the problem; an empty slice beyond the last column.
    #[inline]
    pub(crate) fn column(&self, j: usize) -> &'a [f64] {
        let n = self.dim();
        self.matrix.get(j * n..(j + 1) * n).unwrap_or(&[])
    }
}

pub(crate) fn check_dim(n: usize) -> Result<(), LcpError> {
    if n > MAX_DIM {
        return Err(LcpError::TooLarge { n, max: MAX_DIM });
    }
    Ok(())
}

/// Returns the largest absolute entry of `values`, or an error if an entry is NaN or infinite. `what` names the
/// values in the error.
#[inline]
pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<f64, LcpError> {
    let (chunks, rest) = values.as_chunks::<8>();
    let (pairs, last) = rest.as_chunks::<2>();
    let parts = [scan(chunks), scan(pairs), scan(last.as_chunks::<1>().0)];
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let most = parts.iter().fold(0.0, |most, part| larger(most, part.0));
    let sum: f64 = parts.iter().map(|part| part.1).sum();
    // If the sum of magnitudes is finite, so are all entries. An infinite sum may also come from large entries.
    if sum.is_finite() {
        return Ok(most);
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(LcpError::NonFinite {
            what,
            index,
            value: values[index],
        }),
        None => Ok(most),
    }
}

/// Returns the largest absolute entry of all chunks and, second, the sum of the magnitudes of all entries.
#[inline]
fn scan<const N: usize>(chunks: &[[f64; N]]) -> (f64, f64) {
    let (mut most, mut sums) = ([0.0; N], [0.0; N]);
    for chunk in chunks {
        for k in 0..N {
            let size = chunk[k].abs();
            most[k] = if size > most[k] { size } else { most[k] };
            sums[k] += size;
        }
    }
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    (most.into_iter().fold(0.0, larger), sums.iter().sum())
}

/// Answer of a solver to a linear complementarity problem: the status, the variables $z$ and $w = Mz + q$, their
/// residuals, and the kind of proof on which the status rests.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct LcpSolution {
    /// Outcome of the attempt. Unless it is [`Solved`](LcpStatus::Solved), `z` is the best answer found.
    pub status: LcpStatus,
    /// Variables $z$ (n entries), nonnegative.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub z: DVector<f64>,
    /// $w = Mz + q$ (n entries), evaluated with the original problem.
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    pub w: DVector<f64>,
    /// Residuals of `z` in the original problem.
    pub certificate: Certificate,
    /// True if `z` is so large compared with the data that a small backward error does not prove a solution:
    /// with rows and columns scaled to largest entry one, its largest entry exceeds $10^4$ times that of $q$.
    pub is_heavy: bool,
    /// Kind of proof on which the status rests; `None` if there is no proof.
    pub proof: Option<Proof>,
    /// Vector $u$ of [`Proof::Farkas`] (n entries); empty for other outcomes.
    pub farkas: Vec<f64>,
    /// Budget that was exhausted, if the status is [`LcpStatus::IterationLimit`].
    pub limit: Option<Limit>,
    /// Attempt of Lemke's method that gave the answer; `None` for other methods.
    pub attempt: Option<Attempt>,
    /// Number of pivots or sweeps, including those of abandoned attempts.
    pub n_pivots: u64,
}
