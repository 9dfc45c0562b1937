//! Parameters of impact laws that are fitted.

use crate::FitError;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// Largest number of parameters that are fitted at once.
pub(crate) const MOST_FREE: usize = 12;

/// Quantity that a law needs: restitution or friction of contacts, or a factor of the inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Coefficient {
    /// Coefficient of restitution, in [0, 1].
    Restitution,
    /// Coefficient of friction, in [0, 2].
    Friction,
    /// Factor by which the configured inertia is multiplied, in [0.3, 3].
    Inertia,
}

impl Coefficient {
    /// All coefficients (restitution, friction, inertia), in the order in which records list them.
    pub const ALL: [Self; 3] = [Self::Restitution, Self::Friction, Self::Inertia];

    /// Returns the name on the command line and in records, for example `restitution`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Restitution => "restitution",
            Self::Friction => "friction",
            Self::Inertia => "inertia",
        }
    }

    /// Returns the smallest and the largest allowed value.
    #[must_use]
    pub fn range(self) -> [f64; 2] {
        match self {
            Self::Restitution => [0.0, 1.0],
            Self::Friction => [0.0, 2.0],
            Self::Inertia => [0.3, 3.0],
        }
    }

    /// Returns the value of a coefficient that is neither fitted nor given: no restitution, no friction, the configured inertia.
    #[must_use]
    pub fn default_value(self) -> f64 {
        match self {
            Self::Restitution | Self::Friction => 0.0,
            Self::Inertia => 1.0,
        }
    }
}

/// Parameter of a law: a coefficient that all contacts share, or that of one surface.
///
/// # Examples
///
/// ```
/// use carom_fit::{Coefficient, Parameter};
/// let shared = Parameter::shared(Coefficient::Friction);
/// assert_eq!(Parameter::by_name("friction"), Some(shared));
/// let heel = Parameter::by_name("restitution.heel").ok_or("no parameter")?;
/// assert_eq!(heel.to_string(), "restitution.heel");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Parameter {
    /// Coefficient.
    pub coefficient: Coefficient,
    /// Surface whose contacts have this coefficient; `None` for all contacts. In requests the surface `*` stands for each.
    pub surface: Option<Arc<str>>,
}

impl Parameter {
    /// Returns the parameter that all contacts share.
    #[must_use]
    pub const fn shared(coefficient: Coefficient) -> Self {
        Self {
            coefficient,
            surface: None,
        }
    }

    /// Returns the coefficient of one surface.
    pub(crate) fn of(&self, surface: &Arc<str>) -> Self {
        Self {
            coefficient: self.coefficient,
            surface: Some(Arc::clone(surface)),
        }
    }

    /// Returns the parameter with this name: `restitution`, `friction` or `inertia`, or one of the first two with a surface,
    /// `restitution.heel`; `None` if there is no such parameter.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let (head, surface) = match name.split_once('.') {
            Some((head, surface)) => (head, Some(surface)),
            None => (name, None),
        };
        let coefficient = Coefficient::ALL.into_iter().find(|c| c.name() == head)?;
        let is_wrong = |s: &str| s.is_empty() || coefficient == Coefficient::Inertia;
        (!surface.is_some_and(is_wrong)).then(|| Self {
            coefficient,
            surface: surface.map(Arc::from),
        })
    }

    /// Returns the smallest and the largest allowed value.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        self.coefficient.range()
    }

    /// True if the parameter stands for that of each surface.
    pub(crate) fn is_each(&self) -> bool {
        self.surface.as_deref() == Some("*")
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.coefficient.name())?;
        match &self.surface {
            Some(surface) => write!(f, ".{surface}"),
            None => Ok(()),
        }
    }
}

/// Values of parameters with which an impact law predicts an impact. A contact has the value of its surface; without one that
/// of all contacts; without that no restitution and no friction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(Vec<(Parameter, f64)>);

impl Parameters {
    /// No values: no restitution, no friction, the configured inertia.
    pub const NONE: Self = Self(Vec::new());

    /// Returns the value of a coefficient for contacts of a surface.
    #[must_use]
    pub fn value(&self, coefficient: Coefficient, surface: Option<&str>) -> f64 {
        let own = || self.0.iter().filter(|(p, _)| p.coefficient == coefficient);
        let of = |wanted: Option<&str>| own().find(|(p, _)| p.surface.as_deref() == wanted);
        let found = of(surface).or_else(|| of(None));
        found.map_or(coefficient.default_value(), |(_, value)| *value)
    }

    /// Returns the value of a parameter.
    #[must_use]
    pub fn get(&self, parameter: &Parameter) -> f64 {
        self.value(parameter.coefficient, parameter.surface.as_deref())
    }

    /// Returns a copy in which one parameter has another value.
    #[must_use]
    pub fn with(mut self, parameter: &Parameter, value: f64) -> Self {
        match self.0.binary_search_by(|(own, _)| own.cmp(parameter)) {
            Ok(place) => self.0[place].1 = value,
            Err(place) => self.0.insert(place, (parameter.clone(), value)),
        }
        self
    }

    /// Iterates over the parameters that have a value, with the value.
    pub fn iter(&self) -> impl Iterator<Item = (&Parameter, f64)> {
        self.0.iter().map(|(parameter, value)| (parameter, *value))
    }

    /// Returns an error if a parameter has a value outside its range.
    ///
    /// # Errors
    ///
    /// [`FitError::Parameter`].
    pub fn check(&self) -> Result<(), FitError> {
        for (parameter, value) in self.iter() {
            let [low, high] = parameter.range();
            if !(low..=high).contains(&value) {
                let why = format!("{parameter}: {value} is outside [{low}, {high}]");
                return Err(FitError::Parameter(why));
            }
        }
        Ok(())
    }

    /// Writes the values as JSON, by their names.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let named = self.iter().map(|(p, value)| (p.to_string(), value.into()));
        Value::Object(named.collect())
    }

    /// Reads values from JSON, by their names, as a record has them.
    ///
    /// # Errors
    ///
    /// [`FitError::Parameter`] for an unknown name, a value that is no number, or one outside its range.
    pub fn from_json(values: &Map<String, Value>) -> Result<Self, FitError> {
        let mut parameters = Self::NONE;
        for (name, value) in values {
            let wrong = |why: &str| FitError::Parameter(format!("{name}: {why}"));
            let parameter = Parameter::by_name(name).ok_or_else(|| wrong("unknown parameter"))?;
            let value = value.as_f64().ok_or_else(|| wrong("not a number"))?;
            parameters = parameters.with(&parameter, value);
        }
        parameters.check()?;
        Ok(parameters)
    }
}
