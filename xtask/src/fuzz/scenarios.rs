//! Quick scenarios with one or two of their parameters changed.

use super::target::Target;
use carom_scenarios::{Overrides, SCENARIOS};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Scenarios whose defaults run in less than a tenth of a second without optimization.
const QUICK: [&str; 26] = [
    "ball-impacts",
    "bouncing-body",
    "chaplygin-sleigh",
    "closest-points",
    "controlled-penny",
    "elastic-ball",
    "falling-block",
    "hodographs",
    "icosahedron-tetrahedron",
    "knife-edge",
    "light-ball",
    "mechanism",
    "newtons-cradle",
    "no-slip-disk",
    "orthogonal-corner",
    "pendulum-cradle",
    "penny",
    "penny-restitution",
    "pin-and-ball",
    "plate-on-legs",
    "recompression",
    "reflection-wedge",
    "rolling-ball",
    "snakeboard",
    "tilted-block",
    "wall-pendulum",
];

pub(super) fn target() -> anyhow::Result<Target> {
    for name in QUICK {
        let known = carom_scenarios::scenario(name).is_some();
        anyhow::ensure!(known, "there is no scenario {name}");
    }
    Ok(Target {
        name: "scenarios",
        input,
        check: Box::new(check),
    })
}

/// Returns the full path and the value of each key in the default configuration of the scenario `name`.
fn parameters(name: &str) -> Vec<(String, toml::Value)> {
    fn collect(path: &str, value: &toml::Value, into: &mut Vec<(String, toml::Value)>) {
        let inner: Vec<(String, &toml::Value)> = match value {
            toml::Value::Table(table) => table.iter().map(|(k, v)| (k.clone(), v)).collect(),
            toml::Value::Array(list) => list
                .iter()
                .enumerate()
                .map(|(k, v)| (k.to_string(), v))
                .collect(),
            _ => Vec::new(),
        };
        if !path.is_empty() {
            into.push((path.to_owned(), value.clone()));
        }
        for (key, value) in inner {
            let path = if path.is_empty() {
                key
            } else {
                format!("{path}.{key}")
            };
            collect(&path, value, into);
        }
    }
    let mut all = Vec::new();
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    if let Some(value) = scenario.and_then(|s| s.default_toml.parse().ok()) {
        collect("", &toml::Value::Table(value), &mut all);
    }
    all
}

/// Generates replacements for a configuration value: values of another size or type. Counts are not increased, so that runs
/// stay short.
fn other(value: &toml::Value) -> BoxedStrategy<String> {
    let odd = select(vec![
        "nan", "inf", "-inf", "-1", "0", "1", "2", "0.5", "1e-300", "true", "[]", "{}", "'x'",
    ])
    .prop_map(str::to_owned);
    match value {
        toml::Value::Float(x) => {
            let x = *x;
            prop_oneof![
                3 => (0.5..2.0f64).prop_map(move |factor| format!("{:?}", x * factor)),
                1 => (-2.0..2.0f64).prop_map(|y| format!("{y:?}")),
                2 => odd,
            ]
            .boxed()
        }
        _ => odd.boxed(),
    }
}

fn input() -> BoxedStrategy<Value> {
    select(QUICK.to_vec())
        .prop_flat_map(|name| {
            let one = select(parameters(name)).prop_flat_map(|(key, value)| {
                other(&value).prop_map(move |value| format!("{key}={value}"))
            });
            (Just(name), prop::collection::vec(one, 1..3))
        })
        .prop_map(|(name, set)| json!({"scenario": name, "set": set}))
        .boxed()
}

fn check(input: &Value) -> Result<(), String> {
    let name = input["scenario"].as_str().unwrap_or_default();
    let scenario = carom_scenarios::scenario(name).ok_or("no such scenario")?;
    let assignments = input["set"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let overrides = Overrides {
        assignments: assignments
            .iter()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect(),
        ..Overrides::default()
    };
    match scenario.run(&overrides) {
        Ok(record) => match record.non_finite() {
            Some(path) => Err(format!("{path} is not finite")),
            None => carom_report::export::json(&record)
                .map(drop)
                .map_err(|e| e.to_string()),
        },
        Err(error) if error.to_string().trim().is_empty() => Err("an empty message".to_owned()),
        Err(_) => Ok(()),
    }
}
