//! Construction of a law from its name and options.

use crate::error::{WireError, typed, typed_by};
use crate::nearest_name;
use crate::refusal::{of_law, would_be};
use carom_contact::{ContactSet, ImpactError};
use carom_impact::{LAWS, Law};
use serde_json::{Map, Value, json};

/// Returns the impact law with the given name, with default options. The error for an unknown name suggests the nearest
/// known one.
pub(crate) fn known_law(name: &str) -> Result<Law, WireError> {
    Law::named(name).ok_or_else(|| {
        let known: Vec<&str> = LAWS.iter().map(|info| info.name).collect();
        let hint = nearest_name(name, known.iter().copied())
            .map_or_else(|| ";".to_owned(), |name| format!("; did you mean `{name}`?"));
        let message = format!(
            "law: unknown law `{name}`{hint} `carom laws` tells which suits which impact; known: {}",
            known.join(", ")
        );
        WireError::new("unknown-law", message)
    })
}

/// Returns an error if the JSON input names an unknown impact law. The name of the law is checked first, because the law
/// decides which other keys are valid.
pub(crate) fn check_law(value: &Value) -> Result<(), WireError> {
    match value.get("law").and_then(Value::as_str) {
        Some(law) => known_law(law).map(|_| ()),
        _ => Ok(()),
    }
}

/// A law with its options, and the options of its answer.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) law: Law,
    /// Options of the answer instead of the law: `outcomes`, for laws that may have several, `bounds` and `trace`.
    rest: Map<String, Value>,
}

impl Asked {
    /// Parses the JSON options of an impact law and applies them to `law`, which has its default options. A null value
    /// keeps the default.
    pub(crate) fn read(law: &Law, options: &Map<String, Value>) -> Result<Self, WireError> {
        if options.is_empty() {
            return Ok(Self {
                law: law.clone(),
                rest: Map::new(),
            });
        }
        check_keys(law, options)?;
        let mut own = options.clone();
        own.retain(|_, value| !value.is_null());
        let mut rest = Map::new();
        for key in ["outcomes", "bounds", "trace"] {
            if let Some(value) = own.shift_remove(key) {
                rest.insert(key.to_owned(), value);
            }
        }
        merge_directions(&mut own)?;
        let law = typed_by(Value::Object(own), "options", |options| {
            law.with_options(options)
        })?;
        Ok(Self { law, rest })
    }

    /// Returns the option `key` if it concerns the form of the answer instead of the law: `outcomes`, `bounds` or `trace`.
    pub(crate) fn rest(&self, key: &str) -> Option<Value> {
        self.rest.get(key).cloned()
    }
}

/// Replaces the option `friction_directions: k` by the equivalent `friction_cone: {"polygon": k}`. Returns an error if both
/// are given and differ.
fn merge_directions(options: &mut Map<String, Value>) -> Result<(), WireError> {
    let Some(directions) = options.shift_remove("friction_directions") else {
        return Ok(());
    };
    let k: usize = typed(directions, "options.friction_directions")?;
    let polygon = json!({ "polygon": k });
    if let Some(cone) = options.get("friction_cone") {
        // In the plane the cone has two directions, so that both are equal; in space laws reject two directions.
        let is_same = *cone == polygon || (k == 2 && *cone == "round");
        if !is_same {
            return Err(WireError::new(
                "invalid-option",
                format!(
                    "options.friction_cone is {cone} and options.friction_directions is {k}: \
                     give one of them"
                ),
            ));
        }
    }
    options.insert("friction_cone".to_owned(), polygon);
    Ok(())
}

/// Returns an error if the JSON options contain a key that is no option of the law.
fn check_keys(law: &Law, options: &Map<String, Value>) -> Result<(), WireError> {
    let known: Vec<&str> = law.info().options.iter().map(|option| option.key).collect();
    let Some(key) = options.keys().find(|key| !known.contains(&key.as_str())) else {
        return Ok(());
    };
    let quoted: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
    let expected = match quoted.as_slice() {
        [] => "there are no fields".to_owned(),
        [one] => format!("expected {one}"),
        [one, other] => format!("expected {one} or {other}"),
        all => format!("expected one of {}", all.join(", ")),
    };
    let hint = nearest_name(key, known)
        .map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    let message = format!("options.{key}: unknown field `{key}`, {expected}{hint}");
    Err(WireError::new("invalid-input", message))
}

/// Converts an error of an impact law at these contacts to an error in JSON form, whose message begins with the JSON key at fault.
pub(crate) fn refused(law: &Law, contacts: &ContactSet, error: ImpactError) -> WireError {
    let is_nonholonomic = matches!(
        law,
        Law::NonholonomicElastic(_)
            | Law::NonholonomicProjected(_)
            | Law::NonholonomicNewton(_)
            | Law::NonholonomicProjectedNewton(_)
            | Law::NonholonomicRough(_)
    );
    match (law, &error) {
        (_, ImpactError::InvalidRestitution { .. }) => WireError::at("options.restitution", &error),
        _ if is_nonholonomic => WireError {
            evidence: would_be(&error).map(Box::new),
            ..WireError::at("law", &error)
        },
        (Law::Propagative(_), ImpactError::InvalidOption { .. }) => {
            WireError::at("options.outcomes", &error)
        }
        (Law::Propagative(_), _) => error.into(),
        (_, ImpactError::InvalidOption { .. } | ImpactError::InvalidContact { .. }) => {
            WireError::at("options", &error)
        }
        _ => of_law(contacts, &error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_a_law_are_those_that_are_read() {
        for law in Law::all() {
            let written = serde_json::to_value(&law).unwrap();
            assert_eq!(written["law"], law.info().name);
            let written = written["options"].as_object().unwrap();
            let listed = law.info().options;
            // These options are options of the answer, or another name of an option of the law.
            let elsewhere = ["outcomes", "friction_directions", "bounds", "trace"];
            for option in listed.iter().filter(|o| !elsewhere.contains(&o.key)) {
                let default = &written[option.key];
                // Defaults that depend on the problem are documented in words, not as JSON.
                if let Ok(told) = serde_json::from_str::<Value>(option.default) {
                    assert_eq!(*default, told, "{} {}", law.info().name, option.key);
                }
            }
            for key in written.keys() {
                assert!(listed.iter().any(|option| option.key == key), "{key}");
            }
        }
    }

    #[test]
    fn an_unknown_option_is_named_with_the_nearest_known_one() {
        let law = known_law("sequential").unwrap();
        let options = json!({"max_impact": 3});
        let error = Asked::read(&law, options.as_object().unwrap());
        let message = error.map(|_| ()).unwrap_err().message;
        assert!(message.starts_with("options.max_impact: unknown field `max_impact`"));
        assert!(
            message.ends_with("did you mean `max_impacts`?"),
            "{message}"
        );
    }
}
