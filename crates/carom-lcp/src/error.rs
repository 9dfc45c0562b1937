//! Errors of a problem before any method has started.

/// Why a linear complementarity problem could not be posed or attempted.
///
/// The outcome of an attempt is not an error but an [`LcpStatus`](crate::LcpStatus).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LcpError {
    /// The matrix is not square.
    #[error("matrix has {rows} rows and {columns} columns: it must be square")]
    NotSquare {
        /// Rows given.
        rows: usize,
        /// Columns given.
        columns: usize,
    },
    /// A dense problem of this size would not fit in memory.
    #[error("problem has dimension {n}: dense problems go up to {max}")]
    TooLarge {
        /// Dimension asked for.
        n: usize,
        /// Largest dimension accepted by the method.
        max: usize,
    },
    /// A vector or matrix has the wrong number of entries.
    #[error("{what} has {found} entries where {expected} are needed")]
    DimensionMismatch {
        /// The quantity, in the words of the caller.
        what: &'static str,
        /// Entries needed.
        expected: usize,
        /// Entries found.
        found: usize,
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
    /// A covering vector has an entry that is not positive.
    #[error("covering vector has the entry {value} at index {index}: all must be positive")]
    InvalidCover {
        /// Position of the entry.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// A lower bound exceeds its upper bound.
    #[error("bounds of variable {index} are empty: {lower} > {upper}")]
    EmptyBounds {
        /// Position of the variable.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The block of the unbounded variables is singular: they cannot be eliminated.
    #[error("the block of the {n_free} free variables is singular")]
    SingularFreeBlock {
        /// Number of free variables.
        n_free: usize,
    },
    /// A sweep over coordinates divides by the diagonal.
    #[error("diagonal entry {index} is {value}: it must be positive")]
    NonPositiveDiagonal {
        /// Position on the diagonal.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// A physical parameter or a numeric option is out of range.
    #[error("{what} is {value}: it must be {allowed}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The values allowed, in words.
        allowed: &'static str,
    },
}

impl LcpError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotSquare { .. } => "not-square",
            Self::TooLarge { .. } => "too-large",
            Self::DimensionMismatch { .. } => "dimension-mismatch",
            Self::NonFinite { .. } => "non-finite",
            Self::InvalidCover { .. } => "invalid-cover",
            Self::EmptyBounds { .. } => "empty-bounds",
            Self::SingularFreeBlock { .. } => "singular-free-block",
            Self::NonPositiveDiagonal { .. } => "non-positive-diagonal",
            Self::OutOfRange { .. } => "out-of-range",
        }
    }
}
