//! Starts of a robot's joints against their limits.

use super::model::{Joint, Model};
use super::{Start, UrdfConfig};
use crate::ScenarioError;
use std::collections::BTreeMap;

/// Coordinate that starts at its nearest limit instead of outside.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clipped {
    pub(super) joint: String,
    /// Start without limits (rad or m).
    pub(super) from: f64,
    /// Limit at which the coordinate starts (rad or m).
    pub(super) to: f64,
}

/// Returns the limits of a joint (rad or m); `None` without limits, or if they leave no room.
pub(super) fn limits(joint: &Joint) -> Option<[f64; 2]> {
    joint.limits.filter(|[lower, upper]| lower < upper)
}

/// Checks the starts of all joints against their limits, and clips those that the configuration does not name if it asks for
/// that. The error names all joints that start outside.
pub(super) fn clip(
    config: &UrdfConfig,
    model: &mut Model,
    positions: &mut BTreeMap<String, f64>,
) -> Result<Vec<Clipped>, ScenarioError> {
    let (mut clipped, mut faults) = (Vec::new(), Vec::new());
    for joint in &model.joints {
        let Some([lower, upper]) = limits(joint) else {
            continue;
        };
        let given = config.joints.get(&joint.name).copied();
        let from = given.unwrap_or(0.0);
        // A number that is not finite is a fault of its own.
        let to = if from.is_finite() {
            from.clamp(lower, upper)
        } else {
            from
        };
        if from == to || !from.is_finite() {
            continue;
        }
        let (joint, moved) = (
            joint.name.clone(),
            Clipped {
                joint: joint.name.clone(),
                from,
                to,
            },
        );
        if given.is_none() && config.start == Start::Clip {
            let bound = if from < lower {
                "below the lower"
            } else {
                "above the upper"
            };
            let why = format!("{from} is {bound} limit: it starts at {to}");
            model.notes.warn("start", &joint, &why);
            positions.insert(joint, to);
            clipped.push(moved);
        } else {
            faults.push((moved, [lower, upper], given.is_some()));
        }
    }
    if faults.is_empty() {
        return Ok(clipped);
    }
    let told: Vec<String> = faults
        .iter()
        .map(|(c, [lower, upper], _)| format!("`{}` at {} ({lower} to {upper})", c.joint, c.from))
        .collect();
    let to_copy: Vec<String> = faults
        .iter()
        .map(|(c, _, _)| format!("{} = {}", spelled(&c.joint), number(c.to)))
        .collect();
    let others = faults.iter().any(|(_, _, is_given)| !is_given);
    let hint = if others {
        "; start = \"clip\" starts the others at their nearest limits"
    } else {
        ""
    };
    let message = format!(
        "outside the limits: {}; joints = {{ {} }}{hint}",
        told.join(", "),
        to_copy.join(", ")
    );
    Err(ScenarioError::value("urdf.joints", message))
}

/// Writes a number of a TOML text, which has a point or an exponent.
fn number(value: f64) -> String {
    format!("{value:?}")
}

/// Writes the key of a TOML table, in quotation marks where it needs them.
fn spelled(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_bare {
        key.to_owned()
    } else {
        format!("{key:?}")
    }
}
