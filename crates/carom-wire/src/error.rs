//! Reason why a problem has no answer, and its JSON form.

use carom_contact::{ImpactError, Limit};
use carom_impact::two_body::TwoBodyError;
use carom_lcp::LcpError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt;

/// Reason why a problem given as JSON has no answer, with a stable kind and a message.
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
    /// Name of the faulty key, option or value, and its fault.
    pub message: String,
    /// Index of the faulty contact, body, row or entry, if there is one.
    pub index: Option<usize>,
    /// Residual of the best answer found, if it is too large.
    pub residual: Option<f64>,
    /// Name of the limit that ended the computation, for example `impacts`, if the kind is `limit`.
    pub limit: Option<&'static str>,
    /// Number of correct digits of the answer, if the kind is `ill-conditioned`.
    pub digits: Option<f64>,
    /// Key and value of what a refusal rests on. `outcomes`, if the kind is `ambiguous`: a list of objects as in an answer with
    /// `"outcomes": "all"`. `proof`, if the kind is `infeasible-law` and there is one: an object with the key `impulses`, a list of
    /// one list for each contact (N·s; normal, then zeros for the tangents).
    pub evidence: Option<Box<(&'static str, Value)>>,
}

impl WireError {
    /// Creates an error from its kind, a stable kebab-case identifier such as `invalid-value`, and a message for people.
    pub fn new(kind: &str, message: impl ToString) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.to_string(),
            index: None,
            residual: None,
            limit: None,
            digits: None,
            evidence: None,
        }
    }

    /// Creates an error in JSON form from an error of an impact law or problem. `key` is the JSON key at fault, which
    /// begins the message.
    pub(crate) fn at(key: &str, error: &ImpactError) -> Self {
        Self {
            message: format!("{key}: {}", Told(error)),
            ..Self::of(error)
        }
    }

    /// Creates an error in JSON form from an error of an impact law or problem.
    pub(crate) fn of(error: &ImpactError) -> Self {
        Self {
            index: index_of(error),
            residual: error.residual(),
            limit: error.limit().map(Limit::name),
            digits: match error {
                ImpactError::IllConditioned { digits, .. } => Some(*digits),
                _ => None,
            },
            ..Self::new(error.kind(), Told(error))
        }
    }

    /// Prepends `place`, the name of a part of the input, to the message of the error.
    pub(crate) fn within(self, place: &str) -> Self {
        Self {
            message: format!("{place}: {}", self.message),
            ..self
        }
    }

    /// Writes the error as JSON: `{"kind": ..., "message": ...}`, with `"residual"`, `"limit"`, `"digits"`, `"outcomes"`,
    /// `"proof"` and `"would_be"` if there are any.
    pub fn to_value(&self) -> Value {
        let mut value = json!({ "kind": self.kind, "message": self.message });
        if let Some(residual) = self.residual {
            value["residual"] = residual.into();
        }
        if let Some(limit) = self.limit {
            value["limit"] = limit.into();
        }
        if let Some(digits) = self.digits {
            value["digits"] = digits.into();
        }
        if let Some((key, part)) = self.evidence.as_deref() {
            value[*key] = part.clone();
        }
        value
    }
}

/// Error of an impact law in words, with the command that leads on where another law is wanted.
struct Told<'e>(&'e ImpactError);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        match self.0 {
            ImpactError::SingleContactLaw { .. } => {
                f.write_str("; `carom laws` tells which take several")
            }
            _ => Ok(()),
        }
    }
}

/// Adds the command that lists the laws to the error that a problem names no law; returns other errors unchanged.
pub(crate) fn naming_laws(error: WireError) -> WireError {
    if error.message != "missing field `law`" {
        return error;
    }
    let message = format!(
        "{}; `carom laws` tells which suits which impact",
        error.message
    );
    WireError { message, ..error }
}

impl From<ImpactError> for WireError {
    fn from(error: ImpactError) -> Self {
        Self::of(&error)
    }
}

impl From<LcpError> for WireError {
    fn from(error: LcpError) -> Self {
        Self::new(error.kind(), error)
    }
}

/// Returns the index of the contact or constraint row to which an error refers; `None` if it refers to neither.
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

/// Converts a JSON value to the type `T`. An error message begins with the full key of the faulty part; `prefix` is the key
/// of `value` itself, empty for the whole input.
pub(crate) fn typed<T: DeserializeOwned>(value: Value, prefix: &str) -> Result<T, WireError> {
    typed_by(value, prefix, |value| T::deserialize(value))
}

/// Deserializer that [`typed_by`] passes to its function; it records the path of the key.
pub(crate) type Tracked<'t> = serde_path_to_error::Deserializer<'t, 't, Value>;

/// Converts a JSON value by the function `read`. An error message begins with the full key of the faulty part; `prefix` is
/// the key of `value` itself, empty for the whole input.
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
