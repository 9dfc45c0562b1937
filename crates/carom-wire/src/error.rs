//! Why a problem was not answered, in the form that is written.

use carom_contact::ImpactError;
use carom_impact::two_body::TwoBodyError;
use carom_lcp::LcpError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why a problem was not answered.
///
/// # Examples
///
/// ```
/// use carom_wire::WireError;
/// let error = WireError::new("invalid-value", "mass: -1 kg is not positive");
/// assert_eq!(error.to_value()["kind"], "invalid-value");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct WireError {
    /// Stable identifier in kebab-case, for programs.
    pub kind: String,
    /// The offending key, option or value, and what is wrong with it.
    pub message: String,
    /// Index of the contact, body, row or entry that is at fault, where there is one.
    pub index: Option<usize>,
    /// Residual of the best answer, where it is not good enough.
    pub residual: Option<f64>,
}

impl WireError {
    /// An error of a kind.
    pub fn new(kind: &str, message: impl ToString) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.to_string(),
            index: None,
            residual: None,
        }
    }

    /// Refusal of a law or a problem, with the key that is at fault.
    pub(crate) fn at(key: &str, error: &ImpactError) -> Self {
        Self {
            index: index_of(error),
            residual: residual_of(error),
            ..Self::new(error.kind(), format!("{key}: {error}"))
        }
    }

    /// Fault of a part of the input.
    pub(crate) fn within(self, place: &str) -> Self {
        Self {
            message: format!("{place}: {}", self.message),
            ..self
        }
    }

    /// The error as it is written: `{"kind": ..., "message": ...}`, with `"residual"` where there is
    /// one.
    pub fn to_value(&self) -> Value {
        match self.residual {
            None => json!({ "kind": self.kind, "message": self.message }),
            Some(residual) => json!({
                "kind": self.kind,
                "message": self.message,
                "residual": residual,
            }),
        }
    }
}

impl From<ImpactError> for WireError {
    fn from(error: ImpactError) -> Self {
        Self {
            index: index_of(&error),
            residual: residual_of(&error),
            ..Self::new(error.kind(), error)
        }
    }
}

impl From<LcpError> for WireError {
    fn from(error: LcpError) -> Self {
        Self::new(error.kind(), error)
    }
}

/// The residual of an answer that is not good enough; an infinite one says nothing.
fn residual_of(error: &ImpactError) -> Option<f64> {
    match error {
        ImpactError::Complementarity { residual, .. } if residual.is_finite() => Some(*residual),
        _ => None,
    }
}

/// Index of the contact or row that an error points at.
fn index_of(error: &ImpactError) -> Option<usize> {
    match error {
        ImpactError::Contact { contact, .. }
        | ImpactError::ConstrainedContact { contact }
        | ImpactError::TooManyTangents { contact, .. }
        | ImpactError::InvalidFriction { contact, .. }
        | ImpactError::MissingTangents { contact }
        | ImpactError::InvalidContact { contact, .. } => Some(*contact),
        ImpactError::ConstraintViolated { row, .. } => Some(*row),
        ImpactError::TwoBody(TwoBodyError::ContactVelocityNonFinite { index, .. }) => Some(*index),
        _ => None,
    }
}

/// Reads a value into a type; the message names the key.
pub(crate) fn typed<T: DeserializeOwned>(value: Value, prefix: &str) -> Result<T, WireError> {
    typed_by(value, prefix, |value| T::deserialize(value))
}

/// Deserializer that [`typed_by`] reads from.
pub(crate) type Tracked<'t> = serde_path_to_error::Deserializer<'t, 't, Value>;

/// Reads a value by a function; errors name the key.
pub(crate) fn typed_by<T>(
    value: Value,
    prefix: &str,
    read: impl FnOnce(Tracked<'_>) -> Result<T, serde_json::Error>,
) -> Result<T, WireError> {
    let mut track = serde_path_to_error::Track::new();
    let found = read(serde_path_to_error::Deserializer::new(value, &mut track));
    found.map_err(|error| {
        let path = match track.path().to_string().as_str() {
            "." => prefix.to_owned(),
            path if prefix.is_empty() => path.to_owned(),
            path => format!("{prefix}.{path}"),
        };
        let message = match path.as_str() {
            "" => error.to_string(),
            path => format!("{path}: {error}"),
        };
        WireError::new("invalid-input", message)
    })
}
