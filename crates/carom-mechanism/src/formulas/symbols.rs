//! Names that formulas use.

use crate::MechanismError;
use carom_numeric::expression::{Expression, FUNCTIONS, Jets, Names, Type};

/// Coordinates and parameters of a system, by the names that formulas use. In the formulas of forces the time is `t`, and the rate of
/// the coordinate `x` is `v_x`.
#[derive(Clone, Debug)]
pub struct Symbols {
    coordinates: Vec<String>,
    parameters: Vec<(String, f64)>,
    /// Names in formulas of the configuration, and in formulas of forces; the first are a prefix of the second.
    of_place: Names,
    of_motion: Names,
}

impl Symbols {
    /// Creates the list of names from those of the coordinates, and from the parameters with their values.
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidName`] for a name that is no word of letters, digits, `_` and `.` with a letter first, that is taken,
    /// or that a formula uses otherwise, such as `sin`; [`MechanismError::InvalidFormula`] for a parameter that is not finite.
    pub fn new(
        coordinates: Vec<String>,
        parameters: Vec<(String, f64)>,
    ) -> Result<Self, MechanismError> {
        let mut taken: Vec<String> = vec!["t".to_owned(), "pi".to_owned()];
        taken.extend(FUNCTIONS.map(str::to_owned));
        for name in &coordinates {
            take(&mut taken, name.clone())?;
            take(&mut taken, format!("v_{name}"))?;
        }
        for (name, value) in &parameters {
            take(&mut taken, name.clone())?;
            if !value.is_finite() {
                return Err(MechanismError::InvalidFormula {
                    key: format!("parameters.{name}"),
                    text: value.to_string(),
                    message: "must be a finite number".to_owned(),
                });
            }
        }
        Ok(Self::unchecked(coordinates, parameters))
    }

    /// Creates the list of names from those of the coordinates alone. Names that are no words cannot be used in formulas.
    pub fn of_coordinates(coordinates: Vec<String>) -> Self {
        Self::unchecked(coordinates, Vec::new())
    }

    fn unchecked(coordinates: Vec<String>, parameters: Vec<(String, f64)>) -> Self {
        let mut of_place = Names::default();
        let constants = parameters.iter().map(|(name, _)| name);
        for name in coordinates.iter().chain(constants) {
            of_place.add(name, Type::Float);
        }
        let mut of_motion = of_place.clone();
        of_motion.add("t", Type::Float);
        for name in &coordinates {
            of_motion.add(&format!("v_{name}"), Type::Float);
        }
        Self {
            coordinates,
            parameters,
            of_place,
            of_motion,
        }
    }

    /// Returns the names of the coordinates.
    pub fn coordinates(&self) -> &[String] {
        &self.coordinates
    }

    pub(super) fn n(&self) -> usize {
        self.coordinates.len()
    }

    /// Returns the index of the coordinate with the given name.
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidName`], which tells the nearest name.
    pub fn coordinate(&self, name: &str) -> Result<usize, MechanismError> {
        let found = self.coordinates.iter().position(|known| known == name);
        found.ok_or_else(|| {
            let known = self.coordinates.iter().map(String::as_str);
            let near = carom_numeric::nearest_name(name, known);
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            MechanismError::InvalidName {
                name: name.to_owned(),
                message: format!("is no coordinate{hint}"),
            }
        })
    }

    /// Reads a formula of the configuration. `key` names it in errors.
    pub(super) fn place_formula(&self, key: &str, text: &str) -> Result<Formula, MechanismError> {
        Formula::new(key, text, &self.of_place)
    }

    /// Reads a formula of configuration, time and velocity. `key` names it in errors.
    pub(super) fn motion_formula(&self, key: &str, text: &str) -> Result<Formula, MechanismError> {
        Formula::new(key, text, &self.of_motion)
    }

    /// Returns the values of all names in formulas of the configuration.
    pub(super) fn place(&self, configuration: &[f64]) -> Vec<f64> {
        let constants = self.parameters.iter().map(|(_, value)| *value);
        configuration.iter().copied().chain(constants).collect()
    }

    /// Returns the values of all names in formulas of forces.
    pub(super) fn motion(&self, configuration: &[f64], time: f64, velocity: &[f64]) -> Vec<f64> {
        let mut values = self.place(configuration);
        values.push(time);
        values.extend_from_slice(velocity);
        values
    }

    /// Index of the time among the names in formulas of forces; the rates follow.
    pub(super) fn time(&self) -> usize {
        self.coordinates.len() + self.parameters.len()
    }
}

/// Appends a name to those that are taken.
fn take(taken: &mut Vec<String>, name: String) -> Result<(), MechanismError> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let message = if taken.contains(&name) {
        "is taken"
    } else if !starts || !name.chars().all(is_part) {
        "must be a word of letters, digits, `_` and `.` with a letter first"
    } else {
        taken.push(name);
        return Ok(());
    };
    Err(MechanismError::InvalidName {
        name,
        message: message.to_owned(),
    })
}

/// Formula with the indices of the names that it uses.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    pub(super) key: String,
    expression: Expression,
    /// Variables by which the formula is differentiated: the names that it uses, without parameters.
    pub(super) by: Vec<usize>,
}

impl Formula {
    fn new(key: &str, text: &str, names: &Names) -> Result<Self, MechanismError> {
        let expression =
            Expression::parse(text, names).map_err(|message| MechanismError::InvalidFormula {
                key: key.to_owned(),
                text: text.trim().to_owned(),
                message,
            })?;
        let by = (0..names.all().count()).filter(|name| expression.uses(*name));
        Ok(Self {
            key: key.to_owned(),
            by: by.collect(),
            expression,
        })
    }

    /// Removes the parameters, whose indices are those from `first` to `end`, from the variables.
    pub(super) fn without(mut self, first: usize, end: usize) -> Self {
        self.by.retain(|name| !(first..end).contains(name));
        self
    }

    pub(super) fn value(&self, values: &[f64], jets: &mut Jets) -> f64 {
        self.expression.number(values, jets)
    }

    pub(super) fn derive(&self, values: &[f64], second: bool, jets: &mut Jets) {
        self.expression
            .differentiate(values, &self.by, second, jets);
    }

    /// Returns the error of a formula with a wrong value.
    pub(super) fn fault(&self, message: impl Into<String>) -> MechanismError {
        MechanismError::InvalidFormula {
            key: self.key.clone(),
            text: self.expression.text().to_owned(),
            message: message.into(),
        }
    }
}
