//! Writes rows as CSV and JSON Lines.

use super::{Datum, Rows, Schema};
use serde_json::{Map, Number, Value};
use std::io::Write;

/// Writer of a CSV file: RFC 4180 with line feeds and a header. Floating-point numbers have the shortest form
/// that is read back exactly, lists are JSON, and missing values are empty.
pub(crate) struct CsvSink<W: Write> {
    writer: csv::Writer<W>,
}

impl<W: Write> CsvSink<W> {
    pub(crate) fn new(to: W, schema: &Schema) -> std::io::Result<Self> {
        let mut writer = csv::WriterBuilder::new()
            .terminator(csv::Terminator::Any(b'\n'))
            .from_writer(to);
        writer
            .write_record(schema.fields.iter().map(|field| field.name.as_str()))
            .map_err(std::io::Error::from)?;
        Ok(Self { writer })
    }

    pub(crate) fn write(&mut self, rows: &Rows) -> std::io::Result<()> {
        for row in 0..rows.len() {
            for column in rows.columns() {
                let text = match column.get(row) {
                    Datum::Null => String::new(),
                    Datum::Text(text) => text,
                    datum => json(datum).to_string(),
                };
                self.writer
                    .write_field(text)
                    .map_err(std::io::Error::from)?;
            }
            let end: [&str; 0] = [];
            self.writer
                .write_record(end)
                .map_err(std::io::Error::from)?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> std::io::Result<W> {
        self.writer
            .into_inner()
            .map_err(|error| std::io::Error::other(error.to_string()))
    }
}

/// Writes each row of a table as one line with a JSON object, with the column names of `schema` as keys.
pub(crate) fn write_json_lines(
    to: &mut impl Write,
    schema: &Schema,
    rows: &Rows,
) -> std::io::Result<()> {
    for row in 0..rows.len() {
        let data = rows.columns().iter().map(|column| column.get(row));
        writeln!(to, "{}", json_row(schema, data))?;
    }
    Ok(())
}

/// Converts a row of a table to a JSON object, whose keys are the column names of `schema` in order.
pub(crate) fn json_row(schema: &Schema, row: impl IntoIterator<Item = Datum>) -> Value {
    let names = schema.fields.iter().map(|field| field.name.clone());
    Value::Object(names.zip(row.into_iter().map(json)).collect::<Map<_, _>>())
}

fn json(datum: Datum) -> Value {
    let float = |value: f64| Number::from_f64(value).map_or(Value::Null, Value::Number);
    match datum {
        Datum::Null => Value::Null,
        Datum::Unsigned(value) => Value::Number(value.into()),
        Datum::Integer(value) => Value::Number(value.into()),
        Datum::Float(value) => float(value),
        Datum::Text(text) => Value::String(text),
        Datum::Bool(value) => Value::Bool(value),
        Datum::List(values) => values.into_iter().map(float).collect(),
    }
}
