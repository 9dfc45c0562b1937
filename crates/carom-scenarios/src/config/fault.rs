//! What is wrong with a configuration, and where.

use super::value::Place;
use serde::de;
use std::fmt;

/// A complaint that collects its key and its place on the way out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(super) message: String,
    /// The innermost part first; an index stands in brackets.
    pub(super) path: Vec<String>,
    pub(super) place: Option<Place>,
}

impl Fault {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            path: Vec::new(),
            place: None,
        }
    }

    /// The fault, seen from a table or list with the part at `segment`.
    pub(super) fn within(mut self, segment: String, place: Place) -> Self {
        self.path.push(segment);
        self.place.get_or_insert(place);
        self
    }

    /// The key from the outermost table on, as in `parts[1].radius`.
    pub(super) fn key(&self) -> String {
        let mut key = String::new();
        for segment in self.path.iter().rev() {
            if !key.is_empty() && !segment.starts_with('[') {
                key.push('.');
            }
            key.push_str(segment);
        }
        key
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "key `{}`: {}", self.key(), self.message)
        }
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}
