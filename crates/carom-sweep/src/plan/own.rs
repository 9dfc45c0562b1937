//! Cells that run a scenario, with its defaults or with a configuration of one's own.

use super::axis::{Axis, Random};
use super::template::json;
use crate::source::{Fault, Node, joined};
use carom_numeric::expression::Scalar;
use carom_report::input::{MAX_TOML_BYTES, files_read, read_text};
use carom_scenarios::tree::Place;
use carom_scenarios::{Overrides, Progress, Scenario, ScenarioError, is_path};
use carom_wire::nearest_name;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

/// Scenario that the cells of a plan run.
#[derive(Clone, Debug)]
pub(crate) struct ScenarioCells {
    pub(crate) scenario: &'static Scenario,
    /// Configuration of one's own.
    pub(crate) file: Option<ConfigFile>,
}

/// Configuration file of a plan, read once.
#[derive(Clone, Debug)]
pub(crate) struct ConfigFile {
    /// Path as in the plan.
    pub(crate) name: String,
    path: PathBuf,
    text: String,
    /// SHA-256 of this file and of the files that it makes a cell read, in the order of reading.
    pub(super) hashes: Vec<String>,
}

/// Value that every cell sets: its name, its position in the plan and its table there.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) table: &'static str,
}

impl ConfigFile {
    /// Reads the configuration file that a plan in the folder `base` names.
    pub(super) fn read(node: &Node, base: &Path, scenario: &Scenario) -> Result<Self, Fault> {
        let name = node.text()?.to_owned();
        let given = base.join(&name);
        let path = std::path::absolute(&given).unwrap_or(given);
        let text = read_text(&path, MAX_TOML_BYTES)
            .map_err(|error| node.fault(format!("cannot read {}: {error}", path.display())))?;
        let file = Self {
            hashes: vec![crate::hex(&Sha256::digest(text.as_bytes()))],
            name,
            path,
            text,
        };
        scenario
            .configuration(&file.overrides(Vec::new()))
            .map_err(|error| node.fault(error.to_string()))?;
        Ok(file)
    }

    fn overrides(&self, assignments: Vec<String>) -> Overrides {
        Overrides {
            toml: self.text.clone(),
            file: Some(self.path.clone()),
            assignments,
            ..Overrides::default()
        }
    }
}

impl ScenarioCells {
    /// Returns the settings of a cell from its JSON input.
    pub(crate) fn overrides(&self, input: &Value) -> Overrides {
        let set = input.get("set").and_then(Value::as_object);
        // A JSON scalar is also a valid TOML value.
        let assign = |(key, value): (&String, &Value)| format!("{key}={value}");
        self.with(set.into_iter().flatten().map(assign).collect())
    }

    fn with(&self, assignments: Vec<String>) -> Overrides {
        match &self.file {
            Some(file) => file.overrides(assignments),
            None => Overrides {
                assignments,
                ..Overrides::default()
            },
        }
    }

    /// Removes the folder of the configuration from a message, which must not depend on where a plan lies.
    pub(crate) fn without_folder(&self, message: &str) -> String {
        let Some(file) = &self.file else {
            return message.to_owned();
        };
        let message = message.replace(&file.path.display().to_string(), &file.name);
        match file.path.parent() {
            Some(folder) => message.replace(&format!("{}/", folder.display()), ""),
            None => message,
        }
    }

    /// Checks that the first cell finds its keys, and adds the files that cells read to those of the digest. A random name without
    /// a dot that is no key of the configuration is not set.
    pub(super) fn complete(
        &mut self,
        seed: u64,
        axes: &[Axis],
        mut random: Option<&mut Random>,
    ) -> Result<(), Fault> {
        let mut files: Vec<PathBuf> = Vec::new();
        for choice in choices(axes) {
            loop {
                let set = settings(seed, axes, &choice, random.as_deref());
                let assign = |(setting, value): &(Setting, Scalar)| {
                    format!("{}={}", setting.name, json(value))
                };
                let overrides = self.with(set.iter().map(assign).collect());
                let set: Vec<Setting> = set.into_iter().map(|(setting, _)| setting).collect();
                if let Err(error) = self.scenario.configuration(&overrides) {
                    return Err(refused(&error.to_string(), &set, false)
                        .unwrap_or_else(|| elsewhere(&set, &error)));
                }
                if self.file.is_none() {
                    return Ok(());
                }
                let (error, opened) = self.attempt(overrides);
                files.extend(opened);
                let message = error.map_or_else(String::new, |error| error.to_string());
                let Some(fault) = refused(&message, &set, true) else {
                    break;
                };
                let name = set.iter().find(|setting| setting.place == fault.place);
                let name = name.map_or("", |setting| setting.name.as_str());
                let is_typo = fault.message.contains("did you mean");
                let columns = random.iter_mut().flat_map(|random| &mut random.columns);
                let mut column = columns.filter(|column| column.name == name);
                match column.next() {
                    Some(column) if !name.contains('.') && !is_typo => column.is_set = false,
                    _ => return Err(fault),
                }
            }
        }
        self.add_files(files);
        Ok(())
    }

