//! Why a motion in generalized coordinates could not be computed.

use carom_contact::ImpactError;

/// Why an integrator was not built, or a run stopped. Every variant that can happen on the way
/// carries its time; the trajectory up to then is kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IntegratorError {
    /// A vector of the initial state does not fit the system.
    #[error("{what} has {found} entries where the system has dimension {expected}")]
    DimensionMismatch {
        /// The vector.
        what: &'static str,
        /// Dimension of the system.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} has a non-finite entry")]
    NonFinite {
        /// The quantity, in the words of the caller.
        what: &'static str,
    },
    /// An option has a value that makes no sense.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidOption {
        /// The option.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// A contact of the system has friction but no slide for it to act on, or a coefficient that
    /// cannot be one.
    #[error(
        "contact {contact} has friction {friction}: it must be finite, at least 0, and needs a slide"
    )]
    InvalidFriction {
        /// Index of the contact.
        contact: usize,
        /// Its coefficient.
        friction: f64,
    },
    /// A contact is closed by more than the tolerance at the start.
    #[error("contact {contact} starts with the gap {gap:e}")]
    InitialPenetration {
        /// Index of the contact.
        contact: usize,
        /// Its gap, negative.
        gap: f64,
    },
    /// The mass matrix is not positive definite at a configuration of the motion.
    #[error("mass matrix is not positive definite at time {time}")]
    MassNotPositiveDefinite {
        /// Time (s).
        time: f64,
    },
    /// Newton's method did not solve the step, however often it was halved.
    #[error("step of {time_step:e} at time {time} cannot be solved")]
    StepNotSolved {
        /// Time at its start (s).
        time: f64,
        /// Shortest step tried (s).
        time_step: f64,
    },
    /// Events do not end within a step.
    #[error("more than {limit} events in the step at time {time}")]
    TooManyEvents {
        /// Time of the last one (s).
        time: f64,
        /// Events allowed.
        limit: usize,
    },
    /// No combination of stick and slip is consistent with Coulomb's law.
    #[error("no combination of stick and slip is consistent at time {time}")]
    NoFrictionMode {
        /// Time (s).
        time: f64,
    },
    /// Stick and slip are enumerated for few contacts only.
    #[error("limit of {limit} frictional contacts at once exceeded by {found} at time {time}")]
    FrictionLimit {
        /// Time (s).
        time: f64,
        /// Frictional contacts that are closed.
        found: usize,
        /// Contacts allowed.
        limit: usize,
    },
    /// The law could not resolve an impact.
    #[error("impact at time {time}: {source}")]
    Impact {
        /// Time (s).
        time: f64,
        /// Its fault.
        source: ImpactError,
    },
}

impl IntegratorError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::DimensionMismatch { .. } => "dimension-mismatch",
            Self::NonFinite { .. } => "non-finite",
            Self::InvalidOption { .. } => "invalid-option",
            Self::InvalidFriction { .. } => "invalid-friction",
            Self::InitialPenetration { .. } => "initial-penetration",
            Self::MassNotPositiveDefinite { .. } => "mass-not-positive-definite",
            Self::StepNotSolved { .. } => "step-not-solved",
            Self::TooManyEvents { .. } => "event-limit",
            Self::NoFrictionMode { .. } => "no-friction-mode",
            Self::FrictionLimit { .. } => "friction-limit",
            Self::Impact { source, .. } => source.kind(),
        }
    }

    /// Time at which it happened (s); `None` for errors of the input.
    pub fn time(&self) -> Option<f64> {
        match *self {
            Self::MassNotPositiveDefinite { time }
            | Self::StepNotSolved { time, .. }
            | Self::TooManyEvents { time, .. }
            | Self::NoFrictionMode { time }
            | Self::FrictionLimit { time, .. }
            | Self::Impact { time, .. } => Some(time),
            _ => None,
        }
    }
}
