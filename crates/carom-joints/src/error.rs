//! Errors of joints and of steps with joints.

use carom_variational::VariationalError;

/// Error of the joint model: a joint specification is invalid, the joints cannot be assembled, or a time step with them
/// failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JointError {
    /// A number of the joint's specification is outside its allowed range. The caller has to correct the number.
    #[error("joint `{joint}`: {what} {value} must be {allowed}")]
    InvalidValue {
        /// Name of the joint.
        joint: String,
        /// Key of the number in the configuration file.
        what: &'static str,
        /// Value of the number.
        value: f64,
        /// Allowed range.
        allowed: String,
    },
    /// Directions or lists of the joint's specification do not fit the type of the joint.
    #[error("joint `{joint}`: {what} {problem}")]
    InvalidKey {
        /// Name of the joint.
        joint: String,
        /// Key of the faulty entry in the configuration file.
        what: &'static str,
        /// Description of the fault.
        problem: String,
    },
    /// The start of the motion has not one entry per body.
    #[error("placed has {found} entries where {expected} are needed, one per body")]
    WrongPlaces {
        /// Number of bodies.
        expected: usize,
        /// Number of entries given.
        found: usize,
    },
    /// Neither a position nor a joint determines the place of a body at the start.
    #[error(
        "body `{body}` has no position, and no joint places it: give its position, or a joint that connects it to a placed body"
    )]
    NotPlaced {
        /// Name of the body without a place.
        body: String,
    },
    /// The bodies do not fit together at the start: their places or velocities contradict a joint. The caller has to correct
    /// these, or leave out those that joints determine.
    #[error(
        "joint `{joint}` is not assembled: {what} {residual:e} {unit}, at most {allowed:e} is closed"
    )]
    NotAssembled {
        /// Name of the joint.
        joint: String,
        /// Quantity that does not fit: `residual`, `rate`, `velocity` or `position off by`.
        what: &'static str,
        /// Value of that quantity.
        residual: f64,
        /// Unit of the value.
        unit: &'static str,
        /// Largest value that is accepted as closed.
        allowed: f64,
    },
    /// The contact impulses of a time step were not found. A shorter time step may help.
    #[error("forces of the contacts not found at time {time}; a smaller time_step may help")]
    ContactForces {
        /// Time at the start of the step (s).
        time: f64,
    },
    /// The Jacobian rows of the joints are linearly dependent, so that no finite impulses keep the joints closed.
    #[error(
        "joint `{joint}` is singular at time {time}: no finite forces keep the joints together"
    )]
    SingularJoints {
        /// Name of a joint with dependent rows.
        joint: String,
        /// Time at which the joints are singular (s).
        time: f64,
    },
    /// The Jacobian rows of the joints in a loop are linearly dependent, and their conditions contradict each other.
    #[error(
        "joint `{joint}` contradicts the other joints of its loop at time {time}: residual {residual:e}"
    )]
    InconsistentJoints {
        /// Name of the joint that contradicts the others.
        joint: String,
        /// Time at which the contradiction was found (s).
        time: f64,
        /// Residual of a condition that the other conditions should imply; a residual that is a length is divided by the size of
        /// the system.
        residual: f64,
    },
    /// The time step is too large: the iteration for the joint impulses at the start of the step does not converge, or a spring
    /// is too stiff. The caller has to use a shorter time step.
    #[error("joint `{joint}`: step {step} s is too large at time {time}, {reason}")]
    StepTooLarge {
        /// Name of the joint with the largest residual, or of the joint whose spring is too stiff.
        joint: String,
        /// Length of the step (s).
        step: f64,
        /// Time at the start of the step (s).
        time: f64,
        /// Reason, in words.
        reason: String,
    },
    /// The force of an actuator is not finite. The caller can limit the force with `limit`.
    #[error(
        "joint `{joint}`: its actuator has no finite force at time {time}; `limit` bounds large ones"
    )]
    ActuatorForce {
        /// Name of the joint that the actuator drives.
        joint: String,
        /// Time of the infinite or undefined force (s).
        time: f64,
    },
    /// A force on a body has no value.
    #[error("`{body}` at time {time}: {source}")]
    Force {
        /// Name of the body.
        body: String,
        /// Time at which the force was asked (s).
        time: f64,
        /// Reason.
        source: VariationalError,
    },
    /// A spring has no force.
    #[error("springs at time {time}: {source}")]
    Spring {
        /// Time (s).
        time: f64,
        /// Reason.
        source: VariationalError,
    },
    /// The free flight of a body could not be computed.
    #[error("flight of `{body}`: {source}")]
    Flight {
        /// Name of the body.
        body: String,
        /// Error of the integrator.
        source: VariationalError,
    },
    /// The state of a body is infinite or not a number.
    #[error("the state of `{body}` is not finite at time {time}")]
    NonFinite {
        /// Name of the body.
        body: String,
        /// Time at which this was found (s).
        time: f64,
    },
}

impl JointError {
    /// Returns the identifier of this error in machine-readable reports: the variant's name in kebab case, for
    /// example `not-assembled`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidValue { .. } => "invalid-value",
            Self::InvalidKey { .. } => "invalid-key",
            Self::WrongPlaces { .. } => "wrong-places",
            Self::NotPlaced { .. } => "not-placed",
            Self::NotAssembled { .. } => "not-assembled",
            Self::ContactForces { .. } => "contact-forces",
            Self::SingularJoints { .. } => "singular-joints",
            Self::InconsistentJoints { .. } => "inconsistent-joints",
            Self::StepTooLarge { .. } => "step-too-large",
            Self::ActuatorForce { .. } => "actuator-force",
            Self::Flight { source, .. }
            | Self::Force { source, .. }
            | Self::Spring { source, .. } => source.kind(),
            Self::NonFinite { .. } => "non-finite",
        }
    }
}
