//! Configurations: a scenario's commented TOML, overridden by a user's file and then by assignments.
//!
//! The defaults are stored in the TOML only. The three sources are merged into one [`Value`] whose parts
//! record their place in a source. The configuration type is deserialized from it once, so that an error of type or
//! range names the key and the place, whichever source the value is from.

mod assign;
mod checked;
mod merge;
mod parameters;
mod paths;
mod quaternions;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub(crate) use checked::{Count, Fraction, NonNegative, Positive, count};
pub(crate) use quaternions::{TOLD_LENGTH, normalized};

use crate::tree::{Fault, Kind, Place, Value, parse};
use crate::{Progress, ScenarioError};
use carom_report::Record;
use merge::{ASSIGNMENTS, DEFAULTS, FILE, is_default};
pub use paths::is_path;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// Changes that a user makes to the default configuration of a scenario: the text of a file, single assignments, and options of
/// the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// TOML text of a file; omitted keys keep their defaults. The key `title` replaces the summary of the record.
    pub toml: String,
    /// Path of the file, for error messages.
    pub file: Option<PathBuf>,
    /// Folder of the files that the text names; if left out that of [`file`](Self::file), else the current one.
    pub folder: Option<PathBuf>,
    /// Assignments `key.path=value`, applied in order after the file; the elements of a list
    /// count from 0, as in `masses.1=3`, and tables in it are found by their `name`, too.
    pub assignments: Vec<String>,
    /// Observer of the progress of a long run.
    pub progress: Progress,
    /// Number of threads for the steps of a world; the record does not depend on it. 0 or 1: the caller's thread only.
    pub threads: usize,
}

impl Overrides {
    /// Returns the folder of the files that the text names; `None` for the current one.
    fn root(&self) -> Option<&Path> {
        let of_file = || self.file.as_deref().and_then(Path::parent);
        self.folder.as_deref().or_else(of_file)
    }
}

/// A scenario's configuration after the user's changes.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    /// Title in the user's file.
    pub(crate) title: Option<String>,
    value: Value,
    defaults: Value,
    overrides: &'a Overrides,
    pub(crate) progress: &'a Progress,
}

impl<'a> Input<'a> {
    /// Reads the configuration of the scenario `name`: the default TOML text `toml`, changed by the user's file and
    /// assignments.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Config`] for text that is not TOML, for a file of another scenario, and for assignments to
    /// keys that do not exist.
    pub(crate) fn new(
        name: &str,
        toml: &str,
        overrides: &'a Overrides,
    ) -> Result<Self, ScenarioError> {
        let named = |fault| located(overrides, fault);
        let defaults = parse(toml, DEFAULTS).map_err(named)?;
        let mut value = defaults.clone();
        let mut file = parse(&overrides.toml, FILE).map_err(named)?;
        take_name(&mut file, name).map_err(named)?;
        let title = take_title(&mut file).map_err(named)?;
        value.merge(file);
        let has_parameters = matches!(name, "world" | "mechanism");
        for (source, assignment) in (ASSIGNMENTS..).zip(&overrides.assignments) {
            if has_parameters {
                let place = Place { source, byte: 0 };
                let at = |fault: Fault| Fault {
                    place: Some(place),
                    ..fault
                };
                parameters::check_assignment(&value, assignment)
                    .map_err(|fault| named(at(fault)))?;
            }
            assign::assign(&mut value, assignment, source).map_err(named)?;
        }
        if has_parameters {
            parameters::resolve(&mut value).map_err(named)?;
        }
        Ok(Self {
            title,
            value,
            defaults,
            overrides,
            progress: &overrides.progress,
        })
    }

    /// Returns what the user gave as one configuration file in TOML: the file with the assignments carried out, its title, and the
    /// name of the scenario. Relative paths are those seen from the current folder.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Config`] if TOML cannot represent it.
    pub(crate) fn given(&self, name: &str) -> Result<String, ScenarioError> {
        let root = self.overrides.root();
        let rooted = root.and_then(|folder| paths::rooted(&self.value, folder));
        let given = rooted.as_ref().unwrap_or(&self.value).given();
        let mut table = match given.map(|given| given.toml()) {
            Some(toml::Value::Table(table)) => table,
            _ => toml::Table::new(),
        };
        table.insert("scenario".to_owned(), name.into());
        if let Some(title) = &self.title {
            table.insert("title".to_owned(), title.as_str().into());
        }
        toml::to_string(&table).map_err(|error| ScenarioError::Config {
            message: error.to_string(),
        })
    }

