//! Errors in files of measured impacts.

/// Reason why a file of measured impacts, or what is asked of it, was refused. Lines count from 1, as an editor does.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A fault at a line of the file.
    #[error("line {line}: {fault}")]
    Line {
        /// Line of the file.
        line: u64,
        /// Column or key, and its fault.
        fault: String,
    },
    /// A fault of the configuration. The message begins with the line and the key if they are known.
    #[error("{0}")]
    Configuration(String),
    /// The file has no impact.
    #[error("line 1: the file has no impact")]
    Empty,
    /// No impact of the file has a contact.
    #[error("contacts: no line has a contact")]
    NoContacts,
    /// No toss ends at rest, so that the plane cannot be estimated.
    #[error(
        "plane.offset: no toss ends with the body resting on a face; give the offset in metres"
    )]
    NoRestingPose,
    /// There are too few poses in flight to estimate noise and gravity.
    #[error(
        "flight: {found} triples of consecutive poses are more than 10 mm above the plane; at \
         least 12 are needed"
    )]
    NoFlight {
        /// Number of triples of consecutive poses in flight.
        found: usize,
    },
    /// The text of a change is wrong, or the system does not know this change.
    #[error("{0}")]
    Change(String),
}

impl DataError {
    /// Creates the error for the column or key `key` of a line.
    pub(crate) fn at(line: u64, key: &str, fault: impl std::fmt::Display) -> Self {
        let fault = format!("column `{key}`: {fault}");
        Self::Line { line, fault }
    }
}