    /// Runs a cell until its simulation begins, and returns its error and the files that it opened.
    fn attempt(&self, overrides: Overrides) -> (Option<ScenarioError>, Vec<PathBuf>) {
        let overrides = Overrides {
            progress: Progress::new(|_| resume_unwind(Box::new("the simulation begins"))),
            ..overrides
        };
        let run = || catch_unwind(AssertUnwindSafe(|| self.scenario.run(&overrides).err()));
        let (ended, files) = files_read(run);
        (ended.ok().flatten(), files)
    }

    fn add_files(&mut self, mut files: Vec<PathBuf>) {
        let Some(own) = &mut self.file else { return };
        files.sort();
        files.dedup();
        for file in files.iter().filter(|file| **file != own.path) {
            // A file that cannot be read is an error of the cells.
            if let Ok(bytes) = std::fs::read(file) {
                own.hashes.push(crate::hex(&Sha256::digest(&bytes)));
            }
        }
    }
}

/// Choices of an index for each axis: the first of all, and every other value of each axis that names files.
fn choices(axes: &[Axis]) -> Vec<Vec<u64>> {
    let first = vec![0; axes.len()];
    let mut all = vec![first.clone()];
    for (k, axis) in axes.iter().enumerate() {
        if is_path(&axis.name) {
            for index in 1..axis.len() {
                let mut choice = first.clone();
                if let Some(entry) = choice.get_mut(k) {
                    *entry = index;
                }
                all.push(choice);
            }
        }
    }
    all
}

/// Returns what the first cell sets, with another choice of the values of its axes.
fn settings(
    seed: u64,
    axes: &[Axis],
    choice: &[u64],
    random: Option<&Random>,
) -> Vec<(Setting, Scalar)> {
    let setting = |name: &str, place, table| Setting {
        name: name.to_owned(),
        place,
        table,
    };
    let axes = axes.iter().zip(choice);
    let axes = axes.filter_map(|(axis, index)| {
        Some((setting(&axis.name, axis.place, "axes"), axis.value(*index)?))
    });
    let columns = random.iter().flat_map(|random| (0..).zip(&random.columns));
    let columns = columns
        .filter(|(_, column)| column.is_set)
        .map(|(k, column)| {
            let value = Scalar::Float(column.value(seed, 0, k));
            (setting(&column.name, column.place, "random"), value)
        });
    axes.chain(columns).collect()
}

/// Converts the message of a cell to a fault of the plan if it is about a key that a setting of the plan names and that does not
/// exist: no cell can then be computed. `in_run`: the message is that of a run, in which values may be at fault, too.
pub(crate) fn refused(message: &str, settings: &[Setting], in_run: bool) -> Option<Fault> {
    let rest = message.strip_prefix("--set ")?;
    let is_named = |setting: &&Setting| {
        let text = rest.strip_prefix(setting.name.as_str());
        text.is_some_and(|text| text.starts_with('='))
    };
    let setting = settings.iter().find(is_named)?;
    let fault = |message: String| Fault {
        place: setting.place,
        key: joined(setting.table, &setting.name),
        message,
    };
    let unknown = message
        .split_once("unknown field `")
        .and_then(|(_, rest)| rest.split_once("`, expected "));
    let Some((name, known)) = unknown else {
        let (_, reason) = rest.split_once(": ")?;
        return (!in_run).then(|| fault(reason.to_owned()));
    };
    let hint = nearest_name(name, known.split('`').skip(1).step_by(2)).map_or_else(
        || {
            let known = known.strip_prefix("one of ").unwrap_or(known);
            format!("; known: {known}")
        },
        |near| format!("; did you mean `{near}`?"),
    );
    Some(fault(format!("unknown key `{name}`{hint}")))
}

/// Returns the fault of a message that names no setting, at the first of them.
fn elsewhere(settings: &[Setting], error: &ScenarioError) -> Fault {
    let place = settings
        .first()
        .map_or(crate::source::START, |first| first.place);
    Fault {
        place,
        key: "scenario".to_owned(),
        message: error.to_string(),
    }
}
