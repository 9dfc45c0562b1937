//! Error about a part of a tree, with its key and place.

use super::{Place, spelled};
use serde::de;
use std::fmt;

/// Error about a value in a TOML text, with the key and the place of the value. Readers of nested values create the error
/// without a key. Each enclosing table or list then adds its part of the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Text of the error.
    pub message: String,
    /// Parts of the key, the innermost first; an index is written in brackets.
    pub path: Vec<String>,
    /// Innermost known place of the faulty value.
    pub place: Option<Place>,
}

impl Fault {
    /// Creates an error about a TOML value, without key and place so far.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            path: Vec::new(),
            place: None,
        }
    }

    /// Adds to the error the key of the table entry that holds the faulty TOML value. `place` becomes the place of the error if
    /// no place is known so far.
    #[must_use]
    pub fn within_key(self, key: &str, place: Place) -> Self {
        self.within(spelled(key), place)
    }

    /// Adds to the error the index of the list item that holds the faulty TOML value. `place` becomes the place of the error if
    /// no place is known so far.
    #[must_use]
    pub fn within_item(self, index: usize, place: Place) -> Self {
        self.within(format!("[{index}]"), place)
    }

    fn within(mut self, segment: String, place: Place) -> Self {
        self.path.push(segment);
        self.place.get_or_insert(place);
        self
    }

    /// Returns the full path of the key of the faulty value, from the outermost table on, as in `parts[1].radius`.
    #[must_use]
    pub fn key(&self) -> String {
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
