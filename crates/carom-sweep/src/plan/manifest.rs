//! Complete plan as in `plan.json`, and its digest.

use super::axis::{Axis, Random};
use super::column::Column;
use super::own::ConfigFile;
use super::states::States;
use carom_numeric::NUMERICS_VERSION;
use carom_numeric::expression::Expression;
use carom_wire::Command;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Name of the format of folders and files.
pub(crate) const FORMAT: &str = "carom-sweep-1";

pub(super) struct Contents<'a> {
    pub(super) name: &'a str,
    pub(super) seed: u64,
    pub(super) command: Option<Command>,
    pub(super) problem: Option<Value>,
    pub(super) scenario: Option<&'a str>,
    pub(super) config: Option<&'a ConfigFile>,
    pub(super) states: Option<&'a States>,
    pub(super) lets: &'a [(String, Expression)],
    pub(super) axes: &'a [Axis],
    pub(super) random: Option<&'a Random>,
    pub(super) columns: &'a [Column],
    pub(super) cells: u64,
    pub(super) cells_per_shard: u64,
}

/// Converts the plan of a sweep to JSON. Returns the JSON object with its SHA-256 digest, and this digest. Axes, names and
/// columns are JSON lists, because their order matters.
pub(super) fn write(contents: &Contents<'_>) -> (Map<String, Value>, String) {
    let lets: Vec<Value> = contents
        .lets
        .iter()
        .map(|(name, expression)| json!({ "name": name, "expression": expression.text() }))
        .collect();
    let axes: Vec<Value> = contents.axes.iter().map(Axis::json).collect();
    let columns: Vec<Value> = contents.columns.iter().map(Column::json).collect();
    let states = contents
        .states
        .map(|states| json!({ "sha256": states.sha256, "count": states.len() }));
    let command = contents.command.map(Command::name);
    let parts = [
        ("format", json!(FORMAT)),
        ("name", json!(contents.name)),
        ("seed", json!(contents.seed)),
        ("command", json!(command)),
        ("problem", json!(contents.problem)),
        ("scenario", json!(contents.scenario)),
        ("states", json!(states)),
        ("let", json!(lets)),
        ("axes", json!(axes)),
        ("random", json!(contents.random.map(Random::json))),
        ("columns", json!(columns)),
        ("cells", json!(contents.cells)),
        ("cells_per_shard", json!(contents.cells_per_shard)),
        (
            "shards",
            json!(contents.cells.div_ceil(contents.cells_per_shard)),
        ),
        ("numerics", json!(NUMERICS_VERSION)),
    ];
    let parts = parts
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    let mut manifest: Map<String, Value> = parts.collect();
    if let Some(config) = contents.config {
        manifest.insert("config".to_owned(), json!(config.hashes));
    }
    let digest = digest_of(&manifest);
    manifest.insert("digest".to_owned(), json!(digest));
    (manifest, digest)
}

/// Computes the SHA-256 digest of a plan in JSON, as hexadecimal digits. The text that is hashed has sorted keys, no white
/// space and no key `digest`.
pub(crate) fn digest_of(manifest: &Map<String, Value>) -> String {
    let mut manifest = manifest.clone();
    manifest.shift_remove("digest");
    let text = sorted(&Value::Object(manifest)).to_string();
    crate::hex(&Sha256::digest(text.as_bytes()))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries.into_iter();
            Value::Object(
                entries
                    .map(|(key, value)| (key.clone(), sorted(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// Returns the keys whose values differ between two plans in JSON. The keys `digest`, `cells` and `shards` are left out,
/// because their values follow from the others.
pub(crate) fn parts_that_differ(
    one: &Map<String, Value>,
    other: &Map<String, Value>,
) -> Vec<String> {
    let follows = ["digest", "cells", "shards"];
    let keys = one.keys().filter(|key| !follows.contains(&key.as_str()));
    keys.filter(|key| one.get(*key) != other.get(*key))
        .cloned()
        .collect()
}
