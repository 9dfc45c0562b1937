//! Errors of motion between impacts.

/// Error of a variational integrator: a flight, a time step, a time grid or a time embedding could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VariationalError {
    /// A number is NaN or infinite.
    #[error("{what} has a non-finite entry")]
    NonFinite {
        /// Name of the quantity, as in the caller's arguments.
        what: &'static str,
    },
    /// The time step is not positive and finite.
    #[error("time step {time_step} must be positive and finite")]
    BadStep {
        /// Time step given (s).
        time_step: f64,
    },
    /// The duration is negative, not finite, or has too many steps.
    #[error("duration {duration} must be at least 0 and at most 1e15 steps")]
    BadDuration {
        /// Duration given (s).
        duration: f64,
    },
    /// The discrete equation of rotation has no solution near the identity for this step. Choose a shorter time step.
    #[error(
        "step too large: the body turns by {h_omega} rad in one, at most 1 can be solved (0.3 recommended)"
    )]
    StepTooLarge {
        /// Time step times angular velocity, $h\lvert J^{-1}\Pi\rvert$ (rad).
        h_omega: f64,
    },
    /// The body turns by too large an angle during one exact flight. Divide the flight into shorter ones.
    #[error(
        "the body turns by up to {angle} rad in one flight, at most {limit} can be followed: shorter flights or slower spins are needed"
    )]
    FlightTooLong {
        /// Upper bound of the angle (rad).
        angle: f64,
        /// Largest angle allowed in one flight (rad).
        limit: f64,
    },
    /// A force or torque that is given by a formula has no finite value.
    #[error("a force or torque has no finite value at time {time}")]
    ForceNotFinite {
        /// Time at which the formula was asked (s).
        time: f64,
    },
    /// A force that depends on the velocity has no value that agrees with the velocity after it. Choose a shorter time step.
    #[error("no velocity agrees with the forces that depend on it in a step of {step:e} s")]
    ForceNotSettled {
        /// Length of the step (s).
        step: f64,
    },
    /// The points of a spring with a positive slack length have met: its force has no direction there.
    #[error(
        "the points of spring `{spring}` meet at time {time}: its force has no direction there; let its points lie apart, or set `length` = 0"
    )]
    SpringCollapsed {
        /// Name of the spring.
        spring: String,
        /// Time (s).
        time: f64,
    },
    /// A step is too long for the springs of a body: $h\omega \ge 2$ with the largest angular frequency $\omega$.
    #[error(
        "step of {step:e} s too large for spring `{spring}`: steps below {limit:e} s are stable, a tenth of that is accurate"
    )]
    SpringTooStiff {
        /// Name of the spring with the highest frequency.
        spring: String,
        /// Length of the step (s).
        step: f64,
        /// Length below which steps are stable (s).
        limit: f64,
    },
    /// A number that describes a piece of a time embedding (the curve of a motion with impacts) is invalid.
    #[error("{what}, not {value}")]
    BadEmbedding {
        /// Requirement that is not met.
        what: &'static str,
        /// Value given.
        value: f64,
    },
    /// A piece of a time embedding (the curve of a motion with impacts) does not start at the end of the previous piece.
    #[error("{what} jumps by {gap:e} between two segments")]
    Discontinuous {
        /// Name of the quantity: `configuration` or `velocity`.
        what: &'static str,
        /// Largest absolute difference of an entry; infinite for different lengths.
        gap: f64,
    },
    /// The requested time or curve parameter is outside the time embedding.
    #[error("{what} is {value}: the trajectory ends at {end}")]
    OutOfRange {
        /// Name of the parameter: `s` or `time`.
        what: &'static str,
        /// Value given.
        value: f64,
        /// Value at the end of the trajectory.
        end: f64,
    },
}

impl VariationalError {
    /// Returns the stable kebab-case identifier of the error variant for machine-readable reports, for example
    /// `step-too-large`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NonFinite { .. } => "non-finite",
            Self::BadStep { .. } => "bad-step",
            Self::BadDuration { .. } => "bad-duration",
            Self::StepTooLarge { .. }
            | Self::ForceNotSettled { .. }
            | Self::SpringTooStiff { .. } => "step-too-large",
            Self::SpringCollapsed { .. } => "spring-collapsed",
            Self::ForceNotFinite { .. } => "actuator-force",
            Self::FlightTooLong { .. } => "flight-too-long",
            Self::BadEmbedding { .. } => "bad-embedding",
            Self::Discontinuous { .. } => "discontinuous",
            Self::OutOfRange { .. } => "out-of-range",
        }
    }
}
