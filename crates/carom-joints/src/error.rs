//! Why joints were refused, or a step with them was not made.

use carom_variational::VariationalError;

/// Why joints were refused, or a step with them was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JointError {
    /// A number of the input makes no sense.
    #[error("joint `{joint}`: {what} {value} must be {allowed}")]
    InvalidValue {
        /// Name of the joint.
        joint: String,
        /// Key of the number.
        what: &'static str,
        /// The number.
        value: f64,
        /// Values that make sense.
        allowed: String,
    },
    /// Directions or lists that do not fit the type.
    #[error("joint `{joint}`: {what} {problem}")]
    InvalidKey {
        /// Name of the joint.
        joint: String,
        /// The key.
        what: &'static str,
        /// The fault.
        problem: String,
    },
    /// No joint and no position says where a body is.
    #[error(
        "body `{body}` has no position, and no joint places it: give its position, or a joint that connects it to a placed body"
    )]
    NotPlaced {
        /// Name of the body.
        body: String,
    },
    /// The parts do not fit together at the start.
    #[error(
        "joint `{joint}` is not assembled: {what} {residual:e} {unit}, at most {allowed:e} is closed"
    )]
    NotAssembled {
        /// Name of the joint.
        joint: String,
        /// `residual`, `rate` or `position`.
        what: &'static str,
        /// Largest of them.
        residual: f64,
        /// Its unit.
        unit: &'static str,
        /// Residual up to which the start is closed.
        allowed: f64,
    },
    /// No impulses at the contacts of a step were found.
    #[error("forces of the contacts not found at time {time}; a smaller time_step may help")]
    ContactForces {
        /// Time at the start of the step (s).
        time: f64,
    },
    /// The rows of joints have lost rank, and no impulses hold them.
    #[error(
        "joint `{joint}` is singular at time {time}: no finite forces keep the joints together"
    )]
    SingularJoints {
        /// Name of the joint.
        joint: String,
        /// Time (s).
        time: f64,
    },
    /// Redundant rows ask for what the others forbid.
    #[error(
        "joint `{joint}` contradicts the other joints of its loop at time {time}: residual {residual:e}"
    )]
    InconsistentJoints {
        /// Name of the joint.
        joint: String,
        /// Time (s).
        time: f64,
        /// Residual of a row that the others should imply, against the size.
        residual: f64,
    },
    /// The step cannot be made.
    #[error("joint `{joint}`: step {step} s is too large at time {time}, {reason}")]
    StepTooLarge {
        /// Name of a joint.
        joint: String,
        /// The step (s).
        step: f64,
        /// Time (s).
        time: f64,
        /// Bound of the step.
        reason: String,
    },
    /// An actuator gives no finite force.
    #[error(
        "joint `{joint}`: its actuator has no finite force at time {time}; `limit` bounds large ones"
    )]
    ActuatorForce {
        /// Name of the joint.
        joint: String,
        /// Time (s).
        time: f64,
    },
    /// A body's flight could not be computed.
    #[error("flight of `{body}`: {source}")]
    Flight {
        /// Name of the body.
        body: String,
        /// The fault.
        source: VariationalError,
    },
    /// The motion has left the range of numbers.
    #[error("the state of `{body}` is not finite at time {time}")]
    NonFinite {
        /// Name of the body.
        body: String,
        /// Time (s).
        time: f64,
    },
}

impl JointError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidValue { .. } => "invalid-value",
            Self::InvalidKey { .. } => "invalid-key",
            Self::NotPlaced { .. } => "not-placed",
            Self::NotAssembled { .. } => "not-assembled",
            Self::ContactForces { .. } => "contact-forces",
            Self::SingularJoints { .. } => "singular-joints",
            Self::InconsistentJoints { .. } => "inconsistent-joints",
            Self::StepTooLarge { .. } => "step-too-large",
            Self::ActuatorForce { .. } => "actuator-force",
            Self::Flight { source, .. } => source.kind(),
            Self::NonFinite { .. } => "non-finite",
        }
    }
}
