//! Code shared by the scenarios of several papers.

pub(crate) mod ending;
pub(crate) mod plot;
pub(crate) mod projection;
pub(crate) mod sensitivity;

use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Behavior of a run if impacts accumulate at a time (Zeno).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Zeno {
    Rest,
    Stop,
    Error,
    Continue,
}

/// Appends warnings to the results of a record, which has the key `warnings` if there are any.
pub(crate) fn warn(results: &mut BTreeMap<String, Value>, warnings: impl Iterator<Item = String>) {
    for warning in warnings {
        let list = results
            .entry("warnings".to_owned())
            .or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(Value::from(warning));
        }
    }
}

/// Returns `count` equally spaced values from `first` to `last`.
pub(crate) fn linspace(first: f64, last: f64, count: usize) -> Vec<f64> {
    let steps = count.saturating_sub(1).max(1) as f64;
    (0..count)
        .map(|k| first + (last - first) * (k as f64 / steps))
        .collect()
}

/// Returns a vector as a list in JSON.
pub(crate) fn list(v: &Vector3<f64>) -> Value {
    json!([v.x, v.y, v.z])
}

/// Returns a matrix as a list of its rows in JSON.
pub(crate) fn rows(m: &Matrix3<f64>) -> Value {
    json!([
        [m.m11, m.m12, m.m13],
        [m.m21, m.m22, m.m23],
        [m.m31, m.m32, m.m33]
    ])
}
