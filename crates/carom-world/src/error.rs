//! Errors of building a world and of its motion.

use carom_contact::ImpactError;
use carom_geometry::GeometryError;
use carom_variational::VariationalError;

/// Error of a simulation of rigid bodies (a world, or jointed bodies): it was not built, or the motion could not be
/// continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MotionError {
    /// The joints are invalid, or a step of jointed bodies failed.
    #[error(transparent)]
    Joint(carom_joints::JointError),
    /// A number of the input is outside its allowed range.
    #[error("{what} {value} must be {allowed}")]
    InvalidValue {
        /// Name of the quantity, with the name of the body or plane.
        what: String,
        /// Value that was given.
        value: f64,
        /// Allowed range of the quantity.
        allowed: &'static str,
    },
    /// Two bodies or planes, or two joints, have one name.
    #[error("name `{name}` must be unique among {among}")]
    DuplicateName {
        /// Name that is given twice.
        name: String,
        /// Kind of things with names: bodies and planes, or joints.
        among: &'static str,
    },
    /// A pair with its own friction and restitution is no pair of bodies and planes, or is listed twice.
    #[error("pair [{}, {}] must be {allowed}", pair[0], pair[1])]
    InvalidPair {
        /// Indices that were given: bodies are counted first, then planes.
        pair: [usize; 2],
        /// Description of the pairs that are allowed.
        allowed: String,
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
        /// Reason for which the shape cannot be used.
        source: GeometryError,
    },
    /// The impact law for single contacts, or the one for several, finds no solution.
    #[error("impact at time {time}: {source}")]
    Impact {
        /// Time of the impact (s).
        time: f64,
        /// Error of the impact law.
        source: ImpactError,
    },
    /// The free flight of a body could not be computed.
    #[error("flight of `{body}` at time {time}: {source}")]
    Flight {
        /// Name of the body.
        body: String,
        /// Time at the start of the flight (s).
        time: f64,
        /// Error of the integrator.
        source: VariationalError,
    },
    /// A spring has no force, or a step is too long for it.
    #[error("springs at time {time}: {source}")]
    Spring {
        /// Time (s).
        time: f64,
        /// Reason.
        source: VariationalError,
    },
    /// The search for the first contact of a pair reached its limit of evaluations.
    #[error(
        "first contact of `{first}` and `{second}` not isolated within {limit} evaluations at time {time}; bodies that \
         turn or move by many of their radii in a step need a smaller one"
    )]
    ContactSearchLimit {
        /// Name of the first body.
        first: String,
        /// Name of the second body or plane.
        second: String,
        /// Number of evaluations that were made.
        limit: usize,
        /// Time that the search reached (s).
        time: f64,
    },
    /// Too many impacts follow each other without time between them.
    #[error(
        "more than {limit} events at time {time}: no time passes between them. Where impacts accumulate, motion goes on \
         with `on_zeno` = \"rest\""
    )]
    EventLimit {
        /// Number of events that are allowed at one time.
        limit: usize,
        /// Time of these impacts (s).
        time: f64,
    },
    /// A body has very many impacts at several contacts within one time step.
    #[error(
        "`{body}` has more than {limit} impacts at several contacts within a time step, at time {time}: where impacts crowd, \
         motion goes on with `scheme` = \"time-stepping\""
    )]
    Crowded {
        /// Name of the body.
        body: String,
        /// Number of such impacts that are allowed within one time step.
        limit: usize,
        /// Time of the impact that exceeds this number (s).
        time: f64,
    },
    /// The forces of lasting contacts were not found for a step.
    #[error("forces of the lasting contacts not found at time {time}")]
    ContactForces {
        /// Time (s).
        time: f64,
    },
    /// The forces of lasting contacts were not found for a step within the work that it may take.
    #[error(
        "forces of the lasting contacts not found at time {time} within {limit} steps of their solver"
    )]
    ContactWork {
        /// Time (s).
        time: f64,
        /// Largest number of Newton steps of all kicks of a step.
        limit: u64,
    },
    /// With the given time step, a step of lasting contact would press bodies into each other or add energy. The caller has to
    /// use a shorter time step.
    #[error(
        "step of {time_step:e} s too large at time {time}: {fault}; {}", advice(*sufficient)
    )]
    StepTooLarge {
        /// Time at the start of the step (s).
        time: f64,
        /// Time step that was used (s).
        time_step: f64,
        /// A time step with which the motion would continue from there (s); `None` if none was found.
        sufficient: Option<f64>,
        /// Reason for which the step is too large.
        fault: StepFault,
    },
    /// A body is so far from the origin that rounding of its coordinates exceeds the accuracy that its contacts need. The caller
    /// can move the origin closer to the bodies.
    #[error(
        "coordinates of `{body}` ({coordinate:e} m at time {time}) are rounded by {rounding:e} m, its contacts need {needed:e} m: place the origin nearer"
    )]
    CoarseCoordinates {
        /// Name of the body.
        body: String,
        /// Largest coordinate of the body or of its contact partner (m).
        coordinate: f64,
        /// Rounding error of that coordinate (m).
        rounding: f64,
        /// Largest rounding error that is allowed (m).
        needed: f64,
        /// Time at which the coordinate was checked (s).
        time: f64,
    },
    /// The contact problem of a step was not solved: the best impulses found are not accurate enough to continue, or gain
    /// energy. A shorter time step may help.
    #[error(
        "step at time {time}: impulses of {n_contacts} contacts have the residual {residual:e} or gain energy; a smaller time_step would help"
    )]
    Inaccurate {
        /// Time at the start of the step (s).
        time: f64,
        /// Residual of the contact problem with the best impulses.
        residual: f64,
        /// Number of contact points of the island, the group of bodies connected by contacts.
        n_contacts: usize,
    },
    /// Error with which a run stopped, as it was told when the run was stored.
    #[error("{message}")]
    Told {
        /// Identifier of the error.
        kind: &'static str,
        /// Text of the error.
        message: String,
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
            Self::DuplicateName { .. } => "duplicate-name",
            Self::InvalidPair { .. } => "invalid-pair",
            Self::InitialPenetration { .. } => "initial-penetration",
            Self::Shape { source, .. } => source.kind(),
            Self::Impact { source, .. } => source.kind(),
            Self::Flight { source, .. } | Self::Spring { source, .. } => source.kind(),
            Self::ContactSearchLimit { .. } => "contact-search-limit",
            Self::EventLimit { .. } | Self::Crowded { .. } => "event-limit",
            Self::ContactForces { .. } | Self::ContactWork { .. } => "contact-forces",
            Self::StepTooLarge { .. } => "step-too-large",
            Self::CoarseCoordinates { .. } => "coarse-coordinates",
            Self::Inaccurate { .. } => "inaccurate",
            Self::NonFinite { .. } => "non-finite",
            Self::Told { kind, .. } => kind,
        }
    }
}

