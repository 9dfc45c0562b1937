//! Names and types of the columns of a table.

use serde_json::{Map, Value};

/// Data type of a column of the table that a sweep produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum ColumnType {
    /// Unsigned 64-bit integer, used for the cell index.
    #[serde(rename = "u64")]
    Unsigned,
    /// Signed 64-bit integer.
    #[serde(rename = "i64")]
    Integer,
    /// Double-precision number.
    #[serde(rename = "f64")]
    Float,
    /// UTF-8 text.
    #[serde(rename = "str")]
    Text,
    /// Boolean.
    #[serde(rename = "bool")]
    Bool,
    /// List of double-precision numbers.
    #[serde(rename = "list")]
    List,
}

impl ColumnType {
    /// Returns the name of the column type in the plan of a sweep, for example `f64`.
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

    /// Returns the column type with the name `name`, such as `f64`; `None` for names that a plan cannot use.
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

/// Column of the table that a sweep produces: name and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the column.
    pub name: String,
    /// Type of the column.
    pub kind: ColumnType,
    /// True if a row may have no value in this column.
    pub is_nullable: bool,
}

/// Columns of a sweep's table, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) fields: Vec<Field>,
}

/// Names of the last two columns of every table.
pub(crate) const ERRORS: [&str; 2] = ["error_kind", "error_message"];

impl Schema {
    /// Returns the columns of the table that a sweep with this plan produces; `None` if the JSON is not a valid plan.
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
