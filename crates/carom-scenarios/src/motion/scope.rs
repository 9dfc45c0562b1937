//! Names of a system in expressions.

use crate::ScenarioError;
use carom_analyse::Carried;
use carom_numeric::expression::{Expression, Jets, Names, Type};
use nalgebra::{DMatrix, DVector};
use std::collections::BTreeMap;

/// Names that expressions may use: coordinates, their rates, parameters.
pub(crate) struct Scope {
    names: Names,
    /// Number of coordinates; rates follow.
    n: usize,
    parameters: Vec<f64>,
}

/// Returns the name of a coordinate in expressions.
pub(crate) fn word(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect()
}

impl Scope {
    pub(crate) fn new(
        coordinates: &[String],
        parameters: &BTreeMap<String, f64>,
    ) -> Result<Self, ScenarioError> {
        let mut names = Names::default();
        for prefix in ["", "v_"] {
            for name in coordinates {
                let name = format!("{prefix}{}", word(name));
                if parameters.contains_key(&name) {
                    let message = format!("`{name}` is a coordinate, too");
                    return Err(ScenarioError::value(&format!("parameters.{name}"), message));
                }
                names.add(&name, Type::Float);
            }
        }
        for name in parameters.keys() {
            names.add(name, Type::Float);
        }
        Ok(Self {
            names,
            n: coordinates.len(),
            parameters: parameters.values().copied().collect(),
        })
    }

    /// Returns the value of an expression of parameters.
    pub(crate) fn number(&self, key: &str, text: &str) -> Result<f64, ScenarioError> {
        let expression = self.parse(key, text)?;
        if (0..2 * self.n).any(|k| expression.uses(k)) {
            return Err(ScenarioError::value(
                key,
                format!("`{text}` may use parameters alone"),
            ));
        }
        let value = expression.number(&self.values(&vec![0.0; 2 * self.n]), &mut Jets::default());
        if value.is_finite() {
            return Ok(value);
        }
        Err(ScenarioError::value(
            key,
            format!("`{text}` has no finite value"),
        ))
    }

    fn parse(&self, key: &str, text: &str) -> Result<Expression, ScenarioError> {
        Expression::parse(text, &self.names)
            .map_err(|fault| ScenarioError::value(key, format!("`{text}`: {fault}")))
    }

    fn values(&self, state: &[f64]) -> Vec<f64> {
        let mut values = state.to_vec();
        values.resize(2 * self.n, 0.0);
        values.extend(&self.parameters);
        values
    }

    /// Returns an expression of coordinates as a function of them with its gradient; `rates` allows rates, too.
    pub(crate) fn function(
        &self,
        key: &str,
        text: &str,
        rates: bool,
    ) -> Result<impl Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'static, ScenarioError> {
        let expression = self.parse(key, text)?;
        let n = self.n;
        let last = if rates { 2 * n } else { n };
        if !(0..last).any(|k| expression.uses(k)) {
            return Err(ScenarioError::value(
                key,
                format!("`{text}` uses no coordinate"),
            ));
        }
        if !rates && (n..2 * n).any(|k| expression.uses(k)) {
            return Err(ScenarioError::value(
                key,
                format!("`{text}` may use coordinates, no rates"),
            ));
        }
        let parameters = self.parameters.clone();
        let by: Vec<usize> = (0..2 * n).collect();
        Ok(move |state: &[f64], gradient: &mut [f64]| {
            let mut values = state.to_vec();
            values.resize(2 * n, 0.0);
            values.extend(&parameters);
            let mut jets = Jets::default();
            expression.differentiate(&values, &by, false, &mut jets);
            gradient
                .iter_mut()
                .zip(jets.gradient())
                .for_each(|(g, s)| *g = *s);
            jets.value()
        })
    }

    /// Returns the map of `[orbit.symmetry]`.
    pub(crate) fn carried(
        &self,
        coordinates: &[String],
        symmetry: &BTreeMap<String, String>,
        at: &[f64],
    ) -> Result<Carried, ScenarioError> {
        let n = self.n;
        let mut linear = DMatrix::identity(n, n);
        let mut constant = DVector::zeros(2 * n);
        let mut free = Vec::new();
        let words: Vec<String> = coordinates.iter().map(|name| word(name)).collect();
        for (name, text) in symmetry {
            let key = format!("orbit.symmetry.{name}");
            let Some(row) = words.iter().position(|word| word == name) else {
                let near = carom_numeric::nearest_name(name, words.iter().map(String::as_str));
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(ScenarioError::value(
                    &key,
                    format!("no coordinate is called `{name}`{hint}"),
                ));
            };
            if text.as_str() == "free" {
                free.push(row);
                continue;
            }
            let expression = self.parse(&key, text)?;
            let by: Vec<usize> = (0..2 * n).collect();
            let mut jets = Jets::default();
            let evaluated = |state: &[f64], jets: &mut Jets| {
                expression.differentiate(&self.values(state), &by, true, jets);
                let curved = (0..2 * n).any(|i| (0..2 * n).any(|j| jets.hessian(i, j) != 0.0));
                let rates = (n..2 * n).any(|k| jets.gradient()[k] != 0.0);
                (
                    jets.value(),
                    jets.gradient().get(..n).unwrap_or_default().to_vec(),
                    curved || rates,
                )
            };
            let (zero, slope, bent) = evaluated(&vec![0.0; n], &mut jets);
            let (_, other, bends) = evaluated(at.get(..n).unwrap_or_default(), &mut jets);
            if bent || bends || slope != other || !zero.is_finite() {
                let message = format!(
                    "`{text}` must be a sum of coordinates with constant factors and a constant"
                );
                return Err(ScenarioError::value(&key, message));
            }
            constant[row] = zero;
            for (k, factor) in slope.iter().enumerate() {
                linear[(row, k)] = *factor;
            }
        }
        if !linear.is_invertible() {
            let message = "the map has no inverse: two coordinates become one";
            return Err(ScenarioError::value("orbit.symmetry", message));
        }
        let mut matrix = DMatrix::zeros(2 * n, 2 * n);
        matrix.view_mut((0, 0), (n, n)).copy_from(&linear);
        matrix.view_mut((n, n), (n, n)).copy_from(&linear);
        Ok(Carried::new(matrix, constant, free))
    }
}
