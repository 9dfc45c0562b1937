//! Why a motion could not be computed.

use carom_geometry::GeometryError;
use carom_impact::ImpactError;

/// Why a step or a run was not completed. Endings that mechanics allows are a
/// [`RunStatus`](crate::RunStatus) instead.
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
    /// The body begins below the plane.
    #[error("body starts {depth} below the plane")]
    InitialPenetration {
        /// Depth $-\Phi$ (m).
        depth: f64,
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
    /// A number that describes a segment of an embedded trajectory makes no sense.
    #[error("{what}, not {value}")]
    BadEmbedding {
        /// What is required.
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
    /// A shape, an inertia or a plane is at fault.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A simultaneous impact could not be resolved.
    #[error(transparent)]
    Impact(#[from] ImpactError),
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
            Self::InitialPenetration { .. } => "initial-penetration",
            Self::BadRestitution { .. } => "bad-restitution",
            Self::DiscreteEnergyUnavailable => "discrete-energy-unavailable",
            Self::NoDiscreteEnergyRoot { .. } => "no-discrete-energy-root",
            Self::ContactSearchLimit { .. } => "contact-search-limit",
            Self::EventLimit { .. } => "event-limit",
            Self::BadEmbedding { .. } => "bad-embedding",
            Self::Discontinuous { .. } => "discontinuous",
            Self::OutOfRange { .. } => "out-of-range",
            Self::Geometry(error) => error.kind(),
            Self::Impact(error) => error.kind(),
        }
    }
}
