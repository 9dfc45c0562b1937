//! The laws that can be held against measured impacts, and their parameters.

use crate::FitError;
use carom_contact::ImpactLaw;
use carom_impact::frictional::{AnitescuPotra, MoreauNewton, Sequential, SetValued};
use carom_impact::two_body::RestitutionLaw;
use carom_impact::{Plastic, Routh};

/// A law of prediction.
///
/// # Examples
///
/// ```
/// use carom_fit::{FitLaw, Parameter};
/// let plastic = FitLaw::by_name("plastic");
/// assert_eq!(plastic, Some(FitLaw::Plastic));
/// // A law without friction and restitution knows the inertia alone.
/// assert_eq!(FitLaw::Plastic.uses(), [Parameter::Inertia]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FitLaw {
    /// Newton's restitution and friction at all touching vertices at once.
    MoreauNewton,
    /// Friction at all touching vertices at once, without restitution.
    AnitescuPotra,
    /// Friction at one touching vertex after another, without restitution.
    Sequential,
    /// Coulomb's impact of the lowest vertex alone, with a law of restitution.
    Routh(RestitutionLaw),
    /// No friction, no restitution.
    Plastic,
    /// Baseline: every touching vertex is at rest afterwards, by the least change of velocity.
    Stick,
    /// Baseline: nothing happens.
    NoImpact,
    /// The set of inelastic frictional outcomes: it has no density and is not ranked.
    SetValued,
}

impl FitLaw {
    /// Every law, baselines last.
    pub const ALL: [Self; 10] = [
        Self::MoreauNewton,
        Self::AnitescuPotra,
        Self::Sequential,
        Self::Routh(RestitutionLaw::Energetic),
        Self::Routh(RestitutionLaw::Poisson),
        Self::Routh(RestitutionLaw::Newton),
        Self::Plastic,
        Self::SetValued,
        Self::Stick,
        Self::NoImpact,
    ];

    /// Its name on the command line and in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MoreauNewton => MoreauNewton::default().name(),
            Self::AnitescuPotra => AnitescuPotra::default().name(),
            Self::Sequential => Sequential::default().name(),
            Self::Routh(RestitutionLaw::Energetic) => Routh::default().name(),
            Self::Routh(RestitutionLaw::Poisson) => "routh-poisson",
            Self::Routh(RestitutionLaw::Newton) => "routh-newton",
            Self::Plastic => Plastic::default().name(),
            Self::SetValued => SetValued::default().name(),
            Self::Stick => "stick",
            Self::NoImpact => "no-impact",
        }
    }

    /// The law of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|law| law.name() == name)
    }

    /// The parameters that change its answers.
    #[must_use]
    pub fn uses(self) -> &'static [Parameter] {
        use Parameter::{Friction, Inertia, Restitution};
        match self {
            Self::MoreauNewton | Self::Routh(_) => &[Restitution, Friction, Inertia],
            Self::AnitescuPotra | Self::Sequential | Self::SetValued => &[Friction, Inertia],
            Self::Plastic | Self::Stick => &[Inertia],
            Self::NoImpact => &[],
        }
    }
}

/// A parameter of prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parameter {
    /// Coefficient of restitution, in [0, 1].
    Restitution,
    /// Coefficient of friction, in [0, 2].
    Friction,
    /// Factor on the configured inertia, in [0.3, 3].
    Inertia,
}

impl Parameter {
    /// All of them, in the order of records.
    pub const ALL: [Self; 3] = [Self::Restitution, Self::Friction, Self::Inertia];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Restitution => "restitution",
            Self::Friction => "friction",
            Self::Inertia => "inertia",
        }
    }

    /// The parameter of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Lowest and highest value.
    #[must_use]
    pub fn range(self) -> [f64; 2] {
        match self {
            Self::Restitution => [0.0, 1.0],
            Self::Friction => [0.0, 2.0],
            Self::Inertia => [0.3, 3.0],
        }
    }
}

/// Values of all parameters.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Factor on the configured inertia.
    pub inertia: f64,
}

impl Parameters {
    /// Defaults of parameters that are neither free nor fixed: no restitution, no friction, the inertia as configured.
    pub const NONE: Self = Self {
        restitution: 0.0,
        friction: 0.0,
        inertia: 1.0,
    };

    /// The value of a parameter.
    #[must_use]
    pub fn get(&self, parameter: Parameter) -> f64 {
        match parameter {
            Parameter::Restitution => self.restitution,
            Parameter::Friction => self.friction,
            Parameter::Inertia => self.inertia,
        }
    }

    /// The parameters with another value of one.
    #[must_use]
    pub fn with(mut self, parameter: Parameter, value: f64) -> Self {
        match parameter {
            Parameter::Restitution => self.restitution = value,
            Parameter::Friction => self.friction = value,
            Parameter::Inertia => self.inertia = value,
        }
        self
    }

    /// Every value within its range.
    ///
    /// # Errors
    ///
    /// [`FitError::ParameterRange`].
    pub fn check(&self) -> Result<(), FitError> {
        for parameter in Parameter::ALL {
            let (value, [low, high]) = (self.get(parameter), parameter.range());
            if !(low..=high).contains(&value) {
                return Err(FitError::ParameterRange {
                    parameter: parameter.name(),
                    value,
                    low,
                    high,
                });
            }
        }
        Ok(())
    }
}
