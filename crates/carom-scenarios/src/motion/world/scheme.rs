//! Keys of the scheme of motion: event-driven integration or time stepping.

use crate::ScenarioError;
use carom_world::{MotionError, Stepping};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SchemeConfig {
    #[default]
    Auto,
    Events,
    TimeStepping,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SteppingConfig {
    #[serde(default = "default_tolerance")]
    tolerance: f64,
    #[serde(default = "default_impact_speed")]
    impact_speed: f64,
    #[serde(default = "default_deflection", deserialize_with = "deflection")]
    deflection: f64,
}

fn default_tolerance() -> f64 {
    Stepping::default().tolerance()
}

fn default_impact_speed() -> f64 {
    Stepping::default().impact_speed()
}

fn default_deflection() -> f64 {
    Stepping::default().deflection()
}

/// Reads a deflection. The error for a value of another type names the range.
fn deflection<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_f64(DeflectionVisitor)
}

struct DeflectionVisitor;

impl Visitor<'_> for DeflectionVisitor {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number in [0, 1e-3]")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }
}

impl Default for SteppingConfig {
    fn default() -> Self {
        Self {
            tolerance: default_tolerance(),
            impact_speed: default_impact_speed(),
            deflection: default_deflection(),
        }
    }
}

impl SteppingConfig {
    pub(super) fn options(&self) -> Result<Stepping, ScenarioError> {
        let options = Stepping::new(self.tolerance, self.impact_speed);
        let options = options.and_then(|options| options.with_deflection(self.deflection));
        options.map_err(|error| {
            let MotionError::InvalidValue {
                what,
                value,
                allowed,
            } = error
            else {
                return ScenarioError::value("stepping", error);
            };
            let key = format!("stepping.{}", what.replace(' ', "_"));
            ScenarioError::value(&key, format!("{value} must be {allowed}"))
        })
    }
}

/// Keys of laws that time stepping ignores: it always uses `poisson`.
const LAWS: [&str; 4] = [
    "law.single",
    "law.several",
    "law.options",
    "law.restitution_law",
];

/// Returns those keys set by the user that only event-driven integration uses. `given`: true for a key that the user sets.
pub(super) fn given_of_events(given: &dyn Fn(&str) -> bool) -> Vec<&'static str> {
    LAWS.into_iter().filter(|key| given(key)).collect()
}
