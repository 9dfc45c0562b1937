//! Why a world was not built, or its motion stopped.

use carom_contact::ImpactError;
use carom_geometry::GeometryError;
use carom_variational::VariationalError;

/// Why a world was not built, or its motion could not be continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MotionError {
    /// Joints were refused, or a step with them was not made.
    #[error(transparent)]
    Joint(carom_joints::JointError),
    /// A number of the input makes no sense.
    #[error("{what} {value} must be {allowed}")]
    InvalidValue {
        /// The quantity, with the name of the body or plane.
        what: String,
        /// The value given.
        value: f64,
        /// The allowed range.
        allowed: &'static str,
    },
    /// Two bodies, or a body and a plane, overlap at the start.
    #[error("`{first}` and `{second}` overlap by {depth:e} at the start")]
    InitialPenetration {
        /// Name of the first.
        first: String,
        /// Name of the second.
        second: String,
        /// Depth (m).
        depth: f64,
    },
    /// The shape of a body cannot be used for contact with other bodies.
    #[error("shape of `{body}`: {source}")]
    Shape {
        /// Name of the body.
        body: String,
        /// Its fault.
        source: GeometryError,
    },
    /// The law for single contacts, or the one for several, cannot resolve an impact.
    #[error("impact at time {time}: {source}")]
    Impact {
        /// Time (s).
        time: f64,
        /// Its fault.
        source: ImpactError,
    },
    /// A flight could not be computed.
    #[error("flight of `{body}` at time {time}: {source}")]
    Flight {
        /// Name of the body.
        body: String,
        /// Time at its start (s).
        time: f64,
        /// Its fault.
        source: VariationalError,
    },
    /// The first contact of a pair was not found.
    #[error(
        "first contact of `{first}` and `{second}` not isolated within {limit} evaluations at time {time}; bodies that \
         turn or move by many of their radii in a step need a smaller one"
    )]
    ContactSearchLimit {
        /// Name of the first.
        first: String,
        /// Name of the second.
        second: String,
        /// Evaluations made.
        limit: usize,
        /// Time reached (s).
        time: f64,
    },
    /// Impacts follow on each other without time to pass between them.
    #[error(
        "more than {limit} events at time {time}: no time passes between them. Where impacts accumulate, motion goes on \
         with `on_zeno` = \"rest\""
    )]
    EventLimit {
        /// Events allowed.
        limit: usize,
        /// Time (s).
        time: f64,
    },
    /// The forces of lasting contacts were not found.
    #[error("forces of the lasting contacts not found at time {time}")]
    ContactForces {
        /// Time (s).
        time: f64,
    },
    /// A step of lasting contact would press bodies through each other, or give them energy: it is too large for
    /// their size and acceleration.
    #[error(
        "step of {time_step:e} s too large at time {time}: {fault}; {}", advice(*sufficient)
    )]
    StepTooLarge {
        /// Time at the start of the step (s).
        time: f64,
        /// Step of the grid (s).
        time_step: f64,
        /// A step that would do there (s); `None` if none was found.
        sufficient: Option<f64>,
        /// Why the step is too large.
        fault: StepFault,
    },
    /// A body is so far from the origin that its coordinates cannot tell its contacts.
    #[error(
        "coordinates of `{body}` ({coordinate:e} m at time {time}) are rounded by {rounding:e} m, its contacts need {needed:e} m: place the origin nearer"
    )]
    CoarseCoordinates {
        /// Name of the body.
        body: String,
        /// Its largest coordinate, or that of what it touches (m).
        coordinate: f64,
        /// Rounding of that (m).
        rounding: f64,
        /// Rounding that is allowed (m).
        needed: f64,
        /// Time (s).
        time: f64,
    },
    /// The problem of a step has no answer within reach, and its best impulses are not accurate enough to go on.
    #[error(
        "step at time {time}: impulses of {n_contacts} contacts have the residual {residual:e}; a smaller time_step would help"
    )]
    Inaccurate {
        /// Time at the start of the step (s).
        time: f64,
        /// Residual of the best impulses.
        residual: f64,
        /// Contact points of the island.
        n_contacts: usize,
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

/// Words about the step that would do.
fn advice(sufficient: Option<f64>) -> String {
    match sufficient {
        Some(step) => format!("a step of {step:e} s would do"),
        None => "no step was found that would do".to_owned(),
    }
}

impl MotionError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Joint(error) => error.kind(),
            Self::InvalidValue { .. } => "invalid-value",
            Self::InitialPenetration { .. } => "initial-penetration",
            Self::Shape { source, .. } => source.kind(),
            Self::Impact { source, .. } => source.kind(),
            Self::Flight { source, .. } => source.kind(),
            Self::ContactSearchLimit { .. } => "contact-search-limit",
            Self::EventLimit { .. } => "event-limit",
            Self::ContactForces { .. } => "contact-forces",
            Self::StepTooLarge { .. } => "step-too-large",
            Self::CoarseCoordinates { .. } => "coarse-coordinates",
            Self::Inaccurate { .. } => "inaccurate",
            Self::NonFinite { .. } => "non-finite",
        }
    }
}

/// Result of a step of lasting contact that must not be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepFault {
    /// Two things overlap at its end.
    #[error("`{first}` and `{second}` would overlap by {depth:e} m")]
    Overlap {
        /// Name of the first.
        first: String,
        /// Name of the second.
        second: String,
        /// Depth (m).
        depth: f64,
    },
    /// The errors of the steps so far would add energy.
    #[error("errors of the steps would add {energy:e} J, at most {most:e} J are of their order")]
    Gain {
        /// Energy added (J).
        energy: f64,
        /// Energy that the order of the step explains, and that leaves the motion what it is (J).
        most: f64,
    },
    /// The errors of the steps so far would take energy that neither friction nor landing points take.
    #[error("errors of the steps would take {energy:e} J, at most {most:e} J are of their order")]
    Loss {
        /// Energy taken (J).
        energy: f64,
        /// Energy that the order of the step explains, and that leaves the motion what it is (J).
        most: f64,
    },
}
