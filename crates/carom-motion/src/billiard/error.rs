//! Errors of billiards.

use carom_contact::ImpactError;

/// Error of a billiard (a body that moves between walls): the billiard could not be set up, or its motion could not be
/// continued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BilliardError {
    /// A length, mass or inertia is not finite and positive.
    #[error("{name} is {value}: it must be finite and positive")]
    NotPositive {
        /// Name of the parameter.
        name: &'static str,
        /// Value of the parameter that was given.
        value: f64,
    },
    /// A number that must be finite is NaN or infinite.
    #[error("{name} is {value}: it must be finite")]
    NonFinite {
        /// Name of the quantity.
        name: &'static str,
        /// Value that was given: NaN or infinite.
        value: f64,
    },
    /// The duration of a run is negative or NaN.
    #[error("duration is {value}: it must be at least 0")]
    InvalidDuration {
        /// Duration that was given (s).
        value: f64,
    },
    /// The exponent of a superellipse is below 2. The curvature of such a table is unbounded.
    #[error("exponent is {value}: it must be finite and at least 2")]
    InvalidExponent {
        /// Exponent that was given.
        value: f64,
    },
    /// The disk does not fit on the table.
    #[error("table is too small: its semi-axis {semi_axis} does not exceed the radius {radius}")]
    TableTooSmall {
        /// Smaller semi-axis of the table, m.
        semi_axis: f64,
        /// Radius of the disk, m.
        radius: f64,
    },
    /// A part of the body lies beyond the wall in the initial state.
    #[error("initial state penetrates the wall at {part}: wall function {value:e} is positive")]
    PenetratingStart {
        /// Part of the body that penetrates.
        part: &'static str,
        /// Value of the wall function at that part, positive.
        value: f64,
    },
    /// With this impact law the rim still approaches the wall after the impact: the effective restitution is negative.
    #[error(
        "law is infeasible: its effective restitution is {effective_restitution} at impact {impact}"
    )]
    InfeasibleLaw {
        /// Number of the impact, counted from 1.
        impact: usize,
        /// Effective restitution of that impact, negative.
        effective_restitution: f64,
    },
    /// No motion allowed by the constraints moves the rim along the wall's normal.
    #[error("wall is out of reach of any admissible motion: its gradient there is zero")]
    WallUnreachable,
    /// The impact could not be resolved.
    #[error(transparent)]
    Impact(#[from] ImpactError),
}

impl BilliardError {
    /// Returns the identifier of this error in records: the variant's name in kebab case, for example `table-too-small`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotPositive { .. } => "not-positive",
            Self::NonFinite { .. } => "non-finite",
            Self::InvalidDuration { .. } => "invalid-duration",
            Self::InvalidExponent { .. } => "invalid-exponent",
            Self::TableTooSmall { .. } => "table-too-small",
            Self::PenetratingStart { .. } => "penetrating-start",
            Self::InfeasibleLaw { .. } => "infeasible-law",
            Self::WallUnreachable => "wall-unreachable",
            Self::Impact(error) => error.kind(),
        }
    }
}

/// Checks that all given parameters are finite and positive. Each entry contains the name of a parameter, used in the
/// error, and the parameter's value.
pub(crate) fn positive(values: &[(&'static str, f64)]) -> Result<(), BilliardError> {
    match values.iter().find(|(_, x)| !(x.is_finite() && *x > 0.0)) {
        Some(&(name, value)) => Err(BilliardError::NotPositive { name, value }),
        None => Ok(()),
    }
}

/// Checks that all given numbers are finite. Each entry contains the name of a number, used in the error, and the
/// number.
pub(crate) fn finite(values: &[(&'static str, f64)]) -> Result<(), BilliardError> {
    match values.iter().find(|(_, x)| !x.is_finite()) {
        Some(&(name, value)) => Err(BilliardError::NonFinite { name, value }),
        None => Ok(()),
    }
}

/// Checks that a duration (s) is a number of at least 0; it may be infinite.
pub(crate) fn duration(value: f64) -> Result<(), BilliardError> {
    if value >= 0.0 {
        return Ok(());
    }
    Err(BilliardError::InvalidDuration { value })
}
