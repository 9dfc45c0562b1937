//! Errors of units and of their export.

use carom_scenarios::ScenarioError;
use carom_scenarios::carom_world::SessionError;

/// Reason for which a unit refuses a call, or is not exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FmiError {
    /// The session refused a call, or stopped.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The configuration is at fault.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A file cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// Path of the file.
        path: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("{path}: {source}")]
    Unwritable {
        /// Path of the file.
        path: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A text of the unit is not what an export writes.
    #[error("{path}: {message}")]
    Damaged {
        /// Path of the text.
        path: String,
        /// Fault of the text.
        message: String,
    },
    /// The unit is another one than its description says.
    #[error("the token is {given}, that of the resources {own}")]
    Token {
        /// Token of the description.
        given: String,
        /// Token of the resources.
        own: String,
    },
    /// No variable has this reference.
    #[error("no variable of this type has the reference {reference}")]
    UnknownReference {
        /// Reference that was given.
        reference: u32,
    },
    /// The numbers of the variables are not as many as were given.
    #[error("the variables have {expected} values, not {found}")]
    DimensionMismatch {
        /// Number of values of the variables.
        expected: usize,
        /// Number that was given.
        found: usize,
    },
    /// A variable is no input.
    #[error("`{name}` is no input")]
    NoInput {
        /// Name of the variable.
        name: String,
    },
    /// A value of an input is not finite.
    #[error("`{name}` is {value}, which is not finite")]
    NonFinite {
        /// Name of the variable.
        name: String,
        /// Value that was given.
        value: f64,
    },
    /// A call does not belong to the present state of the unit.
    #[error("this call is not allowed now: the unit {now}")]
    Mode {
        /// State of the unit.
        now: &'static str,
    },
    /// A step does not begin at the present time, or does not go on.
    #[error("a step of {step} s from {time} s: the unit is at {now} s")]
    Step {
        /// Time of the begin of the step (s).
        time: f64,
        /// Length of the step (s).
        step: f64,
        /// Present time (s).
        now: f64,
    },
    /// Only worlds can be exported, whose files lie beside them.
    #[error("{message}")]
    NotExportable {
        /// Reason.
        message: String,
    },
    /// The shared library that a unit holds is not there.
    #[error(
        "{path} is not there: `cargo build --release -p carom-capi` builds it; --library PATH names another"
    )]
    NoLibrary {
        /// Path of the library.
        path: String,
    },
    /// The description could not be written as XML.
    #[error("the description: {0}")]
    Xml(std::io::Error),
    /// The archive could not be written.
    #[error("the archive: {0}")]
    Archive(#[from] zip::result::ZipError),
}

impl FmiError {
    /// Returns the stable identifier of this error, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Session(error) => error.kind(),
            Self::Scenario(_) => "invalid-configuration",
            Self::Unwritable { .. } | Self::Xml(_) | Self::Archive(_) => "unwritable",
            Self::Unreadable { .. } => "unreadable",
            Self::Damaged { .. } => "damaged",
            Self::Token { .. } => "wrong-token",
            Self::UnknownReference { .. } => "unknown-name",
            Self::DimensionMismatch { .. } => "dimension-mismatch",
            Self::NoInput { .. } => "no-input",
            Self::NonFinite { .. } => "non-finite",
            Self::Mode { .. } => "wrong-mode",
            Self::Step { .. } => "wrong-step",
            Self::NotExportable { .. } => "not-exportable",
            Self::NoLibrary { .. } => "no-library",
        }
    }

    pub(crate) fn unreadable(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Unreadable {
            path: path.display().to_string(),
            source,
        }
    }

    pub(crate) fn unwritable(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Unwritable {
            path: path.display().to_string(),
            source,
        }
    }
}