    /// Deserializes the merged configuration. Returns it with an empty record whose `parameters` are this configuration.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Config`] with key and place.
    pub(crate) fn begin<C: DeserializeOwned>(&self) -> Result<(C, Record), ScenarioError> {
        let root = self.overrides.root();
        let rooted = root.and_then(|folder| paths::rooted(&self.value, folder));
        let value = rooted.as_ref().unwrap_or(&self.value);
        let config = C::deserialize(value).map_err(|fault| located(self.overrides, fault))?;
        let mut record = Record::new("", "");
        record.parameters = self.value.json();
        Ok((config, record))
    }

    /// Returns the input without the default values of the keys `keys`, which belong to another kind of what the user describes.
    pub(crate) fn without_defaults(&self, keys: &[&str]) -> Self {
        let mut value = self.value.clone();
        if let Kind::Table(entries) = &mut value.kind {
            entries
                .retain(|entry| !(keys.contains(&entry.key.as_str()) && is_default(entry.place)));
        }
        Self {
            title: self.title.clone(),
            value,
            defaults: self.defaults.clone(),
            ..*self
        }
    }

    /// True if the configuration has this key at its top.
    pub(crate) fn has(&self, key: &str) -> bool {
        let entries = self.value.entries().unwrap_or_default();
        entries.iter().any(|entry| entry.key == key)
    }

    /// True if the merged configuration equals the scenario's defaults, apart from the values of the top-level keys in `keys`.
    pub(crate) fn is_default_but_for(&self, keys: &[&str]) -> bool {
        let without = |value: &Value| match value.json() {
            serde_json::Value::Object(mut map) => {
                map.retain(|key, _| !keys.contains(&key.as_str()));
                map
            }
            _ => serde_json::Map::new(),
        };
        without(&self.value) == without(&self.defaults)
    }

    /// True if the keys in `keys` (paths, as in `shape.radius`) have the values of the scenario's defaults, or the whole
    /// configuration if the list is empty.
    pub(crate) fn has_defaults(&self, keys: &[String]) -> bool {
        let (now, defaults) = (self.value.json(), self.defaults.json());
        let is_same = |key: &String| {
            let path = format!("/{}", key.replace('.', "/"));
            now.pointer(&path) == defaults.pointer(&path)
        };
        if keys.is_empty() {
            now == defaults
        } else {
            keys.iter().all(is_same)
        }
    }

    /// Returns a warning for each quaternion of the user whose length is not 1 and is normalized.
    pub(crate) fn quaternion_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        self.value.visit("", &mut |key, value| {
            if !is_default(value.place)
                && let Some(quaternion) = value.quaternion()
            {
                warnings.extend(quaternions::warning(key, &quaternion));
            }
        });
        warnings
    }

    /// True if the user's file has at least one key.
    pub(crate) fn has_file(&self) -> bool {
        let file = parse(&self.overrides.toml, FILE);
        file.is_ok_and(|file| file.entries().is_ok_and(|entries| !entries.is_empty()))
    }

    /// Returns the number of threads that a scenario may use.
    pub(crate) fn threads(&self) -> usize {
        self.overrides.threads
    }

    /// True if the user sets this key, in a file or by an assignment.
    pub(crate) fn is_given(&self, key: &str) -> bool {
        !is_default(self.value.place_of(key))
    }

    /// Adds the place at which a faulty key was set (file and line, or assignment) to an error about that key. Other errors
    /// stay unchanged.
    pub(crate) fn locate(&self, error: ScenarioError) -> ScenarioError {
        match error {
            ScenarioError::Key { key, message } => {
                let place = Some(self.value.place_of(&key));
                let fault = Fault {
                    path: vec![key],
                    place,
                    message,
                };
                located(self.overrides, fault)
            }
            other => other,
        }
    }
}

/// Reads a configuration that belongs to no scenario: the text of `overrides` alone, without assignments.
///
/// # Errors
///
/// [`ScenarioError::Config`] with key and place.
pub(crate) fn read<C: DeserializeOwned>(
    overrides: &Overrides,
) -> Result<(C, Located<'_>), ScenarioError> {
    let named = |fault| located(overrides, fault);
    let value = parse(&overrides.toml, FILE).map_err(named)?;
    let config = C::deserialize(&value).map_err(named)?;
    Ok((config, Located { value, overrides }))
}

/// Text of a configuration with the places of its keys.
pub(crate) struct Located<'a> {
    value: Value,
    overrides: &'a Overrides,
}

