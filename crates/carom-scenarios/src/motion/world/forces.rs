//! Keys `[[forces]]` and `drag` of a world.

use super::config::Config;
use crate::ScenarioError;
use carom_variational::load::{AppliedForce, Drag, Formula, Loads};
use nalgebra::Vector3;
use serde::Deserialize;

/// Component of a force or torque: a number or an expression.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Component {
    Number(f64),
    Text(String),
}

impl Component {
    /// Reads the component; `parse` reads an expression.
    pub(super) fn read(
        &self,
        parse: impl Fn(&str) -> Result<Formula, String>,
    ) -> Result<Formula, String> {
        match self {
            Self::Number(value) if value.is_finite() => Ok(Formula::number(*value)),
            Self::Number(value) => Err(format!("{value} is not finite")),
            Self::Text(text) => parse(text),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FrameName {
    #[default]
    Space,
    Body,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForceConfig {
    body: String,
    force: Option<[Component; 3]>,
    torque: Option<[Component; 3]>,
    point: Option<[f64; 3]>,
    #[serde(default)]
    frame: FrameName,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DragConfig {
    linear: f64,
    quadratic: f64,
    rotational: f64,
    rotational_quadratic: f64,
}

impl DragConfig {
    fn build(&self, key: &str) -> Result<Drag, ScenarioError> {
        let check =
            |name: &str, value: f64| super::contact::friction(&format!("{key}.drag.{name}"), value);
        Ok(Drag::default()
            .with_linear(check("linear", self.linear)?)
            .with_quadratic(check("quadratic", self.quadratic)?)
            .with_rotational(check("rotational", self.rotational)?)
            .with_rotational_quadratic(check("rotational_quadratic", self.rotational_quadratic)?))
    }
}

impl ForceConfig {
    fn build(&self, key: &str) -> Result<AppliedForce, ScenarioError> {
        if self.force.is_none() && self.torque.is_none() {
            let message = "nothing acts: give `force`, `torque` or both";
            return Err(ScenarioError::value(&format!("{key}.force"), message));
        }
        if let (Some(_), None) = (&self.point, &self.force) {
            let message = "only a force acts at a point, and none is given";
            return Err(ScenarioError::value(&format!("{key}.point"), message));
        }
        let point = self.point.unwrap_or_default();
        crate::motion::finite(&format!("{key}.point"), &point)?;
        let force = components(&format!("{key}.force"), self.force.as_ref(), Formula::parse)?;
        let torque = components(
            &format!("{key}.torque"),
            self.torque.as_ref(),
            Formula::parse,
        )?;
        Ok(AppliedForce::new(force)
            .with_torque(torque)
            .with_point(Vector3::from(point))
            .with_in_body(self.frame == FrameName::Body))
    }
}

/// Reads three components with the reader `parse` of expressions; without any they are zero.
pub(super) fn components(
    key: &str,
    given: Option<&[Component; 3]>,
    parse: impl Fn(&str) -> Result<Formula, String>,
) -> Result<[Formula; 3], ScenarioError> {
    let one = |k: usize| {
        let read = given.map_or(Ok(Formula::number(0.0)), |list| list[k].read(&parse));
        read.map_err(|message| ScenarioError::value(&format!("{key}[{k}]"), message))
    };
    Ok([one(0)?, one(1)?, one(2)?])
}

impl Config {
    /// Returns the loads of all bodies. `bodies`: their names, and true for those that move; those of the configuration come first.
    pub(super) fn loads(&self, bodies: &[(&str, bool)]) -> Result<Vec<Loads>, ScenarioError> {
        let mut all = vec![Loads::default(); bodies.len()];
        let moves = |key: &str, body: usize| match bodies.get(body) {
            Some((name, false)) => {
                let message = format!("`{name}` is fixed: no force moves it");
                Err(ScenarioError::value(key, message))
            }
            _ => Ok(()),
        };
        for (i, body) in self.bodies.iter().flatten().enumerate() {
            if let Some(drag) = &body.drag {
                let key = format!("bodies[{i}]");
                moves(&format!("{key}.drag"), i)?;
                all[i].drag = drag.build(&key)?;
            }
        }
        for (i, force) in self.forces.iter().flatten().enumerate() {
            let (key, named) = (format!("forces[{i}]"), format!("forces[{i}].body"));
            let found = bodies.iter().position(|(name, _)| *name == force.body);
            let Some(body) = found else {
                let near = bodies.iter().map(|(name, _)| *name);
                let near = carom_numeric::nearest_name(&force.body, near);
                let hint =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let message = format!("no body is called `{}`{hint}", force.body);
                return Err(ScenarioError::value(&named, message));
            };
            moves(&named, body)?;
            all[body].forces.push(force.build(&key)?);
        }
        Ok(all)
    }
}
