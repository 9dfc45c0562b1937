//! Keys `[[forces]]` and `drag` of a world.

use crate::ScenarioError;
use carom_variational::load::{AppliedForce, Drag, Formula};
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
    pub(super) body: String,
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
    pub(super) fn build(&self, key: &str) -> Result<Drag, ScenarioError> {
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
    pub(super) fn build(&self, key: &str) -> Result<AppliedForce, ScenarioError> {
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
