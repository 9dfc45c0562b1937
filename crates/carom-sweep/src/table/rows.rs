//! Rows of a table, stored column by column.

use super::{ColumnType, Schema};

/// Single value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum {
    Null,
    Unsigned(u64),
    Integer(i64),
    Float(f64),
    Text(String),
    Bool(bool),
    List(Vec<f64>),
}

/// Values of one column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    Unsigned(Vec<u64>),
    Integer(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
    Bool(Vec<Option<bool>>),
    List(Vec<Option<Vec<f64>>>),
}

impl Values {
    pub(crate) fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Unsigned => Self::Unsigned(Vec::new()),
            ColumnType::Integer => Self::Integer(Vec::new()),
            ColumnType::Float => Self::Float(Vec::new()),
            ColumnType::Text => Self::Text(Vec::new()),
            ColumnType::Bool => Self::Bool(Vec::new()),
            ColumnType::List => Self::List(Vec::new()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Unsigned(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::List(values) => values.len(),
        }
    }

    /// Appends a value to this column. A value of another type than the column's is stored as a missing value; in a column of
    /// unsigned integers it is stored as 0.
    fn push(&mut self, datum: Datum) {
        match (self, datum) {
            (Self::Unsigned(values), Datum::Unsigned(value)) => values.push(value),
            (Self::Unsigned(values), _) => values.push(0),
            (Self::Integer(values), Datum::Integer(value)) => values.push(Some(value)),
            (Self::Integer(values), _) => values.push(None),
            (Self::Float(values), Datum::Float(value)) => values.push(Some(value)),
            (Self::Float(values), _) => values.push(None),
            (Self::Text(values), Datum::Text(value)) => values.push(Some(value)),
            (Self::Text(values), _) => values.push(None),
            (Self::Bool(values), Datum::Bool(value)) => values.push(Some(value)),
            (Self::Bool(values), _) => values.push(None),
            (Self::List(values), Datum::List(value)) => values.push(Some(value)),
            (Self::List(values), _) => values.push(None),
        }
    }

    /// Returns the value of this column in row `row`; null if the value is missing.
    pub(crate) fn get(&self, row: usize) -> Datum {
        fn or_null<T: Clone>(values: &[Option<T>], row: usize, some: fn(T) -> Datum) -> Datum {
            values.get(row).cloned().flatten().map_or(Datum::Null, some)
        }
        match self {
            Self::Unsigned(values) => values
                .get(row)
                .map_or(Datum::Null, |value| Datum::Unsigned(*value)),
            Self::Integer(values) => or_null(values, row, Datum::Integer),
            Self::Float(values) => or_null(values, row, Datum::Float),
            Self::Text(values) => or_null(values, row, Datum::Text),
            Self::Bool(values) => or_null(values, row, Datum::Bool),
            Self::List(values) => or_null(values, row, Datum::List),
        }
    }

    /// Moves up to `n` values from the front of the column `other` to the end of this column. Nothing happens if their
    /// types differ.
    fn take_front(&mut self, other: &mut Self, n: usize) {
        fn take<T>(to: &mut Vec<T>, from: &mut Vec<T>, n: usize) {
            to.extend(from.drain(..n.min(from.len())));
        }
        match (self, other) {
            (Self::Unsigned(to), Self::Unsigned(from)) => take(to, from, n),
            (Self::Integer(to), Self::Integer(from)) => take(to, from, n),
            (Self::Float(to), Self::Float(from)) => take(to, from, n),
            (Self::Text(to), Self::Text(from)) => take(to, from, n),
            (Self::Bool(to), Self::Bool(from)) => take(to, from, n),
            (Self::List(to), Self::List(from)) => take(to, from, n),
            _ => {}
        }
    }
}

/// Rows of a table, stored column by column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows {
    columns: Vec<Values>,
}

impl Rows {
    pub(crate) fn new(schema: &Schema) -> Self {
        let column = |field: &super::Field| Values::new(field.kind);
        Self {
            columns: schema.fields.iter().map(column).collect(),
        }
    }

    pub(crate) fn of_columns(columns: Vec<Values>) -> Self {
        Self { columns }
    }

    pub(crate) fn columns(&self) -> &[Values] {
        &self.columns
    }

    pub(crate) fn len(&self) -> usize {
        self.columns.first().map_or(0, Values::len)
    }

    /// Appends a row to the table: one value per column, in the order of the columns. Values that the row lacks are stored
    /// as null.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Datum>) {
        let mut row = row.into_iter();
        for column in &mut self.columns {
            column.push(row.next().unwrap_or(Datum::Null));
        }
    }

    /// Moves up to `n` rows from the front of the table `other` to the end of this table.
    pub(crate) fn take_front(&mut self, other: &mut Self, n: usize) {
        for (to, from) in self.columns.iter_mut().zip(&mut other.columns) {
            to.take_front(from, n);
        }
    }
}
