//! Why a scenario could not run.

use carom_billiard::BilliardError;
use carom_impact::ImpactError;
use carom_variational::VariationalError;

/// Why a scenario could not run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The configuration is not what the scenario takes.
    #[error("{message}")]
    Config {
        /// What is wrong, with the key and, for a file, the line and column.
        message: String,
    },
    /// An impact could not be posed or resolved.
    #[error(transparent)]
    Impact(#[from] ImpactError),
    /// A body's motion could not be computed.
    #[error(transparent)]
    Variational(#[from] VariationalError),
    /// A billiard could not be set up or followed.
    #[error(transparent)]
    Billiard(#[from] BilliardError),
    /// A differential equation could not be integrated to its end.
    #[error("not integrated: {message}")]
    Integration {
        /// What the integrator says.
        message: String,
    },
}

impl ScenarioError {
    /// A value that the scenario cannot use.
    pub(crate) fn value(key: &str, message: impl std::fmt::Display) -> Self {
        Self::Config {
            message: format!("key `{key}`: {message}"),
        }
    }

    /// Whether the input is at fault, rather than the solution out of reach.
    pub fn is_configuration(&self) -> bool {
        let solvable = |error: &ImpactError| {
            !matches!(
                error,
                ImpactError::LimitExceeded { .. }
                    | ImpactError::Complementarity { .. }
                    | ImpactError::EnumerationLimit { .. }
                    | ImpactError::SampleLimit { .. }
                    | ImpactError::NotPointed
                    | ImpactError::OutcomeLimitExceeded { .. }
                    | ImpactError::MinimalityLimitExceeded { .. }
                    | ImpactError::NoElasticOutcome { .. }
                    | ImpactError::InfeasibleLaw { .. }
                    | ImpactError::NotConverged { .. }
                    | ImpactError::ImpactStepLimit { .. }
            )
        };
        match self {
            Self::Config { .. } => true,
            Self::Integration { .. } => false,
            Self::Impact(error) | Self::Billiard(BilliardError::Impact(error)) => solvable(error),
            Self::Variational(error) => !matches!(
                error,
                VariationalError::StepTooLarge { .. }
                    | VariationalError::NoDiscreteEnergyRoot { .. }
                    | VariationalError::ContactSearchLimit { .. }
                    | VariationalError::Impact(_)
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
