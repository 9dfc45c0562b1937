//! Laws that can be compared with measured impacts, and their parameters.

use crate::FitError;
use carom_contact::ImpactLaw;
use carom_impact::frictional::{AnitescuPotra, MoreauNewton, Sequential, SetValued};
use carom_impact::two_body::RestitutionLaw;
use carom_impact::{Plastic, Routh};

/// Impact law that predicts the velocity of a body after an impact on a plane and can be fitted to measured impacts.
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
    /// Simultaneous frictional impact of all touching vertices, with Newton's restitution.
    MoreauNewton,
    /// Simultaneous frictional impact of all touching vertices, without restitution.
    AnitescuPotra,
    /// Sequential frictional impact, one touching vertex after another, without restitution.
    Sequential,
    /// Frictional impact of the lowest vertex alone (Routh), with a law of restitution.
    Routh(RestitutionLaw),
    /// Frictionless impact without restitution.
    Plastic,
    /// Baseline: the least change of velocity after which every touching vertex is at rest.
    Stick,
    /// Baseline: the velocity does not change.
    NoImpact,
    /// Set of inelastic frictional outcomes. It has no probability density and is not ranked.
    SetValued,
}

impl FitLaw {
    /// All impact laws that can be fitted. The last two are baselines for comparison: with `stick` every touching vertex stops,
    /// with `no-impact` the velocity stays unchanged.
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

    /// Returns the name of the impact law on the command line and in records, for example `routh-poisson`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MoreauNewton => MoreauNewton::default().name(),
            Self::AnitescuPotra => AnitescuPotra::default().name(),
            Self::Sequential => Sequential::default().name(),
            Self::Routh(RestitutionLaw::Energetic) => Routh::default().name(),
            Self::Routh(RestitutionLaw::Poisson) => "routh-poisson",
            Self::Routh(RestitutionLaw::Newton) => "routh-newton",
            Self::Routh(_) => "routh-other",
            Self::Plastic => Plastic::default().name(),
            Self::SetValued => SetValued::default().name(),
            Self::Stick => "stick",
            Self::NoImpact => "no-impact",
        }
    }

    /// Returns the impact law with this name, as [`name`](Self::name) gives it; `None` if there is no such law.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|law| law.name() == name)
    }

    /// Returns the parameters on which the predictions of the impact law depend, a part of the list restitution, friction and
    /// inertia.
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

/// Parameter of an impact law that can be fitted: restitution, friction, or a factor of the inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Parameter {
    /// Coefficient of restitution, in [0, 1].
    Restitution,
    /// Coefficient of friction, in [0, 2].
    Friction,
    /// Factor by which the configured inertia is multiplied, in [0.3, 3].
    Inertia,
}

impl Parameter {
    /// All parameters that can be fitted (restitution, friction, inertia), in the order in which records list them.
    pub const ALL: [Self; 3] = [Self::Restitution, Self::Friction, Self::Inertia];

    /// Returns the name of the parameter on the command line and in records, for example `restitution`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Restitution => "restitution",
            Self::Friction => "friction",
            Self::Inertia => "inertia",
        }
    }

    /// Returns the parameter with this name (`restitution`, `friction` or `inertia`); `None` if there is no such parameter.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Returns the smallest and the largest allowed value of the parameter.
    #[must_use]
    pub fn range(self) -> [f64; 2] {
        match self {
            Self::Restitution => [0.0, 1.0],
            Self::Friction => [0.0, 2.0],
            Self::Inertia => [0.3, 3.0],
        }
    }
}

/// Values of restitution, friction and inertia factor with which an impact law predicts an impact.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Factor by which the configured inertia is multiplied.
    pub inertia: f64,
}

impl Parameters {
    /// Default values of the parameters of an impact law: no restitution, no friction, the configured inertia. A parameter that
    /// is neither fitted nor given has its default value.
    pub const NONE: Self = Self {
        restitution: 0.0,
        friction: 0.0,
        inertia: 1.0,
    };

    /// Returns the value of one parameter of the impact law.
    #[must_use]
    pub fn get(&self, parameter: Parameter) -> f64 {
        match parameter {
            Parameter::Restitution => self.restitution,
            Parameter::Friction => self.friction,
            Parameter::Inertia => self.inertia,
        }
    }

    /// Returns a copy of the parameter values in which one parameter has another value.
    #[must_use]
    pub fn with(mut self, parameter: Parameter, value: f64) -> Self {
        match parameter {
            Parameter::Restitution => self.restitution = value,
            Parameter::Friction => self.friction = value,
            Parameter::Inertia => self.inertia = value,
        }
        self
    }

    /// Returns an error if a parameter of the impact law has a value outside its allowed range.
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
