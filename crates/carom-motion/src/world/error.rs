//! Why a world was not built, or its motion stopped.

use carom_geometry::GeometryError;
use carom_impact::ImpactError;
use carom_variational::VariationalError;

/// Why a world was not built, or its motion could not be continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MotionError {
    /// A number of the input makes no sense.
    #[error("{what} {value} must be {allowed}")]
    InvalidValue {
        /// The quantity, with the name of the body or plane.
        what: String,
        /// The value given.
        value: f64,
        /// What is allowed.
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
        /// What is wrong with it.
        source: GeometryError,
    },
    /// The law for single contacts, or the one for several, cannot resolve an impact.
    #[error("impact at time {time}: {source}")]
    Impact {
        /// Time (s).
        time: f64,
        /// What is wrong with it.
        source: ImpactError,
    },
    /// A flight could not be computed.
    #[error("flight of `{body}` at time {time}: {source}")]
    Flight {
        /// Name of the body.
        body: String,
        /// Time at its start (s).
        time: f64,
        /// What is wrong with it.
        source: VariationalError,
    },
    /// The first contact of a pair was not found.
    #[error(
        "first contact of `{first}` and `{second}` not isolated within {limit} evaluations at time {time}"
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
    #[error("more than {limit} events at time {time}")]
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
    /// The motion has left the range of numbers.
    #[error("the state of `{body}` is not finite at time {time}")]
    NonFinite {
        /// Name of the body.
        body: String,
        /// Time (s).
        time: f64,
    },
}

impl MotionError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InvalidValue { .. } => "invalid-value",
            Self::InitialPenetration { .. } => "initial-penetration",
            Self::Shape { source, .. } => source.kind(),
            Self::Impact { source, .. } => source.kind(),
            Self::Flight { source, .. } => source.kind(),
            Self::ContactSearchLimit { .. } => "contact-search-limit",
            Self::EventLimit { .. } => "event-limit",
            Self::ContactForces { .. } => "contact-forces",
            Self::NonFinite { .. } => "non-finite",
        }
    }
}
