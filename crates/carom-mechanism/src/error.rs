//! Why a system could not be built.

/// Why a ready-made system could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// A parameter is outside its range.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidParameter {
        /// The parameter.
        what: &'static str,
        /// The value given.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
}

impl MechanismError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidParameter { .. } => "invalid-parameter",
        }
    }
}

/// Accepts a positive, finite parameter.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(
        what,
        value,
        value > 0.0 && value.is_finite(),
        "positive and finite",
    )
}

/// Accepts a finite parameter that is not negative.
pub(crate) fn not_negative(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(
        what,
        value,
        value >= 0.0 && value.is_finite(),
        "at least 0 and finite",
    )
}

/// Accepts a finite parameter.
pub(crate) fn finite(what: &'static str, value: f64) -> Result<f64, MechanismError> {
    accept(what, value, value.is_finite(), "finite")
}

fn accept(
    what: &'static str,
    value: f64,
    good: bool,
    allowed: &'static str,
) -> Result<f64, MechanismError> {
    if good {
        Ok(value)
    } else {
        Err(MechanismError::InvalidParameter {
            what,
            value,
            allowed,
        })
    }
}
