//! Names and types of a table's columns.

use serde_json::{Map, Value};

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ColumnType {
    /// Unsigned 64-bit integer: the number of a cell.
    #[serde(rename = "u64")]
    Unsigned,
    /// Signed 64-bit integer.
    #[serde(rename = "i64")]
    Integer,
    /// Double precision.
    #[serde(rename = "f64")]
    Float,
    /// UTF-8.
    #[serde(rename = "str")]
    Text,
    /// True or false.
    #[serde(rename = "bool")]
    Bool,
    /// List of numbers in double precision.
    #[serde(rename = "list")]
    List,
}

impl ColumnType {
    /// Name as a plan writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsigned => "u64",
            Self::Integer => "i64",
            Self::Float => "f64",
            Self::Text => "str",
            Self::Bool => "bool",
            Self::List => "list",
        }
    }

    /// The type that a plan may ask for by this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [
            Self::Integer,
            Self::Float,
            Self::Text,
            Self::Bool,
            Self::List,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: ColumnType,
    /// True if a row may have no value there.
    pub is_nullable: bool,
}

/// The columns of a sweep's table, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) fields: Vec<Field>,
}

/// The last columns of every table.
pub(crate) const ERRORS: [&str; 2] = ["error_kind", "error_message"];

impl Schema {
    /// The columns that a plan as JSON leads to; `None` if it is no such plan.
    pub(crate) fn of_plan(plan: &Map<String, Value>) -> Option<Self> {
        let mut fields = Vec::new();
        let mut add = |name: &str, kind, is_nullable| {
            fields.push(Field {
                name: name.to_owned(),
                kind,
                is_nullable,
            });
        };
        add("cell", ColumnType::Unsigned, false);
        if plan.get("states").is_some_and(|states| !states.is_null()) {
            add("state", ColumnType::Integer, false);
        }
        for axis in plan.get("axes")?.as_array()? {
            let kind = match axis.get("values")?.as_array()?.first()? {
                Value::Number(number) if number.is_f64() => ColumnType::Float,
                Value::Number(_) => ColumnType::Integer,
                Value::String(_) => ColumnType::Text,
                Value::Bool(_) => ColumnType::Bool,
                _ => return None,
            };
            add(axis.get("name")?.as_str()?, kind, false);
        }
        if let Some(random) = plan.get("random").filter(|random| !random.is_null()) {
            add("draw", ColumnType::Integer, false);
            for column in random.get("columns")?.as_array()? {
                add(column.get("name")?.as_str()?, ColumnType::Float, false);
            }
        }
        for column in plan.get("columns")?.as_array()? {
            let kind = ColumnType::named(column.get("type")?.as_str()?)?;
            add(column.get("name")?.as_str()?, kind, true);
        }
        for name in ERRORS {
            add(name, ColumnType::Text, true);
        }
        Some(Self { fields })
    }
}
