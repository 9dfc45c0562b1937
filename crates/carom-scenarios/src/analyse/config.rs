//! Keys of an analysis.

use crate::ScenarioError;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Number, or expression of parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Formula {
    Number(f64),
    Text(String),
}

impl Formula {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(value) => value.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    pub(super) title: Option<String>,
    pub(super) system: Option<String>,
    pub(super) scenario: Option<String>,
    #[serde(default)]
    pub(super) set: toml::Table,
    #[serde(default)]
    pub(super) start: BTreeMap<String, f64>,
    pub(super) section: Option<SectionConfig>,
    pub(super) orbit: Option<OrbitConfig>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SectionConfig {
    pub(super) every: Option<Formula>,
    pub(super) phase: Option<Formula>,
    pub(super) event: Option<Vec<String>>,
    #[serde(rename = "where")]
    pub(super) level: Option<String>,
    pub(super) direction: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrbitConfig {
    pub(super) returns: Option<i64>,
    pub(super) settle: Option<i64>,
    #[serde(default)]
    pub(super) symmetry: BTreeMap<String, Formula>,
}

/// Largest number of returns of one orbit, and of those before Newton's method.
const MOST_RETURNS: i64 = 100_000;

/// Returns a count of at least `least`.
pub(super) fn count(
    key: &str,
    value: Option<i64>,
    default: usize,
    least: i64,
) -> Result<usize, ScenarioError> {
    let Some(value) = value else {
        return Ok(default);
    };
    let within = (least..=MOST_RETURNS).contains(&value);
    let found = usize::try_from(value).ok().filter(|_| within);
    found.ok_or_else(|| {
        ScenarioError::value(
            key,
            format!("{value} must lie from {least} to {MOST_RETURNS}"),
        )
    })
}
