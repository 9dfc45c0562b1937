//! Errors of rotations and rigid motions.

/// Reason why an element of a rotation or rigid-motion group could not be created, or could not be converted to
/// coordinates.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LieError {
    /// A number is NaN or infinite.
    #[error("{what} has a non-finite entry")]
    NonFinite {
        /// Name of the quantity, chosen by the caller.
        what: &'static str,
    },
    /// A matrix differs from a rotation by more than rounding errors.
    #[error("matrix is not a rotation: |R^T R - I| = {defect:e}, determinant {determinant}")]
    NotARotation {
        /// Frobenius norm of $R^TR - I$.
        defect: f64,
        /// Determinant, 1 for a rotation and -1 for a reflection.
        determinant: f64,
    },
    /// A rotation by half a turn has no finite Cayley vector. Use the rotation vector instead.
    #[error("a rotation by half a turn has no Cayley vector")]
    HalfTurn,
    /// The inverse Jacobian of the exponential does not exist if the rotation angle is a full turn or a multiple of it. Use an
    /// equivalent rotation vector of at most half a turn.
    #[error("the exponential's Jacobian is singular at the angle {angle}")]
    FullTurn {
        /// Length of the rotation vector in rad.
        angle: f64,
    },
}

impl LieError {
    /// Returns the identifier of the error variant in machine-readable reports, in kebab case, for example
    /// `half-turn`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NonFinite { .. } => "non-finite",
            Self::NotARotation { .. } => "not-a-rotation",
            Self::HalfTurn => "half-turn",
            Self::FullTurn { .. } => "full-turn",
        }
    }
}
