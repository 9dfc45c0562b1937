//! Keys `[contact]` and `[[pairs]]` of a world.

use crate::ScenarioError;
use carom_world::MotionError;
use serde::Deserialize;

fn is_true() -> bool {
    true
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContactConfig {
    pub(super) friction: f64,
    pub(super) restitution: f64,
    /// True if two bodies that are connected by a joint can touch each other.
    #[serde(default)]
    pub(super) adjacent: bool,
    /// True if bodies of one articulation can touch each other: bodies connected by joints, but not through the ground.
    #[serde(rename = "self", default = "is_true")]
    pub(super) within: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairConfig {
    pub(super) between: [String; 2],
    pub(super) friction: Option<f64>,
    pub(super) restitution: Option<f64>,
    #[serde(default = "is_true")]
    pub(super) collide: bool,
}

pub(super) fn friction(key: &str, value: f64) -> Result<f64, ScenarioError> {
    if value >= 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(ScenarioError::value(
        key,
        format!("{value} must be at least 0 and finite"),
    ))
}

pub(super) fn restitution(key: &str, value: f64) -> Result<f64, ScenarioError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(value);
    }
    Err(ScenarioError::value(
        key,
        format!("{value} must lie in [0, 1]"),
    ))
}

/// Returns the kind and the text of an error. For bodies that overlap at the start, the keys that allow this follow, to copy.
pub(super) fn with_hint(error: &MotionError) -> String {
    let text = format!("{}: {error}", error.kind());
    match error {
        MotionError::InitialPenetration { first, second, .. } => format!(
            "{text}; if they may, add [[pairs]], between = [{first:?}, {second:?}], collide = false"
        ),
        _ => text,
    }
}
