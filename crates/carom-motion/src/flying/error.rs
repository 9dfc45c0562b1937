//! Why a body's flight above a plane was not begun, or stopped.

use carom_contact::ImpactError;
use carom_geometry::GeometryError;
use carom_variational::VariationalError;

/// Why a run of one body above a plane was not begun, or could not be continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CollisionError {
    /// The body begins below the plane.
    #[error("body starts {depth} below the plane")]
    InitialPenetration {
        /// Depth $-\Phi$ (m).
        depth: f64,
    },
    /// The body is so far from the origin that its coordinates cannot tell its contacts.
    #[error(
        "coordinates of the body ({coordinate:e} m at time {time}) are rounded by {rounding:e} m, its contacts need {needed:e} m: place the origin nearer"
    )]
    CoarseCoordinates {
        /// Its largest coordinate, or the plane's distance from the origin (m).
        coordinate: f64,
        /// Rounding of that (m).
        rounding: f64,
        /// Rounding that is allowed (m).
        needed: f64,
        /// Time (s).
        time: f64,
    },
    /// Newton's restitution is a number in \[0, 1\].
    #[error("restitution {value} must lie in [0, 1]")]
    BadRestitution {
        /// Value given.
        value: f64,
    },
    /// The discrete-energy rule needs what this flight or restitution does not have.
    #[error(
        "the discrete-energy rule needs the second-order flight in uniform gravity and restitution 1"
    )]
    DiscreteEnergyUnavailable,
    /// The discrete energy has no balance across this impact: it grazes too much for the step.
    #[error("no impulse balances the discrete energy at the gap rate {gap_rate}")]
    NoDiscreteEnergyRoot {
        /// Gap rate before the impact (m/s).
        gap_rate: f64,
    },
    /// The search for the first contact did not end.
    #[error("first contact not isolated within {limit} evaluations at time {time}")]
    ContactSearchLimit {
        /// Evaluations made.
        limit: usize,
        /// Time within the step (s).
        time: f64,
    },
    /// Impacts do not end within a step.
    #[error("more than {limit} impacts in the step at time {time}")]
    EventLimit {
        /// Impacts allowed.
        limit: usize,
        /// Time of the last one (s).
        time: f64,
    },
    /// A step, a duration or a state is at fault, or a flight could not be computed.
    #[error(transparent)]
    Flight(#[from] VariationalError),
    /// A shape, an inertia or a plane is at fault.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A simultaneous impact could not be resolved.
    #[error(transparent)]
    Impact(#[from] ImpactError),
}

impl CollisionError {
    /// The variant as a stable kebab-case identifier, for reports that machines read.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InitialPenetration { .. } => "initial-penetration",
            Self::CoarseCoordinates { .. } => "coarse-coordinates",
            Self::BadRestitution { .. } => "bad-restitution",
            Self::DiscreteEnergyUnavailable => "discrete-energy-unavailable",
            Self::NoDiscreteEnergyRoot { .. } => "no-discrete-energy-root",
            Self::ContactSearchLimit { .. } => "contact-search-limit",
            Self::EventLimit { .. } => "event-limit",
            Self::Flight(error) => error.kind(),
            Self::Geometry(error) => error.kind(),
            Self::Impact(error) => error.kind(),
        }
    }
}
