//! The system of an analysis: a world whose bodies hang on joints, or a mechanism.

use crate::config::{Input, scenario_of};
use crate::motion::model::{Model, NoModel};
use crate::motion::{mechanism, world};
use crate::{Overrides, ScenarioError};

/// Returns the kind of a system: `world` or `mechanism`.
pub(super) fn kind(overrides: &Overrides) -> Result<String, ScenarioError> {
    let name = scenario_of(&overrides.toml)?;
    if matches!(name.as_str(), "world" | "mechanism") {
        return Ok(name);
    }
    let message = format!("`{name}` is no world and no mechanism: analyses are done for these");
    Err(ScenarioError::value("system", message))
}

/// Reads a system.
pub(super) fn model(kind: &str, overrides: &Overrides) -> Result<Model, NoModel> {
    let scenario = crate::scenario(kind)
        .ok_or_else(|| ScenarioError::value("system", "there is no such scenario"))?;
    let input = Input::new(kind, scenario.default_toml, overrides)?;
    let made = if kind == "world" {
        world::modelled(&input)
    } else {
        mechanism::modelled(&input)
    };
    made.map_err(|error| match error {
        NoModel::Fault(error) => NoModel::Fault(input.locate(error)),
        other => other,
    })
}
