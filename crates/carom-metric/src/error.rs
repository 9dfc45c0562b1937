//! Errors of mass matrices, vectors and normals.

/// Why a metric could not be built or applied.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// A mechanical system has at least one degree of freedom.
    #[error("mass matrix is empty: give at least one row")]
    Empty,
    /// The mass matrix is not square.
    #[error("mass matrix has {rows} rows and {columns} columns: it must be square")]
    NotSquare {
        /// Rows given.
        rows: usize,
        /// Columns given.
        columns: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} has the non-finite entry {value} at index {index}")]
    NonFinite {
        /// The quantity, in the words of the caller.
        what: &'static str,
        /// Position of the entry (column-major for a matrix).
        index: usize,
        /// NaN or an infinity.
        value: f64,
    },
    /// The mass matrix differs from its transpose by more than rounding.
    #[error(
        "mass matrix is not symmetric: entry ({row}, {column}) differs from its mirror by {difference:e}"
    )]
    NotSymmetric {
        /// Row of the worst entry.
        row: usize,
        /// Column of the worst entry.
        column: usize,
        /// Absolute difference of the two mirror entries.
        difference: f64,
    },
    /// The Cholesky factorization met a pivot that is not positive to working precision.
    #[error(
        "mass matrix is not positive definite: the leading block of size {size} is singular or indefinite"
    )]
    NotPositiveDefinite {
        /// Size of the smallest leading block that is not positive definite.
        size: usize,
    },
    /// Two objects live on configuration spaces of different dimension.
    #[error("{what} has {found} entries where `mass_matrix` is {expected} by {expected}")]
    DimensionMismatch {
        /// The quantity, in the words of the caller.
        what: &'static str,
        /// Dimension of the metric.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// A contact normal has no direction.
    #[error("normal {index} is zero: the gap function has no gradient there")]
    ZeroNormal {
        /// Position in the list of normals (0 for a single one).
        index: usize,
    },
}

impl MetricError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
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