impl Located<'_> {
    /// Adds the place of a faulty key to an error about it.
    pub(crate) fn locate(&self, error: ScenarioError) -> ScenarioError {
        match error {
            ScenarioError::Key { key, message } => {
                let place = Some(self.value.place_of(&key)).filter(|place| !is_default(*place));
                let place = place.or(Some(self.value.place));
                let fault = Fault {
                    path: vec![key],
                    place,
                    message,
                };
                located(self.overrides, fault)
            }
            other => other,
        }
    }
}

/// Longest allowed title of a file (characters).
const MOST_TITLE: usize = 200;

/// Removes the entry with the key `key` from the user's configuration file, and converts the text of the entry by the closure
/// `accept`. Returns `None` if the key is absent, and an error if the closure rejects the text.
fn take<T>(
    file: &mut Value,
    key: &str,
    accept: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Fault> {
    let Kind::Table(entries) = &mut file.kind else {
        return Ok(None);
    };
    let Some(at) = entries.iter().position(|entry| entry.key == key) else {
        return Ok(None);
    };
    let entry = entries.remove(at);
    let text = entry.value.text();
    let taken = text.and_then(accept);
    taken.map(Some).map_err(|message| Fault {
        path: vec![entry.key],
        place: Some(entry.place),
        message,
    })
}

/// Removes the key `scenario` from the user's configuration file. Returns an error if its value is not `name`, the scenario
/// that runs.
fn take_name(file: &mut Value, name: &str) -> Result<(), Fault> {
    let accept = |text: &str| {
        if text == name {
            Ok(())
        } else {
            Err(format!(
                "the file is a configuration of `{text}`, not of `{name}`"
            ))
        }
    };
    take(file, "scenario", accept).map(|_| ())
}

/// Removes the key `title` from the user's configuration file and returns its text, which replaces the scenario's summary.
/// `None` if the key is absent.
fn take_title(file: &mut Value) -> Result<Option<String>, Fault> {
    take(file, "title", title)
}

/// Returns a text without the blanks around it, if it is a title: one line of at most `MOST_TITLE` characters.
pub(crate) fn title(text: &str) -> Result<String, String> {
    let n = text.chars().count();
    if text.trim().is_empty() || n > MOST_TITLE || text.contains(char::is_control) {
        Err(format!(
            "is a line of 1 to {MOST_TITLE} characters, not one of {n}"
        ))
    } else {
        Ok(text.trim().to_owned())
    }
}

/// Returns the name of the scenario to which a configuration in TOML belongs. The name is the value of the key `scenario`.
/// Without this key the name is `world` if the text has `[[bodies]]`, `[[fill]]`, `[[joints]]` or `[urdf]`, and `mechanism` if
/// the text has `[[links]]` or `[system]`.
///
/// # Errors
///
/// [`ScenarioError::Config`] for text that is not TOML or does not tell the scenario.
pub fn scenario_of(toml: &str) -> Result<String, ScenarioError> {
    let overrides = Overrides {
        toml: toml.to_owned(),
        ..Overrides::default()
    };
    let file = parse(toml, FILE).map_err(|fault| located(&overrides, fault))?;
    let entries = file.entries().unwrap_or_default();
    let find = |key: &str| entries.iter().find(|entry| entry.key == key);
    if let Some(name) = find("scenario").and_then(|entry| entry.value.text().ok()) {
        return Ok(name.to_owned());
    }
    let kinds = [
        ("bodies", "world"),
        ("fill", "world"),
        ("joints", "world"),
        ("urdf", "world"),
        ("links", "mechanism"),
        ("system", "mechanism"),
    ];
    let found = kinds.iter().find(|(key, _)| find(key).is_some());
    found.map(|(_, name)| (*name).to_owned()).ok_or_else(|| {
        let message = "the file names no scenario: say scenario = \"NAME\" at its top, or give [[bodies]] or [urdf] (a world) or \
                       [[links]] or [system] (a mechanism)";
        ScenarioError::Config {
            message: message.to_owned(),
        }
    })
}

/// Converts a configuration fault to an error with the place in its message: file, line and column, or the user's assignment.
/// Key and description follow.
fn located(overrides: &Overrides, fault: Fault) -> ScenarioError {
    let message = match fault.place {
        Some(place) if place.source == FILE => {
            let (line, column) = place.line_and_column(&overrides.toml);
            let file = overrides.file.as_ref();
            let file = file.map_or_else(String::new, |path| format!("{}: ", path.display()));
            format!("{file}line {line}, column {column}: {fault}")
        }
        Some(place) if !is_default(place) => {
            let index = place.source - ASSIGNMENTS;
            let text = overrides.assignments.get(index).map_or("", String::as_str);
            format!("--set {text}: {fault}")
        }
        _ => fault.to_string(),
    };
    ScenarioError::Config { message }
}
