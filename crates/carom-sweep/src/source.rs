//! Values of a plan with their keys and positions, so that every error message has a line and a key.

use crate::SweepError;
use carom_scenarios::tree::{self, Entry, Kind, Place, Value, spelled};
use carom_wire::nearest_name;

/// Error in a plan, with its position and key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) key: String,
    pub(crate) message: String,
}

impl Fault {
    /// Converts this error to an error with line and column. `text` is the text of the plan, in which the error's position
    /// is counted in bytes.
    pub(crate) fn located(self, text: &str) -> SweepError {
        let (line, column) = self.place.line_and_column(text);
        SweepError::Plan {
            line,
            column,
            key: self.key,
            message: self.message,
        }
    }
}

/// Position of the first byte of the plan.
pub(crate) const START: Place = Place { source: 0, byte: 0 };

/// Value with its key.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Key of the value in its table.
    pub(crate) name: String,
    /// Full key from the outermost table on, for example `axes.angle`.
    pub(crate) path: String,
    /// Position of the key.
    place: Place,
    pub(crate) value: Value,
}

/// Parses a TOML text and returns the entries of its outermost table. Fails for text that is not TOML, and for infinite
/// numbers and NaN.
pub(crate) fn parse(text: &str) -> Result<Fields, Fault> {
    let value = tree::parse(text, START.source).map_err(|fault| {
        let place = fault.place.unwrap_or(START);
        let key = match fault.key() {
            key if key.is_empty() => key_near(text, place.byte),
            key => key,
        };
        Fault {
            place,
            key,
            message: fault.message,
        }
    })?;
    check_finite(&value, "")?;
    let root = Node {
        name: String::new(),
        path: String::new(),
        place: START,
        value,
    };
    root.into_table()
}

/// Returns an error if a number inside a value is infinite or NaN, which JSON cannot represent. `path` is the full key of
/// the value.
fn check_finite(value: &Value, path: &str) -> Result<(), Fault> {
    match &value.kind {
        Kind::Float(number) if !number.is_finite() => Err(Fault {
            place: value.place,
            key: path.to_owned(),
            message: format!("{number} is not a finite number"),
        }),
        Kind::List(items) => items.iter().enumerate().try_for_each(|(i, item)| {
            // For plain numbers the key is built only for the invalid one.
            let is_plain = !matches!(&item.kind, Kind::List(_) | Kind::Table(_));
            if is_plain && !matches!(&item.kind, Kind::Float(x) if !x.is_finite()) {
                return Ok(());
            }
            check_finite(item, &format!("{path}[{i}]"))
        }),
        Kind::Table(entries) => entries
            .iter()
            .try_for_each(|entry| check_finite(&entry.value, &joined(path, &entry.key))),
        _ => Ok(()),
    }
}

/// Returns the full key `path.key` of an entry with key `key` in the table with full key `path`; the outermost table has an
/// empty path.
pub(crate) fn joined(path: &str, key: &str) -> String {
    let key = spelled(key);
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}

/// Finds the key to name in an error message about text that is not TOML: the key on the line that contains byte `at`,
/// preceded by the name of its table. Returns an empty text if the line has no key.
fn key_near(text: &str, at: usize) -> String {
    let is_key = |key: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.\"".contains(c);
        !key.is_empty() && key.chars().all(is_part)
    };
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next());
    let key = line
        .and_then(|line| line.split_once('='))
        .map_or("", |(key, _)| key.trim());
    let headers = text.get(..start).unwrap_or_default().lines().rev();
    let mut tables = headers.filter_map(|line| line.strip_prefix('[')?.split_once(']'));
    let table = tables.next().map_or("", |(table, _)| table.trim());
    match (is_key(table), is_key(key)) {
        (_, false) => String::new(),
        (false, true) => key.to_owned(),
        (true, true) => format!("{table}.{key}"),
    }
}

impl Node {
    /// Creates the value of an entry in a table, with its full key and position. `path` is the full key of the table.
    fn entry(path: &str, entry: Entry) -> Self {
        Self {
            path: joined(path, &entry.key),
            name: entry.key,
            place: entry.place,
            value: entry.value,
        }
    }

    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault {
            place: self.place,
            key: self.path.clone(),
            message: message.into(),
        }
    }

    /// Creates an error about the entry with index `index` of this list, with the position and full key of the entry.
    pub(crate) fn item_fault(&self, index: usize, message: impl Into<String>) -> Fault {
        let items = self.value.items().unwrap_or_default();
        Fault {
            place: items.get(index).map_or(self.place, |item| item.place),
            key: format!("{}[{index}]", self.path),
            message: message.into(),
        }
    }

    pub(crate) fn text(&self) -> Result<&str, Fault> {
        self.value.text().map_err(|message| self.fault(message))
    }

    /// Returns this value as an integer from `low` to `high`; fails for any other value.
    pub(crate) fn count(&self, low: u64, high: u64) -> Result<u64, Fault> {
        count(&self.value, low, high).map_err(|message| self.fault(message))
    }

    pub(crate) fn list(&self) -> Result<&[Value], Fault> {
        self.value.items().map_err(|message| self.fault(message))
    }

    /// Converts the entry with index `index` of this list by the function `read`. An error gets the position and full key
    /// of the entry.
    pub(crate) fn item<'n, T>(
        &'n self,
        index: usize,
        read: impl FnOnce(&'n Value) -> Result<T, String>,
    ) -> Result<T, Fault> {
        let item = self.list()?.get(index);
        let item = item.ok_or_else(|| self.fault(format!("there is no item {index}")))?;
        read(item).map_err(|message| self.item_fault(index, message))
    }

    pub(crate) fn into_table(self) -> Result<Fields, Fault> {
        let message = match self.value.kind {
            Kind::Table(entries) => {
                let entry = |entry| Self::entry(&self.path, entry);
                return Ok(Fields {
                    place: self.place,
                    rest: entries.into_iter().map(entry).collect(),
                    path: self.path,
                });
            }
            _ => self.value.entries().err().unwrap_or_default(),
        };
        Err(self.fault(message))
    }
}

/// Converts a value of the plan to an integer from `low` to `high`.
///
/// # Errors
///
/// An error message for any other value.
pub(crate) fn count(value: &Value, low: u64, high: u64) -> Result<u64, String> {
    let value = value.integer()?;
    u64::try_from(value)
        .ok()
        .filter(|value| (low..=high).contains(value))
        .ok_or_else(|| format!("{value} must lie between {low} and {high}"))
}

/// Entries of a table that have not been taken yet.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    place: Place,
    path: String,
    pub(crate) rest: Vec<Node>,
}

impl Fields {
    pub(crate) fn take(&mut self, name: &str) -> Option<Node> {
        let index = self.rest.iter().position(|node| node.name == name)?;
        Some(self.rest.remove(index))
    }

    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault {
            place: self.place,
            key: self.path.clone(),
            message: message.into(),
        }
    }

    pub(crate) fn require(&mut self, name: &str) -> Result<Node, Fault> {
        self.take(name)
            .ok_or_else(|| self.fault(format!("the key `{name}` is missing")))
    }

    /// Returns an error if entries of the table were not read, because their keys are unknown. `known` are the keys that
    /// the table may have; the message suggests the nearest one.
    pub(crate) fn finish(self, known: &[&str]) -> Result<(), Fault> {
        let Some(node) = self.rest.first() else {
            return Ok(());
        };
        let hint = nearest_name(&node.name, known.iter().copied()).map_or_else(
            || format!("; known: {}", known.join(", ")),
            |name| format!("; did you mean `{name}`?"),
        );
        Err(node.fault(format!("unknown key{hint}")))
    }
}
