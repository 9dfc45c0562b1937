//! TOML whose parts know where they stand, so that every complaint has a line and a key.

use crate::SweepError;
use carom_wire::nearest_name;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a plan, and where: a byte of its text and a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) key: String,
    pub(crate) message: String,
}

impl Fault {
    /// The fault with the line and column of its byte.
    pub(crate) fn located(self, text: &str) -> SweepError {
        let before = text.get(..self.at).unwrap_or(text);
        SweepError::Plan {
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
            key: self.key,
            message: self.message,
        }
    }
}

/// A value with its key.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its own key; empty in lists.
    pub(crate) name: String,
    /// From the outermost table on, as in `axes.angle`.
    pub(crate) path: String,
    /// Where it stands: a byte of the text.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
}

/// What a TOML value is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Node>),
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// Reads a text as a table.
pub(crate) fn parse(text: &str) -> Result<Fields, Fault> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Fault {
            at,
            key: key_near(text, at),
            message: error.message().replace('\n', " "),
        }
    })?;
    let kind = Kind::Table(entries(table.into_inner(), "")?);
    let root = Node {
        name: String::new(),
        path: String::new(),
        at: 0,
        kind,
    };
    root.into_table()
}

/// The key that stands on the line of a byte, after the name of its table; empty where there is none. For text
/// that is no TOML.
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

fn entries(table: DeTable<'_>, path: &str) -> Result<Vec<Node>, Fault> {
    // A parsed table is sorted by its keys; in a plan their order counts.
    let mut table: Vec<_> = table.into_iter().collect();
    table.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, inner): (Spanned<std::borrow::Cow<'_, str>>, Spanned<DeValue<'_>>)| {
        let at = key.span().start;
        let name = key.into_inner().into_owned();
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let shown = if !name.is_empty() && name.chars().all(is_bare) {
            name.clone()
        } else {
            format!("{name:?}")
        };
        let path = if path.is_empty() {
            shown
        } else {
            format!("{path}.{shown}")
        };
        let kind = kind(inner, &path)?;
        Ok(Node {
            name,
            path,
            at,
            kind,
        })
    };
    table.into_iter().map(entry).collect()
}

fn kind(spanned: Spanned<DeValue<'_>>, path: &str) -> Result<Kind, Fault> {
    let at = spanned.span().start;
    let fault = |message: String| Fault {
        at,
        key: path.to_owned(),
        message,
    };
    Ok(match spanned.into_inner() {
        DeValue::Boolean(value) => Kind::Bool(value),
        DeValue::String(value) => Kind::Text(value.into_owned()),
        DeValue::Integer(digits) => {
            let value = i64::from_str_radix(digits.as_str(), digits.radix());
            Kind::Integer(value.map_err(|error| fault(format!("{digits}: {error}")))?)
        }
        DeValue::Float(digits) => {
            let value = digits.as_str().parse::<f64>();
            let value = value.map_err(|error| fault(format!("{digits}: {error}")))?;
            if !value.is_finite() {
                return Err(fault(format!("{digits} is not a finite number")));
            }
            Kind::Float(value)
        }
        DeValue::Datetime(_) => return Err(fault("no key takes a date".to_owned())),
        DeValue::Array(items) => {
            let item = |(i, item): (usize, Spanned<DeValue<'_>>)| {
                let path = format!("{path}[{i}]");
                let at = item.span().start;
                let kind = kind(item, &path)?;
                Ok(Node {
                    name: String::new(),
                    path,
                    at,
                    kind,
                })
            };
            Kind::List(
                items
                    .into_iter()
                    .enumerate()
                    .map(item)
                    .collect::<Result<_, _>>()?,
            )
        }
        DeValue::Table(table) => Kind::Table(entries(table, path)?),
    })
}

impl Node {
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault {
            at: self.at,
            key: self.path.clone(),
            message: message.into(),
        }
    }

    fn expected(&self, what: &str) -> Fault {
        self.fault(format!("expected {what}, found {}", self.kind.name()))
    }

    pub(crate) fn text(&self) -> Result<&str, Fault> {
        match &self.kind {
            Kind::Text(text) => Ok(text),
            _ => Err(self.expected("a string")),
        }
    }

    /// An integer or a float, as a float.
    pub(crate) fn number(&self) -> Result<f64, Fault> {
        match self.kind {
            Kind::Integer(value) => Ok(value as f64),
            Kind::Float(value) => Ok(value),
            _ => Err(self.expected("a number")),
        }
    }

    pub(crate) fn integer(&self) -> Result<i64, Fault> {
        match self.kind {
            Kind::Integer(value) => Ok(value),
            _ => Err(self.expected("an integer")),
        }
    }

    /// An integer within bounds.
    pub(crate) fn count(&self, low: u64, high: u64) -> Result<u64, Fault> {
        let value = self.integer()?;
        u64::try_from(value)
            .ok()
            .filter(|value| (low..=high).contains(value))
            .ok_or_else(|| self.fault(format!("{value} must lie between {low} and {high}")))
    }

    pub(crate) fn list(&self) -> Result<&[Node], Fault> {
        match &self.kind {
            Kind::List(items) => Ok(items),
            _ => Err(self.expected("a list")),
        }
    }

    pub(crate) fn into_table(self) -> Result<Fields, Fault> {
        match self.kind {
            Kind::Table(rest) => Ok(Fields {
                at: self.at,
                path: self.path,
                rest,
            }),
            _ => Err(self.expected("a table")),
        }
    }

    /// The same as JSON.
    pub(crate) fn json(&self) -> Value {
        match &self.kind {
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Integer(value) => Value::Number((*value).into()),
            Kind::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Self::json).collect(),
            Kind::Table(entries) => {
                let entry = |node: &Self| (node.name.clone(), node.json());
                Value::Object(entries.iter().map(entry).collect::<Map<_, _>>())
            }
        }
    }
}

/// The entries of a table that nobody has asked for yet.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    at: usize,
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
            at: self.at,
            key: self.path.clone(),
            message: message.into(),
        }
    }

    pub(crate) fn require(&mut self, name: &str) -> Result<Node, Fault> {
        self.take(name)
            .ok_or_else(|| self.fault(format!("the key `{name}` is missing")))
    }

    /// Refuses what is left; `known` are the keys that this table takes.
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
