//! Errors of building a world and of its motion.

use carom_contact::ImpactError;
use carom_geometry::GeometryError;
use carom_variational::VariationalError;

/// Error of a simulation of rigid bodies (a world, or jointed bodies): it was not built, or the motion could not be
/// continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MotionError {
    /// The joints are invalid, or a step with joints failed.
    #[error(transparent)]
    Joint(carom_joints::JointError),
    /// A number of the input is outside its allowed range.
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
        /// Name of the first body.
        first: String,
        /// Name of the second body or plane.
        second: String,
        /// Depth of the overlap (m).
        depth: f64,
    },
    /// The shape of a body cannot be used for contact with other bodies.
    #[error("shape of `{body}`: {source}")]
    Shape {
        /// Name of the body.
        body: String,
        /// Reason.
        source: GeometryError,
    },
    /// The impact law for single contacts, or the one for several, finds no solution.
    #[error("impact at time {time}: {source}")]
    Impact {
        /// Time (s).
        time: f64,
        /// Reason.
        source: ImpactError,
    },
    /// The free flight of a body could not be computed.
    #[error("flight of `{body}` at time {time}: {source}")]
    Flight {
        /// Name of the body.
        body: String,
        /// Time at the start of the flight (s).
        time: f64,
        /// Reason.
        source: VariationalError,
    },
    /// The first contact of a pair was not found.
    #[error(
        "first contact of `{first}` and `{second}` not isolated within {limit} evaluations at time {time}; bodies that \
         turn or move by many of their radii in a step need a smaller one"
    )]
    ContactSearchLimit {
        /// Name of the first body.
        first: String,
        /// Name of the second body or plane.
        second: String,
        /// Number of evaluations made.
        limit: usize,
        /// Time reached (s).
        time: f64,
    },
    /// Impacts follow each other without time between them.
    #[error(
        "more than {limit} events at time {time}: no time passes between them. Where impacts accumulate, motion goes on \
         with `on_zeno` = \"rest\""
    )]
    EventLimit {
        /// Number of events allowed.
        limit: usize,
        /// Time (s).
        time: f64,
    },
    /// A body has very many impacts at several contacts within one time step.
    #[error(
        "`{body}` has more than {limit} impacts at several contacts within a time step, at time {time}: where impacts crowd, \
         motion goes on with `scheme` = \"time-stepping\""
    )]
    Crowded {
        /// Body.
        body: String,
        /// Number of impacts allowed.
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
    /// A step of lasting contact would press bodies through each other, or add energy: the time step is too large for their size
    /// and acceleration.
    #[error(
        "step of {time_step:e} s too large at time {time}: {fault}; {}", advice(*sufficient)
    )]
    StepTooLarge {
        /// Time at the start of the step (s).
        time: f64,
        /// Step of the grid (s).
        time_step: f64,
        /// A time step that is sufficient there (s); `None` if none was found.
        sufficient: Option<f64>,
        /// Reason for which the step is too large.
        fault: StepFault,
    },
    /// A body is so far from the origin that its coordinates do not resolve its contacts.
    #[error(
        "coordinates of `{body}` ({coordinate:e} m at time {time}) are rounded by {rounding:e} m, its contacts need {needed:e} m: place the origin nearer"
    )]
    CoarseCoordinates {
        /// Name of the body.
        body: String,
        /// Largest coordinate of the body or of its contact partner (m).
        coordinate: f64,
        /// Rounding of that coordinate (m).
        rounding: f64,
        /// Largest rounding allowed (m).
        needed: f64,
        /// Time (s).
        time: f64,
    },
    /// The contact problem of a step has no solution that can be found, and the best impulses are not accurate enough to
    /// continue.
    #[error(
        "step at time {time}: impulses of {n_contacts} contacts have the residual {residual:e}; a smaller time_step would help"
    )]
    Inaccurate {
        /// Time at the start of the step (s).
        time: f64,
        /// Residual of the best impulses.
        residual: f64,
        /// Number of contact points of the island.
        n_contacts: usize,
    },
    /// The state of a body is not finite.
    #[error("the state of `{body}` is not finite at time {time}")]
    NonFinite {
        /// Name of the body.
        body: String,
        /// Time (s).
        time: f64,
    },
}

/// Returns the part of an error message that names a sufficient time step (s), or says that none was found if `sufficient` is
/// `None`.
fn advice(sufficient: Option<f64>) -> String {
    match sufficient {
        Some(step) => format!("a step of {step:e} s would do"),
        None => "no step was found that would do".to_owned(),
    }
}

impl MotionError {
    /// Returns the identifier of this error in machine-readable reports: the variant's name in kebab case, for example
    /// `event-limit`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Joint(error) => error.kind(),
            Self::InvalidValue { .. } => "invalid-value",
            Self::InitialPenetration { .. } => "initial-penetration",
            Self::Shape { source, .. } => source.kind(),
            Self::Impact { source, .. } => source.kind(),
            Self::Flight { source, .. } => source.kind(),
            Self::ContactSearchLimit { .. } => "contact-search-limit",
            Self::EventLimit { .. } | Self::Crowded { .. } => "event-limit",
            Self::ContactForces { .. } => "contact-forces",
            Self::StepTooLarge { .. } => "step-too-large",
            Self::CoarseCoordinates { .. } => "coarse-coordinates",
            Self::Inaccurate { .. } => "inaccurate",
            Self::NonFinite { .. } => "non-finite",
        }
    }
}

/// Reason for which a time step is rejected while bodies are in lasting contact (resting, sliding or rolling).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepFault {
    /// A pair overlaps at the end of the step.
    #[error("`{first}` and `{second}` would overlap by {depth:e} m")]
    Overlap {
        /// Name of the first body.
        first: String,
        /// Name of the second body or plane.
        second: String,
        /// Depth of the overlap (m).
        depth: f64,
    },
    /// The errors of the steps so far would add too much energy.
    #[error("errors of the steps would add {energy:e} J, at most {most:e} J are of their order")]
    Gain {
        /// Energy added (J).
        energy: f64,
        /// Largest energy that the order of the steps explains and that does not change the motion noticeably (J).
        most: f64,
    },
    /// The errors of the steps so far would remove too much energy, beyond friction and landing points.
    #[error("errors of the steps would take {energy:e} J, at most {most:e} J are of their order")]
    Loss {
        /// Energy removed (J).
        energy: f64,
        /// Largest energy that the order of the steps explains and that does not change the motion noticeably (J).
        most: f64,
    },
}
