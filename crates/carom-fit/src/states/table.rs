//! States from comma-separated tables.

use super::columns::{Columns, Places};
use super::state::{Labels, State};
use super::{BATCH, DataError, Sink};
use crate::limited::{Limited, RowBytes};
use crate::system::System;
use rayon::prelude::*;
use std::io::Read;

/// One row of a table, as text.
struct Row {
    line: u64,
    number: u64,
    fields: csv::StringRecord,
}

/// Reads measured impacts from comma-separated text with a header, one impact a row, and hands them over in batches, in order.
/// Columns that the configuration does not name are ignored.
///
/// # Errors
///
/// [`DataError`] with the line and the column of the first fault, and errors of `sink`.
pub(crate) fn read_rows(
    reader: impl Read,
    columns: &Columns,
    system: &System,
    sink: &mut Sink<'_>,
) -> Result<(), DataError> {
    let row_bytes = RowBytes::default();
    let mut table = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(Limited::new(reader, &row_bytes));
    let header = table.headers().map_err(|e| unreadable(&e, 1))?.clone();
    if header.is_empty() {
        return Err(DataError::Empty);
    }
    let names: Vec<&str> = header.iter().collect();
    let places = columns.find(&names)?;
    let (mut line, mut number) = (1, 0);
    loop {
        let mut rows = Vec::with_capacity(BATCH);
        while rows.len() < BATCH {
            let mut fields = csv::StringRecord::new();
            match table.read_record(&mut fields) {
                Ok(true) => {}
                Ok(false) => break,
                Err(e) => return Err(unreadable(&e, line + 1)),
            }
            row_bytes.restart();
            line = fields.position().map_or(line + 1, csv::Position::line);
            number += 1;
            if fields.len() != header.len() {
                let column = header.get(fields.len().min(header.len() - 1)).unwrap_or("");
                let fault = format!(
                    "{} fields where the header has {}",
                    fields.len(),
                    header.len()
                );
                return Err(DataError::at(line, column, fault));
            }
            rows.push(Row {
                line,
                number,
                fields,
            });
        }
        if rows.is_empty() {
            return if number == 0 {
                Err(DataError::Empty)
            } else {
                Ok(())
            };
        }
        let read = |row: &Row| row.state(columns, &places, system);
        let states: Vec<Result<State, DataError>> = rows.par_iter().map(read).collect();
        sink(states.into_iter().collect::<Result<_, _>>()?)?;
    }
}

impl Row {
    fn state(
        &self,
        columns: &Columns,
        places: &Places,
        system: &System,
    ) -> Result<State, DataError> {
        let text = |place: usize| self.fields.get(place).unwrap_or("");
        let names = [&columns.id, &columns.group, &columns.kind];
        let mut labels = [None, None, None];
        for ((label, place), name) in labels.iter_mut().zip(places.labels).zip(names) {
            if let (Some(place), Some(name)) = (place, name) {
                let found = text(place);
                if found.is_empty() {
                    return Err(DataError::at(self.line, name, "the value is missing"));
                }
                *label = Some(found.to_owned());
            }
        }
        let mut numbers = [const { Vec::new() }; 3];
        for (part, numbers) in numbers.iter_mut().enumerate() {
            for (place, column) in places.numbers[part].iter().zip(&columns.numbers[part]) {
                let found = text(*place).parse().ok();
                let Some(value) = found.filter(|value: &f64| value.is_finite()) else {
                    let short: String = text(*place).chars().take(40).collect();
                    let fault = format!("`{short}` is not a finite number");
                    return Err(DataError::at(self.line, &column.name, fault));
                };
                numbers.push(value * column.factor);
            }
        }
        let [configuration, minus, plus] = numbers;
        let [id, group, kind] = labels;
        let labels = Labels::new(self.number, id, group, kind);
        system
            .state(labels, configuration, minus, plus)
            .map_err(|fault| DataError::Line {
                line: self.line,
                fault,
            })
    }
}

fn unreadable(error: &csv::Error, line: u64) -> DataError {
    let fault = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
        csv::ErrorKind::Io(e) => e.to_string(),
        _ => error.to_string(),
    };
    let line = error.position().map_or(line, csv::Position::line);
    DataError::Line { line, fault }
}
