//! Why a problem was not answered, in the form that is written.

use carom_impact::ImpactError;
use carom_lcp::LcpError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why a problem was not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct WireError {
    /// Stable identifier in kebab-case, for programs.
    pub kind: String,
    /// The offending key, option or value, and what is wrong with it.
    pub message: String,
    /// Index of the contact, body, row or entry that is at fault, where there is one.
    pub index: Option<usize>,
}

impl WireError {
    /// An error of a kind.
    pub fn new(kind: &str, message: impl ToString) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.to_string(),
            index: None,
        }
    }

    /// What a law or a problem refuses, with the key where it stands.
    pub(crate) fn at(key: &str, error: &ImpactError) -> Self {
        Self {
            index: index_of(error),
            ..Self::new(error.kind(), format!("{key}: {error}"))
        }
    }

    /// The error as it is written: `{"kind": ..., "message": ...}`.
    pub fn to_value(&self) -> Value {
        json!({ "kind": self.kind, "message": self.message })
    }
}

impl From<ImpactError> for WireError {
    fn from(error: ImpactError) -> Self {
        Self {
            index: index_of(&error),
            ..Self::new(error.kind(), error)
        }
    }
}

impl From<LcpError> for WireError {
    fn from(error: LcpError) -> Self {
        Self::new(error.kind(), error)
    }
}

/// What an error points at.
fn index_of(error: &ImpactError) -> Option<usize> {
    match error {
        ImpactError::Contact { contact, .. }
        | ImpactError::ConstrainedContact { contact }
        | ImpactError::TooManyTangents { contact, .. }
        | ImpactError::InvalidFriction { contact, .. }
        | ImpactError::InvalidContact { contact, .. } => Some(*contact),
        ImpactError::DependentConstraints { row } | ImpactError::ConstraintViolated { row, .. } => {
            Some(*row)
        }
        ImpactError::ContactVelocityNonFinite { index, .. } => Some(*index),
        _ => None,
    }
}

/// Reads a value into a type; the message names the key.
pub(crate) fn typed<T: DeserializeOwned>(value: Value, prefix: &str) -> Result<T, WireError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = match error.path().to_string().as_str() {
            "." => prefix.to_owned(),
            path if prefix.is_empty() => path.to_owned(),
            path => format!("{prefix}.{path}"),
        };
        let message = error.into_inner().to_string();
        let message = if path.is_empty() {
            message
        } else {
            format!("{path}: {message}")
        };
        WireError::new("invalid-input", message)
    })
}
