//! Errors of the flight of a body above a plane.

use carom_contact::ImpactError;
use carom_geometry::GeometryError;
use carom_variational::VariationalError;

/// Error of the motion of one rigid body above a plane: the motion was not started, or could not be continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CollisionError {
    /// The body overlaps the plane in the initial state.
    #[error("body starts {depth} below the plane")]
    InitialPenetration {
        /// Depth of the overlap (m): minus the gap $\Phi$.
        depth: f64,
    },
    /// The body is so far from the origin that rounding of its coordinates exceeds the accuracy that its contacts need.
    #[error(
        "coordinates of the body ({coordinate:e} m at time {time}) are rounded by {rounding:e} m, its contacts need {needed:e} m: place the origin nearer"
    )]
    CoarseCoordinates {
        /// Largest coordinate of the body, or distance of the plane from the origin (m).
        coordinate: f64,
        /// Rounding error of that coordinate (m).
        rounding: f64,
        /// Largest rounding error allowed (m).
        needed: f64,
        /// Time at which the coordinate was checked (s).
        time: f64,
    },
    /// Newton's restitution is not a number in \[0, 1\].
    #[error("restitution {value} must lie in [0, 1]")]
    BadRestitution {
        /// Restitution that was given.
        value: f64,
    },
    /// An option of a collider has a value outside its allowed range.
    #[error("{what} is {value}: it must be {allowed}")]
    InvalidOption {
        /// Name of the option.
        what: &'static str,
        /// Value given.
        value: f64,
        /// Allowed range, as text.
        allowed: &'static str,
    },
    /// The discrete-energy rule does not support this flight or this restitution.
    #[error(
        "the discrete-energy rule needs the second-order flight in uniform gravity and restitution 1"
    )]
    DiscreteEnergyUnavailable,
    /// The equation of the discrete energies has no solution at this impact: the gap rate is too small for the step length. A
    /// shorter step may have a solution.
    #[error("no impulse balances the discrete energy at the gap rate {gap_rate}")]
    NoDiscreteEnergyRoot {
        /// Gap rate before the impact (m/s).
        gap_rate: f64,
    },
    /// The search for the first contact exceeded its evaluation limit.
    #[error("first contact not isolated within {limit} evaluations at time {time}")]
    ContactSearchLimit {
        /// Largest number of evaluations allowed.
        limit: usize,
        /// Time within the step that the search reached (s).
        time: f64,
    },
    /// One step has more impacts than allowed.
    #[error("more than {limit} impacts in the step at time {time}")]
    EventLimit {
        /// Largest number of impacts allowed in one step.
        limit: usize,
        /// Time of the last impact (s).
        time: f64,
    },
    /// A step length, a duration or a state is invalid, or a flight could not be computed.
    #[error(transparent)]
    Flight(#[from] VariationalError),
    /// A shape, an inertia or a plane is invalid.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A simultaneous impact could not be resolved.
    #[error(transparent)]
    Impact(#[from] ImpactError),
}

impl CollisionError {
    /// Returns the identifier of this error in machine-readable reports: the variant's name in kebab case, for example
    /// `event-limit`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::InitialPenetration { .. } => "initial-penetration",
            Self::CoarseCoordinates { .. } => "coarse-coordinates",
            Self::BadRestitution { .. } => "bad-restitution",
            Self::InvalidOption { .. } => "invalid-option",
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
