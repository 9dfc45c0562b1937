//! Impact laws fitted to measured tosses of a cube.

use crate::ScenarioError;
use crate::config::{Count, Input};
use carom_fit::{DataSetup, FitOptions, Parameter, Parameters, Request, Rule};
use carom_report::Record;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    laws: Vec<String>,
    free: Vec<String>,
    bootstrap: Count<0, 10_000>,
    seed: u64,
}

/// Measured poses of twenty tosses (Pfrommer, Halm & Posa 2020); source and license are in the folder.
const POSES: &[u8] = include_bytes!("../../data/tosses/tosses-sample.csv");
/// Configuration of the fit: the cube, its plane and gravity.
const CUBE: &str = include_str!("../../data/tosses/cube.toml");

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, begun) = input.begin::<Config>()?;
    let free = config
        .free
        .iter()
        .map(|name| Parameter::by_name(name).ok_or(name))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|name| ScenarioError::value("free", format!("no parameter `{name}`")))?;
    let requests = config
        .laws
        .iter()
        .map(|name| {
            let law = Rule::by_name(name).ok_or(name)?;
            Ok(Request::new(law, &free, Parameters::NONE))
        })
        .collect::<Result<Vec<_>, &String>>()
        .map_err(|name| ScenarioError::value("laws", format!("no law `{name}`")))?;
    let data = |e: &dyn std::fmt::Display| ScenarioError::value("data", e);
    let setup = DataSetup::from_toml(CUBE).map_err(|e| data(&e))?;
    let measured = setup.read(POSES, true, &[]).map_err(|e| data(&e))?;
    let options = FitOptions::new(*config.bootstrap as u64, config.seed);
    let analysis = measured
        .analyze(&requests, &options)
        .map_err(|e| ScenarioError::value("laws", e))?;
    Ok(analysis.record(begun.parameters))
}
