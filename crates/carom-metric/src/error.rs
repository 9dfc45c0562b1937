//! Errors of mass matrices, vectors and normals.

/// Reason why a kinetic-energy metric could not be created from a mass matrix, or could not be applied to a
/// vector.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// The mass matrix is empty: a mechanical system has at least one degree of freedom.
    #[error("mass matrix is empty: give at least one row")]
    Empty,
    /// The mass matrix is not square.
    #[error("mass matrix has {rows} rows and {columns} columns: it must be square")]
    NotSquare {
        /// Number of rows given.
        rows: usize,
        /// Number of columns given.
        columns: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} has the non-finite entry {value} at index {index}")]
    NonFinite {
        /// Name of the quantity, chosen by the caller.
        what: &'static str,
        /// Index of the entry (column-major for a matrix).
        index: usize,
        /// Value of the entry: NaN or an infinity.
        value: f64,
    },
    /// The mass matrix differs from its transpose by more than rounding.
    #[error(
        "mass matrix is not symmetric: entry ({row}, {column}) differs from its mirror by {difference:e}"
    )]
    NotSymmetric {
        /// Row of the entry with the largest difference.
        row: usize,
        /// Column of the entry with the largest difference.
        column: usize,
        /// Absolute difference between this entry and its mirror.
        difference: f64,
    },
    /// The mass matrix is not positive definite: the Cholesky factorization met a pivot that is not positive to
    /// working precision.
    #[error(
        "mass matrix is not positive definite: the leading block of size {size} is singular or indefinite"
    )]
    NotPositiveDefinite {
        /// Size of the smallest leading block that is not positive definite.
        size: usize,
    },
    /// The dimension of a vector differs from that of the metric, which is the number of rows of the mass matrix.
    #[error("{what} has {found} entries where `mass_matrix` is {expected} by {expected}")]
    DimensionMismatch {
        /// Name of the quantity, chosen by the caller.
        what: &'static str,
        /// Dimension of the metric.
        expected: usize,
        /// Number of entries given.
        found: usize,
    },
    /// A contact normal is zero.
    #[error("normal {index} is zero: the gap function has no gradient there")]
    ZeroNormal {
        /// Index in the list of normals (0 for a single one).
        index: usize,
    },
}

impl MetricError {
    /// Returns the identifier of the error variant in machine-readable reports, in kebab case, for example
    /// `not-symmetric`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NotSquare { .. } => "not-square",
            Self::NonFinite { .. } => "non-finite",
            Self::NotSymmetric { .. } => "not-symmetric",
            Self::NotPositiveDefinite { .. } => "not-positive-definite",
            Self::DimensionMismatch { .. } => "dimension-mismatch",
            Self::ZeroNormal { .. } => "zero-normal",
        }
    }
}
