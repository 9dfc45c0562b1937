//! Errors of fits.

use carom_contact::ImpactError;

/// Reason why an impact law could not be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// A parameter or an option is unknown, is not used, or has a wrong value. The message begins with its name.
    #[error("{0}")]
    Parameter(String),
    /// A law has no answer for a measured impact.
    #[error("{law}: {source}")]
    Refused {
        /// Name of the law.
        law: String,
        /// Error of the law.
        source: ImpactError,
    },
    /// No impact has an answer of every law, so that nothing can be compared.
    #[error("no impacts to score: none has an answer of every law")]
    NoImpacts,
}
