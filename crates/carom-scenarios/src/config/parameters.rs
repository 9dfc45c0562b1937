//! Parameters of worlds and mechanisms, and numbers that are expressions of them.
//!
//! The table `parameters` names numbers. Any text `"=expression"` of the file is replaced by its value.

use crate::tree::{Entry, Fault, Kind, Value};
use carom_numeric::expression::{Expression, FUNCTIONS, Names, Scalar, Type};

/// Key of the table.
const KEY: &str = "parameters";

/// Keys whose texts are never expressions.
const TEXTS: [&str; 3] = ["name", "names", "title"];

/// Parameters whose values are known so far.
#[derive(Default)]
struct Known {
    names: Names,
    values: Vec<Scalar>,
}

fn table(root: &Value) -> &[Entry] {
    let entries = root.entries().unwrap_or_default();
    let found = entries.iter().find(|entry| entry.key == KEY);
    found.map_or(&[], |entry| entry.value.entries().unwrap_or_default())
}

/// Returns an error if an assignment names a parameter that the configuration does not have.
pub(super) fn check_assignment(root: &Value, assignment: &str) -> Result<(), Fault> {
    let path = assignment
        .split_once('=')
        .map_or("", |(path, _)| path.trim());
    let Some(name) = path
        .strip_prefix(KEY)
        .and_then(|rest| rest.strip_prefix('.'))
    else {
        return Ok(());
    };
    let known: Vec<&str> = table(root).iter().map(|entry| entry.key.as_str()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let near = carom_numeric::nearest_name(name, known.iter().copied());
    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(Fault::new(format!("no parameter is called `{name}`{hint}")))
}

/// Replaces the expressions of a configuration by their values.
pub(super) fn resolve(root: &mut Value) -> Result<(), Fault> {
    let mut known = Known::default();
    let Kind::Table(entries) = &mut root.kind else {
        return Ok(());
    };
    if let Some(entry) = entries.iter_mut().find(|entry| entry.key == KEY)
        && let Kind::Table(parameters) = &mut entry.value.kind
    {
        for parameter in parameters {
            known
                .add(parameter)
                .map_err(|fault| fault.within_key(KEY, entry.place))?;
        }
    }
    for entry in entries.iter_mut().filter(|entry| entry.key != KEY) {
        known
            .replace(&entry.key, &mut entry.value)
            .map_err(|fault| fault.within_key(&entry.key, entry.place))?;
    }
    Ok(())
}

impl Known {
    /// Adds a parameter, whose value may be an expression of earlier ones.
    fn add(&mut self, entry: &mut Entry) -> Result<(), Fault> {
        let within = |fault: Fault| fault.within_key(&entry.key, entry.place);
        let name = &entry.key;
        let mut letters = name.chars();
        let starts = letters
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let is_word = starts && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_word || FUNCTIONS.contains(&name.as_str()) || ["t", "pi"].contains(&name.as_str()) {
            let message = format!(
                "`{name}` is no name for expressions: letters, digits and _, not `t`, `pi` or a function"
            );
            return Err(within(Fault::new(message)));
        }
        self.replace("", &mut entry.value).map_err(within)?;
        let number = entry.value.number().map_err(Fault::new).map_err(within)?;
        if !number.is_finite() {
            return Err(within(Fault::new(format!("{number} must be finite"))));
        }
        self.names.add(name, Type::Float);
        self.values.push(Scalar::Float(number));
        Ok(())
    }

    /// Replaces the expressions in a value.
    fn replace(&self, key: &str, value: &mut Value) -> Result<(), Fault> {
        match &mut value.kind {
            Kind::Text(text) if !TEXTS.contains(&key) => {
                let Some(rest) = text.strip_prefix('=') else {
                    return Ok(());
                };
                let complain = |message: String| Fault {
                    place: Some(value.place),
                    ..Fault::new(format!("`{text}`: {message}"))
                };
                let expression = Expression::parse(rest, &self.names).map_err(complain)?;
                let found = expression.value(&self.values, &mut Vec::new());
                let Some(Scalar::Float(number)) = found else {
                    return Err(complain("has no finite value".to_owned()));
                };
                value.kind = Kind::Float(number);
            }
            Kind::List(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    let place = item.place;
                    self.replace(key, item)
                        .map_err(|fault| fault.within_item(i, place))?;
                }
            }
            Kind::Table(entries) => {
                for entry in entries {
                    let (name, place) = (&entry.key, entry.place);
                    self.replace(name, &mut entry.value)
                        .map_err(|fault| fault.within_key(name, place))?;
                }
            }
            _ => (),
        }
        Ok(())
    }
}
