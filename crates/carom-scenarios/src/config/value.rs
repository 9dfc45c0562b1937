//! Configuration values that know where they were given.

/// Where a value was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the scenario's own TOML.
    Default,
    /// In the user's file; both count from 1.
    File { line: usize, column: usize },
    /// By the assignment with this index.
    Assignment(usize),
}

/// A value of any type and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// The types of TOML, dates left out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Table(Table),
}

/// Entries in the order of the text.
pub(super) type Table = Vec<Entry>;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// Of the key, which is at fault when it is unknown.
    pub(super) place: Place,
    pub(super) value: Value,
}

impl Value {
    /// What stands under a path like `body.parts[1]`; a number may also follow a dot.
    fn child(&self, segment: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Table(table) => Some(&table.iter().find(|entry| entry.key == segment)?.value),
            Kind::List(items) => items.get(segment.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Place of a key, or of the innermost part of its path that is there.
    pub(super) fn place_of(&self, key: &str) -> Place {
        let (mut at, mut place) = (self, Place::Default);
        for segment in key.split(['.', '[']).map(|s| s.trim_end_matches(']')) {
            let Some(inner) = at.child(segment) else {
                break;
            };
            (at, place) = (inner, inner.place);
        }
        place
    }

    /// Puts the values of another table over those of this one, key by key.
    pub(super) fn merge(&mut self, over: Self) {
        match (&mut self.kind, over.kind) {
            (Kind::Table(table), Kind::Table(entries)) => {
                for entry in entries {
                    insert(table, entry);
                }
                if over.place != Place::Default {
                    self.place = over.place;
                }
            }
            (old, kind) => {
                let new = Self { kind, ..over };
                *self = new.typed_like(old);
            }
        }
    }

    /// A whole number that stands for a default with decimals is one with decimals.
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

    /// The value as a record keeps it.
    pub(super) fn json(&self) -> serde_json::Value {
        match &self.kind {
            Kind::Bool(value) => (*value).into(),
            Kind::Integer(value) => (*value).into(),
            Kind::Float(value) => (*value).into(),
            Kind::Text(value) => value.clone().into(),
            Kind::List(items) => items.iter().map(Self::json).collect(),
            Kind::Table(table) => table
                .iter()
                .map(|entry| (entry.key.clone(), entry.value.json()))
                .collect(),
        }
    }
}

/// Sets one key of a table. Of a table that becomes another `type` the defaults go: they were keys
/// of the old type.
pub(super) fn insert(table: &mut Table, entry: Entry) {
    let known = table.iter_mut().find(|old| old.key == entry.key);
    match known {
        Some(old) if entry.key == "type" && old.value.kind != entry.value.kind => {
            table.retain(|old| old.place != Place::Default);
            table.insert(0, entry);
        }
        Some(old) => {
            old.place = entry.place;
            old.value.merge(entry.value);
        }
        None => table.push(entry),
    }
}
