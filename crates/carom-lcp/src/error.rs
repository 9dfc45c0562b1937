//! Errors in the data of a problem, found before a method starts.

/// Reason why a linear complementarity problem could not be created, or its solution not be attempted.
///
/// The outcome of a solution attempt is not an error; it is an [`LcpStatus`](crate::LcpStatus).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LcpError {
    /// The matrix is not square.
    #[error("matrix has {rows} rows and {columns} columns: it must be square")]
    NotSquare {
        /// Number of rows given.
        rows: usize,
        /// Number of columns given.
        columns: usize,
    },
    /// The problem has more rows than the method accepts: its dense matrix would not fit in memory, or the method
    /// would take too long.
    #[error("problem has dimension {n}: dense problems go up to {max}")]
    TooLarge {
        /// Dimension of the problem.
        n: usize,
        /// Largest dimension accepted by the method.
        max: usize,
    },
    /// A vector or matrix has the wrong number of entries for this problem.
    #[error("{what} has {found} entries where {expected} are needed")]
    DimensionMismatch {
        /// Name of the quantity.
        what: &'static str,
        /// Number of entries needed.
        expected: usize,
        /// Number of entries found.
        found: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} has the non-finite entry {value} at index {index}")]
    NonFinite {
        /// Name of the quantity.
        what: &'static str,
        /// Index of the entry (column-major for a matrix).
        index: usize,
        /// Value of the entry: NaN or an infinity.
        value: f64,
    },
    /// The covering vector in the options of Lemke's method has an entry that is not positive.
    #[error("covering vector has the entry {value} at index {index}: all must be positive")]
    InvalidCover {
        /// Index of the entry.
        index: usize,
        /// Value of the entry.
        value: f64,
    },
    /// A diagonal entry of the matrix, by which the method divides, is not positive.
    #[error("diagonal entry {index} is {value}: it must be positive")]
    NonPositiveDiagonal {
        /// Index of the diagonal entry.
        index: usize,
        /// Value of the entry.
        value: f64,
    },
    /// A physical parameter or a numeric option is out of range.
    #[error("{what} is {value}: it must be {allowed}")]
    OutOfRange {
        /// Name of the parameter.
        what: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Description of the allowed values.
        allowed: &'static str,
    },
}

impl LcpError {
    /// Returns the identifier of the error variant in machine-readable reports, in kebab case, for example
    /// `not-square`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotSquare { .. } => "not-square",
            Self::TooLarge { .. } => "too-large",
            Self::DimensionMismatch { .. } => "dimension-mismatch",
            Self::NonFinite { .. } => "non-finite",
            Self::InvalidCover { .. } => "invalid-cover",
            Self::NonPositiveDiagonal { .. } => "non-positive-diagonal",
            Self::OutOfRange { .. } => "out-of-range",
        }
    }
}
