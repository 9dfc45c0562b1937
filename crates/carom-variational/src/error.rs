//! Why a motion could not be computed.

/// Why a flight or a step was not completed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VariationalError {
    /// A number is NaN or infinite.
    #[error("{what} has a non-finite entry")]
    NonFinite {
        /// The quantity, in the words of the caller.
        what: &'static str,
    },
    /// A time step must be positive and finite.
    #[error("time step {time_step} must be positive and finite")]
    BadStep {
        /// The step given (s).
        time_step: f64,
    },
    /// A duration must be at least 0, finite, and a sensible number of steps.
    #[error("duration {duration} must be at least 0 and at most 1e15 steps")]
    BadDuration {
        /// The duration given (s).
        duration: f64,
    },
    /// The discrete equation of rotation has no solution near the identity for this step.
    #[error(
        "step too large: the body turns by {h_omega} rad in one, at most 1 can be solved (0.3 recommended)"
    )]
    StepTooLarge {
        /// Step times angular velocity, $h\lvert J^{-1}\Pi\rvert$ (rad).
        h_omega: f64,
    },
    /// The exact flow was asked for over more turns than can be followed.
    #[error(
        "the body turns by up to {angle} rad in one flight, at most {limit} can be followed: shorter flights or slower spins are needed"
    )]
    FlightTooLong {
        /// Bound of the angle (rad).
        angle: f64,
        /// Largest angle that is followed (rad).
        limit: f64,
    },
    /// A number that describes a segment of an embedded trajectory makes no sense.
    #[error("{what}, not {value}")]
    BadEmbedding {
        /// The requirement.
        what: &'static str,
        /// The value given.
        value: f64,
    },
    /// A segment of an embedded trajectory does not start where the one before it ends.
    #[error("{what} jumps by {gap:e} between two segments")]
    Discontinuous {
        /// `configuration` or `velocity`.
        what: &'static str,
        /// Largest difference of an entry; infinite for different lengths.
        gap: f64,
    },
    /// A trajectory was asked for a state that it does not have.
    #[error("{what} is {value}: the trajectory ends at {end}")]
    OutOfRange {
        /// `s` or `time`.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The end of the trajectory.
        end: f64,
    },
}

impl VariationalError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NonFinite { .. } => "non-finite",
            Self::BadStep { .. } => "bad-step",
            Self::BadDuration { .. } => "bad-duration",
            Self::StepTooLarge { .. } => "step-too-large",
            Self::FlightTooLong { .. } => "flight-too-long",
            Self::BadEmbedding { .. } => "bad-embedding",
            Self::Discontinuous { .. } => "discontinuous",
            Self::OutOfRange { .. } => "out-of-range",
        }
    }
}
