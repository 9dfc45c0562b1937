//! Merges the three sources of a configuration: defaults, a file, and assignments.

use crate::tree::{Entry, Kind, Place, Table, Value};

/// Source number of the scenario's own TOML, see [`Place`].
pub(super) const DEFAULTS: usize = 0;

/// Source number of the user's file.
pub(super) const FILE: usize = 1;

/// Source number of the first assignment; the next assignments have the next numbers.
pub(super) const ASSIGNMENTS: usize = 2;

/// True if a place (source and position of a configuration value) lies in the scenario's default TOML, not in a user's file or
/// assignment.
pub(super) fn is_default(place: Place) -> bool {
    place.source == DEFAULTS
}

impl Value {
    /// Returns the entry of a table with the key `segment`, or the item of a list with the index `segment`. `None` if it does
    /// not exist.
    fn child(&self, segment: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Table(table) => Some(&table.iter().find(|entry| entry.key == segment)?.value),
            Kind::List(items) => items.get(segment.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Returns the place (source and position) at which a configuration key was set. If the key does not exist, returns the
    /// place of the innermost existing part of its path, or a place in the defaults if no part exists.
    pub(super) fn place_of(&self, key: &str) -> Place {
        let start = Place {
            source: DEFAULTS,
            byte: 0,
        };
        let (mut at, mut place) = (self, start);
        for segment in key.split(['.', '[']).map(|s| s.trim_end_matches(']')) {
            let Some(inner) = at.child(segment) else {
                break;
            };
            (at, place) = (inner, inner.place);
        }
        place
    }

    /// Returns the parts of a configuration that the user gave: without entries of tables that are defaults inside and out. A list
    /// with a part that the user gave is kept whole. `None` if nothing was given.
    pub(super) fn given(&self) -> Option<Self> {
        let kind = match &self.kind {
            Kind::Table(entries) => {
                let given = entries.iter().filter_map(|entry| {
                    let value = entry
                        .value
                        .given()
                        .or_else(|| (!is_default(entry.place)).then(|| entry.value.clone()))?;
                    Some(Entry {
                        value,
                        ..entry.clone()
                    })
                });
                let given: Vec<Entry> = given.collect();
                if given.is_empty() && is_default(self.place) {
                    return None;
                }
                Kind::Table(given)
            }
            Kind::List(items) => {
                let is_given = |item: &Self| item.given().is_some();
                if is_default(self.place) && !items.iter().any(is_given) {
                    return None;
                }
                return Some(self.clone());
            }
            _ if is_default(self.place) => return None,
            kind => kind.clone(),
        };
        Some(Self { kind, ..*self })
    }

    /// Calls `see` with the key and the value of each rotation of a configuration: entries `quaternion`, and entries `position`,
    /// which are rotations of spherical joints if they have four numbers. `key`: key of this value.
    pub(super) fn visit(&self, key: &str, see: &mut dyn FnMut(&str, &Self)) {
        match &self.kind {
            Kind::Table(table) => {
                for entry in table {
                    let inner = match key {
                        "" => entry.key.clone(),
                        _ => format!("{key}.{}", entry.key),
                    };
                    if matches!(entry.key.as_str(), "quaternion" | "position") {
                        see(&inner, &entry.value);
                    } else {
                        entry.value.visit(&inner, see);
                    }
                }
            }
            Kind::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    if matches!(item.kind, Kind::Table(_)) {
                        item.visit(&format!("{key}[{i}]"), see);
                    }
                }
            }
            _ => (),
        }
    }

    /// Returns the four numbers of a list; `None` for another value.
    pub(super) fn quaternion(&self) -> Option<[f64; 4]> {
        let items = self.items().ok()?;
        let numbers: Result<Vec<f64>, _> = items.iter().map(Self::number).collect();
        numbers.ok()?.try_into().ok()
    }

    /// Replaces the values of this configuration table by those of the table `over`, key by key. Tables inside are merged,
    /// too; other keys remain.
    pub(super) fn merge(&mut self, over: Self) {
        match (&mut self.kind, over.kind) {
            (Kind::Table(table), Kind::Table(entries)) => {
                for entry in entries {
                    insert(table, entry);
                }
                if !is_default(over.place) {
                    self.place = over.place;
                }
            }
            (old, kind) => {
                let new = Self { kind, ..over };
                *self = new.typed_like(old);
            }
        }
    }

    /// Converts an integer to a floating-point number if the replaced value `old` is a floating-point number. The items of a
    /// list are converted according to the first item of the old list.
    fn typed_like(mut self, old: &Kind) -> Self {
        match (&mut self.kind, old) {
            (Kind::Integer(n), Kind::Float(_)) => self.kind = Kind::Float(*n as f64),
            (Kind::List(new), Kind::List(old)) => {
                if let Some(old) = old.first() {
                    let items = std::mem::take(new).into_iter();
                    *new = items.map(|item| item.typed_like(&old.kind)).collect();
                }
            }
            _ => {}
        }
        self
    }
}

/// Sets one key of a configuration table. If the key is `type` and its value changes, the default entries of the table are
/// removed first, because their keys belong to the old type.
pub(super) fn insert(table: &mut Table, entry: Entry) {
    let known = table.iter_mut().find(|old| old.key == entry.key);
    match known {
        Some(old) if entry.key == "type" && old.value.kind != entry.value.kind => {
            table.retain(|old| !is_default(old.place));
            table.insert(0, entry);
        }
        Some(old) => {
            old.place = entry.place;
            old.value.merge(entry.value);
        }
        None => table.push(entry),
    }
}
