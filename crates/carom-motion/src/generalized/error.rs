//! Errors of motion in generalized coordinates.

use carom_contact::ImpactError;

/// Error of a [`CollisionIntegrator`](super::CollisionIntegrator): it was not built, or a run stopped. Every variant that can
/// occur during a run contains the time of the error; the trajectory up to this time is kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IntegratorError {
    /// A vector of the initial state has a wrong length.
    #[error("{what} has {found} entries where the system has dimension {expected}")]
    DimensionMismatch {
        /// Name of the vector.
        what: &'static str,
        /// Number of coordinates of the system, which the length must equal.
        expected: usize,
        /// Length of the vector that was given.
        found: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} has a non-finite entry")]
    NonFinite {
        /// Name of the quantity, as in the caller's arguments.
        what: &'static str,
    },
    /// An option has an invalid value.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidOption {
        /// Name of the option.
        what: &'static str,
        /// Value of the option that was given.
        value: f64,
        /// Allowed range of the option.
        allowed: &'static str,
    },
    /// A contact of the system has friction but no tangential coordinate (slide) for it to act on, or an invalid coefficient of
    /// friction.
    #[error(
        "contact {contact} has friction {friction}: it must be finite, at least 0, and needs a slide"
    )]
    InvalidFriction {
        /// Index of the contact.
        contact: usize,
        /// Coefficient of friction of the contact.
        friction: f64,
    },
    /// At the start the bodies of a contact penetrate by more than the tolerance.
    #[error("contact {contact} starts with the gap {gap:e}")]
    InitialPenetration {
        /// Index of the contact.
        contact: usize,
        /// Gap of the contact in the initial state, negative.
        gap: f64,
    },
    /// The initial velocity violates a velocity constraint of the system by more than a millionth of the velocities.
    #[error(
        "the velocity at the start violates the constraint `{constraint}` by the part {violation:e} of the velocities"
    )]
    NotAssembled {
        /// Name of the constraint.
        constraint: String,
        /// Part of the velocity that the constraint does not admit, as a fraction of the velocity, in the kinetic norm.
        violation: f64,
    },
    /// A velocity constraint that depended on the others at the start, and was left out, became independent.
    #[error(
        "constraint `{constraint}` follows from the others at the start and not at time {time}: the rank of the constraints must not change"
    )]
    ConstraintRank {
        /// Time at which the constraint is violated (s).
        time: f64,
        /// Name of the constraint.
        constraint: String,
    },
    /// The mass matrix is not positive definite at a configuration of the motion.
    #[error("mass matrix is not positive definite at time {time}")]
    MassNotPositiveDefinite {
        /// Time of that configuration (s).
        time: f64,
    },
    /// Newton's method did not solve the step, even after the allowed halvings of the step length.
    #[error("step of {time_step:e} at time {time} cannot be solved")]
    StepNotSolved {
        /// Time at the start of the step (s).
        time: f64,
        /// Length of the shortest step tried (s).
        time_step: f64,
    },
    /// One step has more impacts and other events than the options allow.
    #[error("more than {limit} events in the step at time {time}")]
    TooManyEvents {
        /// Time of the last event (s).
        time: f64,
        /// Largest number of events allowed in a step.
        limit: usize,
    },
    /// No combination of sticking and slipping contacts satisfies Coulomb's law in a step.
    #[error("no combination of stick and slip is consistent at time {time}")]
    NoFrictionMode {
        /// Time at the start of the step (s).
        time: f64,
    },
    /// Too many closed contacts have friction: the stick and slip modes are enumerated for few contacts only.
    #[error("limit of {limit} frictional contacts at once exceeded by {found} at time {time}")]
    FrictionLimit {
        /// Time at which the contacts were found closed (s).
        time: f64,
        /// Number of closed contacts with friction.
        found: usize,
        /// Largest number of closed contacts with friction that is allowed.
        limit: usize,
    },
    /// The impact law could not resolve an impact.
    #[error("impact at time {time}: {source}")]
    Impact {
        /// Time of the impact (s).
        time: f64,
        /// Error of the impact law.
        source: ImpactError,
    },
}

impl IntegratorError {
    /// Returns the identifier of this error in machine-readable reports: the variant's name in kebab case, for example
    /// `step-not-solved`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::DimensionMismatch { .. } => "dimension-mismatch",
            Self::NonFinite { .. } => "non-finite",
            Self::InvalidOption { .. } => "invalid-option",
            Self::InvalidFriction { .. } => "invalid-friction",
            Self::InitialPenetration { .. } => "initial-penetration",
            Self::NotAssembled { .. } => "not-assembled",
            Self::ConstraintRank { .. } => "constraint-rank",
            Self::MassNotPositiveDefinite { .. } => "mass-not-positive-definite",
            Self::StepNotSolved { .. } => "step-not-solved",
            Self::TooManyEvents { .. } => "event-limit",
            Self::NoFrictionMode { .. } => "no-friction-mode",
            Self::FrictionLimit { .. } => "friction-limit",
            Self::Impact { source, .. } => source.kind(),
        }
    }

    /// Returns the simulated time at which this error happened (s); `None` for invalid input, before a run.
    pub fn time(&self) -> Option<f64> {
        match *self {
            Self::MassNotPositiveDefinite { time }
            | Self::ConstraintRank { time, .. }
            | Self::StepNotSolved { time, .. }
            | Self::TooManyEvents { time, .. }
            | Self::NoFrictionMode { time }
            | Self::FrictionLimit { time, .. }
            | Self::Impact { time, .. } => Some(time),
            _ => None,
        }
    }
}
