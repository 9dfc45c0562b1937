//! Configurations: commented TOML in, validated data out.

use crate::ScenarioError;
use crate::scenario::Configuration;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a user changes of a scenario's default configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// TOML text of a file; keys left out keep their defaults.
    pub toml: String,
    /// Assignments `key.path=value`, applied after the file in this order.
    pub assignments: Vec<String>,
    /// Who is told how far a long run is.
    pub progress: crate::Progress,
}

/// Reads a configuration: defaults, then the file, then the assignments.
///
/// # Errors
///
/// [`ScenarioError::Config`] that names the key and, for the file, line and column.
pub(crate) fn read<C: Configuration>(overrides: &Overrides) -> Result<C, ScenarioError> {
    let config = parse::<C>(&overrides.toml)?;
    if overrides.assignments.is_empty() {
        return Ok(config);
    }
    let mut table = parse::<toml::Table>(&overrides.toml)?;
    let defaults = parse::<toml::Table>(C::TOML)?;
    for assignment in &overrides.assignments {
        assign(&mut table, &defaults, assignment)?;
        // After each one, so that the message is about the assignment at fault.
        let value = toml::Value::Table(table.clone());
        serde_path_to_error::deserialize::<_, C>(value).map_err(|error| {
            let message = first_line(&error.inner().to_string());
            bad(format!(
                "--set {assignment}: key `{}`: {message}",
                error.path()
            ))
        })?;
    }
    let value = toml::Value::Table(table);
    serde_path_to_error::deserialize(value).map_err(|error| bad(error.to_string()))
}

fn parse<C: DeserializeOwned>(text: &str) -> Result<C, ScenarioError> {
    let failed = |path: Option<String>, error: toml::de::Error| {
        let place = match error.span() {
            Some(span) => {
                let before = text.get(..span.start).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
                format!("line {line}, column {column}: ")
            }
            None => String::new(),
        };
        let key = path
            .filter(|p| p != ".")
            .map(|p| format!("key `{p}`: "))
            .unwrap_or_default();
        bad(format!("{place}{key}{}", first_line(error.message())))
    };
    let deserializer = toml::Deserializer::parse(text).map_err(|error| failed(None, error))?;
    serde_path_to_error::deserialize(deserializer)
        .map_err(|error| failed(Some(error.path().to_string()), error.into_inner()))
}

/// A table that the file does not have starts from the defaults, so that one key of it can be set
/// where others, like the type of a shape, must be there too.
fn assign(
    table: &mut toml::Table,
    defaults: &toml::Table,
    assignment: &str,
) -> Result<(), ScenarioError> {
    let complain = |why: &str| bad(format!("--set {assignment}: {why}"));
    let (path, value) = assignment
        .split_once('=')
        .ok_or_else(|| complain("expected key.path=value"))?;
    let parsed = parse::<toml::Table>(&format!("value = {value}"));
    // A bare word is a string, so that quotes need not survive a shell.
    let value = match parsed.ok().and_then(|mut t| t.remove("value")) {
        Some(value) => value,
        None => toml::Value::String(value.to_owned()),
    };
    let mut keys: Vec<&str> = path.split('.').map(str::trim).collect();
    let last = keys
        .pop()
        .filter(|key| !key.is_empty())
        .ok_or_else(|| complain("empty key"))?;
    let mut at = table;
    let mut default = Some(defaults);
    for key in keys {
        default = default.and_then(|d| d.get(key)).and_then(|d| d.as_table());
        let inner = at
            .entry(key)
            .or_insert_with(|| toml::Value::Table(default.cloned().unwrap_or_default()));
        at = inner
            .as_table_mut()
            .ok_or_else(|| complain(&format!("`{key}` is not a table")))?;
    }
    at.insert(last.to_owned(), value);
    Ok(())
}

/// A configuration as the record keeps it.
pub(crate) fn parameters<C: Serialize>(config: &C) -> serde_json::Value {
    serde_json::to_value(config).unwrap_or(serde_json::Value::Null)
}

/// Every entry of a list must be finite and positive.
pub(crate) fn positive(key: &str, values: &[f64]) -> Result<(), ScenarioError> {
    match values.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
        Some(value) => Err(ScenarioError::value(
            key,
            format!("{value} must be positive"),
        )),
        None => Ok(()),
    }
}

/// Every entry of a list must be finite.
pub(crate) fn finite(key: &str, values: &[f64]) -> Result<(), ScenarioError> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(value) => Err(ScenarioError::value(key, format!("{value} must be finite"))),
        None => Ok(()),
    }
}

/// A count must lie within bounds that keep a run and its figures usable.
pub(crate) fn count(key: &str, value: usize, low: usize, high: usize) -> Result<(), ScenarioError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(ScenarioError::value(
        key,
        format!("{value} must lie between {low} and {high}"),
    ))
}

fn bad(message: String) -> ScenarioError {
    ScenarioError::Config { message }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Config {
        masses: Vec<f64>,
        name: String,
        shape: Shape,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "type", rename_all = "lowercase")]
    enum Shape {
        Disk { radius: f64 },
        Square { side: f64 },
    }

    impl Configuration for Config {
        const TOML: &'static str = "[shape]\ntype = \"disk\"\nradius = 1.0";
    }

    impl Default for Config {
        fn default() -> Self {
            Self {
                masses: vec![1.0],
                name: "a".to_owned(),
                shape: Shape::Disk { radius: 1.0 },
            }
        }
    }

    fn message(toml: &str, assignments: &[&str]) -> String {
        let assignments = assignments.iter().map(|s| (*s).to_owned()).collect();
        match read::<Config>(&Overrides {
            toml: toml.to_owned(),
            assignments,
            ..Overrides::default()
        }) {
            Ok(config) => format!("{config:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn assignments_come_after_the_file_and_bare_words_are_strings() {
        let read = message("masses = [2.0]", &["masses=[3, 4.5]", "name=word"]);
        let expected =
            r#"Config { masses: [3.0, 4.5], name: "word", shape: Disk { radius: 1.0 } }"#;
        assert_eq!(read, expected);
    }

    #[test]
    fn one_key_of_a_tagged_table_can_be_set_alone() {
        let read = message("", &["shape.radius=2"]);
        assert!(read.contains("shape: Disk { radius: 2.0 }"), "{read}");
        let file = "[shape]\ntype = \"square\"\nside = 1.0";
        let read = message(file, &["shape.side=3"]);
        assert!(read.contains("shape: Square { side: 3.0 }"), "{read}");
    }

    #[test]
    fn a_fault_in_the_file_is_named_with_its_place() {
        let text = message("name = \"x\"\nmass = 1", &[]);
        assert!(text.starts_with("line 2, column 1: key `mass`"), "{text}");
        let text = message("masses = [1.0, \"x\"]", &[]);
        assert!(
            text.contains("line 1, column 16") && text.contains("masses[1]"),
            "{text}"
        );
    }

    #[test]
    fn a_fault_in_an_assignment_is_named_with_its_key() {
        let text = message("", &["massess=1"]);
        assert!(
            text.contains("--set massess=1") && text.contains("massess"),
            "{text}"
        );
        assert!(message("", &["masses"]).contains("key.path=value"));
    }
}
