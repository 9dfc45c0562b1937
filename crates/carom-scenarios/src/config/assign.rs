//! Assignments of the form `key.path=value`.

use super::merge::insert;
use crate::tree::{Entry, Fault, Kind, Place, Value, parse_value};

/// Carries out the assignment `key.path=value` of a user on the configuration `root`. The path leads to one key, one element
/// of a list, or a whole list or table. An element of a list is found by its index, or by its `name` if it is a table. `source`: number of the assignment as a source of values, for error messages.
pub(super) fn assign(root: &mut Value, assignment: &str, source: usize) -> Result<(), Fault> {
    let place = Place { source, byte: 0 };
    let complain = |message: String| Fault {
        place: Some(place),
        ..Fault::new(message)
    };
    let (path, text) = assignment
        .split_once('=')
        .ok_or_else(|| complain("expected key.path=value".to_owned()))?;
    let value = assigned(text, place)?;
    let mut keys: Vec<&str> = path.split('.').map(str::trim).collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(complain("empty key".to_owned()));
    }
    let last = keys.pop().unwrap_or_default();
    let mut at = root;
    for key in keys {
        at = inner(at, key, place).map_err(complain)?;
    }
    match &mut at.kind {
        Kind::Table(table) => insert(
            table,
            Entry {
                key: last.to_owned(),
                place,
                value,
            },
        ),
        _ => inner(at, last, place).map_err(complain)?.merge(value),
    }
    Ok(())
}

/// Parses the right side of an assignment as a TOML value. Any other text counts as a string, because a shell removes
/// quotation marks. `place`: origin of the text, for error messages.
fn assigned(text: &str, place: Place) -> Result<Value, Fault> {
    parse_value(text, place.source).unwrap_or_else(|| {
        Ok(Value {
            kind: Kind::Text(text.to_owned()),
            place,
        })
    })
}

/// Returns the value under a key of a table, or under an index of a list. A key that is missing in a table is added, with an
/// empty table as its value; `place` becomes the origin of this entry.
fn inner<'v>(value: &'v mut Value, key: &str, place: Place) -> Result<&'v mut Value, String> {
    match &mut value.kind {
        Kind::Table(table) => {
            let index = table.iter().position(|entry| entry.key == key);
            let index = index.unwrap_or_else(|| {
                table.push(Entry {
                    key: key.to_owned(),
                    place,
                    value: Value {
                        kind: Kind::Table(Vec::new()),
                        place,
                    },
                });
                table.len() - 1
            });
            let entry = table.get_mut(index);
            entry.map(|entry| &mut entry.value).ok_or_else(String::new)
        }
        Kind::List(items) => {
            let place = element(items, key)?;
            let length = items.len();
            items.get_mut(place).ok_or_else(|| {
                format!("`{key}` is no element of a list of {length}, which count from 0")
            })
        }
        _ => Err(format!("`{key}` is a part of what has no parts")),
    }
}

/// Returns the index of the element of a list that a part of a path means: a number is an index, any other text the `name` of an
/// element that is a table.
fn element(items: &[Value], key: &str) -> Result<usize, String> {
    if let Ok(index) = key.parse() {
        return Ok(index);
    }
    let names: Vec<(usize, &str)> = (0..).zip(items).filter_map(named).collect();
    if let Some((index, _)) = names.iter().find(|(_, name)| *name == key) {
        return Ok(*index);
    }
    let length = items.len();
    if names.is_empty() {
        return Err(format!(
            "`{key}` is no element of a list of {length}, which count from 0"
        ));
    }
    let near = carom_numeric::nearest_name(key, names.iter().map(|(_, name)| *name));
    let hint = near.map_or_else(
        || "; a number is an index from 0".to_owned(),
        |near| format!("; did you mean `{near}`?"),
    );
    Err(format!("no element of the list has the name `{key}`{hint}"))
}

fn named((index, item): (usize, &Value)) -> Option<(usize, &str)> {
    let entries = item.entries().ok()?;
    let name = entries.iter().find(|entry| entry.key == "name")?;
    Some((index, name.value.text().ok()?))
}
