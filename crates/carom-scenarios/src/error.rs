//! Errors of scenarios.

use carom_contact::ImpactError;
use carom_impact::two_body::TwoBodyError;
use carom_mechanism::{DesignError, MechanismError};
use carom_motion::billiard::BilliardError;
use carom_motion::flying::CollisionError;
use carom_motion::generalized::IntegratorError;
use carom_variational::VariationalError;

/// Reason why a scenario (a named, configurable run) could not run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The configuration is invalid.
    #[error("{message}")]
    Config {
        /// Fault of the configuration, with the key and, for a file, the line and column.
        message: String,
    },
    /// The value of a key is invalid.
    #[error("key `{key}`: {message}")]
    Key {
        /// Path of the key, as in `body.shape.parts[1]`.
        key: String,
        /// Fault of the value.
        message: String,
    },
    /// An impact could not be set up or resolved.
    #[error(transparent)]
    Impact(#[from] ImpactError),
    /// A flight could not be computed.
    #[error(transparent)]
    Variational(#[from] VariationalError),
    /// The motion of a body above a plane could not be computed.
    #[error(transparent)]
    Collision(#[from] CollisionError),
    /// A mechanism could not be built.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A mechanism's motion could not be computed.
    #[error(transparent)]
    Integrator(#[from] IntegratorError),
    /// A billiard could not be set up or followed.
    #[error(transparent)]
    Billiard(#[from] BilliardError),
    /// A world could not be built, or its motion stopped with an error.
    #[error(transparent)]
    Motion(#[from] carom_world::MotionError),
    /// A session refused a call, or stopped.
    #[error(transparent)]
    Session(#[from] carom_world::SessionError),
    /// No design was found.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// A differential equation could not be integrated to the end.
    #[error("not integrated: {message}")]
    Integration {
        /// Message of the integrator.
        message: String,
    },
}

impl ScenarioError {
    /// Creates the error for an invalid value of a key.
    pub(crate) fn value(key: &str, message: impl std::fmt::Display) -> Self {
        Self::Key {
            key: key.to_owned(),
            message: message.to_string(),
        }
    }

    /// True if the error is due to an invalid configuration of the scenario; false if the configuration is valid but the
    /// computation failed.
    pub fn is_configuration(&self) -> bool {
        match self {
            Self::Config { .. } | Self::Key { .. } | Self::Mechanism(_) => true,
            // Errors during the motion have a time.
            Self::Integrator(error) => error.time().is_none(),
            Self::Integration { .. } | Self::Session(_) => false,
            Self::Motion(error) => matches!(
                error,
                carom_world::MotionError::InvalidValue { .. }
                    | carom_world::MotionError::InitialPenetration { .. }
                    | carom_world::MotionError::Shape { .. }
            ),
            Self::Impact(error) | Self::Billiard(BilliardError::Impact(error)) => error.is_input(),
            Self::Variational(error) | Self::Collision(CollisionError::Flight(error)) => !matches!(
                error,
                VariationalError::StepTooLarge { .. } | VariationalError::FlightTooLong { .. }
            ),
            Self::Collision(error) => !matches!(
                error,
                CollisionError::NoDiscreteEnergyRoot { .. }
                    | CollisionError::ContactSearchLimit { .. }
                    | CollisionError::EventLimit { .. }
                    | CollisionError::Impact(_)
            ),
            Self::Design(error) => !matches!(
                error,
                DesignError::NotConverged { .. }
                    | DesignError::SingularConstraint { .. }
                    | DesignError::NonFinite { .. }
                    | DesignError::Metric(_)
            ),
            Self::Billiard(error) => !matches!(
                error,
                BilliardError::InfeasibleLaw { .. } | BilliardError::WallUnreachable
            ),
        }
    }
}

impl From<carom_metric::MetricError> for ScenarioError {
    fn from(error: carom_metric::MetricError) -> Self {
        Self::Impact(error.into())
    }
}

impl From<TwoBodyError> for ScenarioError {
    fn from(error: TwoBodyError) -> Self {
        Self::Impact(error.into())
    }
}