/// Reason for which a time step is rejected while bodies are in lasting contact (resting, sliding or rolling).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
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
    /// The errors of the steps so far have added more energy than is allowed.
    #[error("errors of the steps would add {energy:e} J, at most {most:e} J are of their order")]
    Gain {
        /// Energy that was added (J).
        energy: f64,
        /// Largest energy allowed (J): an amount that the order of the steps explains and that does not change the motion
        /// noticeably.
        most: f64,
    },
    /// The errors of the steps so far have removed more energy than is allowed, in addition to the losses by friction and at
    /// landing points.
    #[error("errors of the steps would take {energy:e} J, at most {most:e} J are of their order")]
    Loss {
        /// Energy that was removed (J).
        energy: f64,
        /// Largest energy allowed (J): an amount that the order of the steps explains and that does not change the motion
        /// noticeably.
        most: f64,
    },
}

/// Reason for which a session refuses a call, or stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The run stopped with this error.
    #[error(transparent)]
    Motion(#[from] MotionError),
    /// The session is finished.
    #[error("the session is finished")]
    Finished,
    /// The time lies before the present time of the session.
    #[error("time {time} s is before the session's time {now} s")]
    TimeBackwards {
        /// Present time of the session (s).
        now: f64,
        /// Time that was given (s).
        time: f64,
    },
    /// The time is not finite.
    #[error("time {time} is not finite")]
    NonFinite {
        /// Time that was given (s).
        time: f64,
    },
    /// A number of an input is not finite.
    #[error("an input has the number {value}, which is not finite")]
    NonFiniteInput {
        /// Number that was given.
        value: f64,
    },
    /// An input names a body that does not exist.
    #[error("there is no body {body}; the world has {n_bodies}")]
    UnknownBody {
        /// Index that was given.
        body: usize,
        /// Number of bodies.
        n_bodies: usize,
    },
    /// An input names a body or joint coordinate that does not exist.
    #[error("{what}: there is no `{name}`{hint}")]
    UnknownName {
        /// Kind of the thing.
        what: &'static str,
        /// Name that was given.
        name: String,
        /// Words about the nearest name, or empty.
        hint: String,
    },
    /// A value of an input is not allowed.
    #[error("{what}")]
    InvalidValue {
        /// Fault of the value.
        what: String,
    },
    /// An input names a joint coordinate that does not exist.
    #[error("there is no joint coordinate {coordinate}; the world has {n_coordinates}")]
    UnknownCoordinate {
        /// Index that was given.
        coordinate: usize,
        /// Number of coordinates.
        n_coordinates: usize,
    },
    /// A list of an input has another length.
    #[error("{found} {what} are given, not {expected}")]
    DimensionMismatch {
        /// Name of the items.
        what: &'static str,
        /// Length that is needed.
        expected: usize,
        /// Length that was given.
        found: usize,
    },
    /// A body cannot be set alone, because joints hold it.
    #[error("joints hold `{name}`: set their coordinates, or the state of all bodies")]
    JointedBody {
        /// Name of the body.
        name: String,
    },
    /// The coordinate has no actuator with a target.
    #[error("joint coordinate {coordinate} has no `pd` actuator")]
    NoTarget {
        /// Index of the coordinate.
        coordinate: usize,
    },
    /// The run has ended.
    #[error("the run has ended: {status}")]
    Ended {
        /// Name of the ending.
        status: &'static str,
    },
    /// A snapshot is cut, changed, or tells a state that its world cannot have.
    #[error("the snapshot is damaged: {what}")]
    SnapshotDamaged {
        /// Fault of the bytes.
        what: String,
    },
    /// A snapshot is one of another world, other laws or another seed.
    #[error("the snapshot is that of another session: {what} differs")]
    SnapshotForeign {
        /// Part that differs: `world`, `laws` or `seed`.
        what: &'static str,
    },
    /// A snapshot has another format, or was made with other numerics.
    #[error("the snapshot has format {} and numerics {}, these are {} and {}", versions[0], versions[1], own[0], own[1])]
    SnapshotVersion {
        /// Format and version of the numerics of the snapshot.
        versions: [u32; 2],
        /// Format and version of the numerics here.
        own: [u32; 2],
    },
    /// The session is to advance by no step.
    #[error("a session advances by at least one step")]
    NoSteps,
}

impl SessionError {
    /// Returns the stable identifier of this error, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Motion(error) => error.kind(),
            Self::Finished => "finished",
            Self::TimeBackwards { .. } => "time-backwards",
            Self::NonFinite { .. } | Self::NonFiniteInput { .. } => "non-finite",
            Self::UnknownName { .. }
            | Self::UnknownBody { .. }
            | Self::UnknownCoordinate { .. } => "unknown-name",
            Self::DimensionMismatch { .. } => "dimension-mismatch",
            Self::JointedBody { .. } => "jointed-body",
            Self::NoTarget { .. } => "no-target",
            Self::Ended { .. } => "ended",
            Self::SnapshotDamaged { .. } => "snapshot-damaged",
            Self::SnapshotForeign { .. } => "snapshot-foreign",
            Self::SnapshotVersion { .. } => "snapshot-version",
            Self::NoSteps | Self::InvalidValue { .. } => "invalid-value",
        }
    }
}
