//! States from comma-separated tables.

use super::columns::{Columns, Places};
use super::rows::{Row, Rows};
use super::state::{Labels, State};
use super::{BATCH, DataError, Sink};
use crate::system::System;
use rayon::prelude::*;
use std::io::Read;

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
    let mut table = Rows::new(reader)?;
    let places = columns.find(&table.header)?;
    let mut number = 0;
    loop {
        let mut rows = Vec::with_capacity(BATCH);
        while rows.len() < BATCH
            && let Some(row) = table.next_row()?
        {
            number += 1;
            rows.push((number, row));
        }
        if rows.is_empty() {
            return if number == 0 {
                Err(DataError::Empty)
            } else {
                Ok(())
            };
        }
        let read = |(number, row): &(u64, Row)| state(row, *number, columns, &places, system);
        let states: Vec<Result<State, DataError>> = rows.par_iter().map(read).collect();
        sink(states.into_iter().collect::<Result<_, _>>()?)?;
    }
}

fn state(
    row: &Row,
    number: u64,
    columns: &Columns,
    places: &Places,
    system: &System,
) -> Result<State, DataError> {
    let names = [&columns.id, &columns.group, &columns.kind];
    let mut labels = [None, None, None];
    for ((label, place), name) in labels.iter_mut().zip(places.labels).zip(names) {
        if let (Some(place), Some(name)) = (place, name) {
            let found = row.text(place);
            if found.is_empty() {
                return Err(DataError::at(row.line, name, "the value is missing"));
            }
            *label = Some(found.to_owned());
        }
    }
    let mut numbers = [const { Vec::new() }; 3];
    for (part, numbers) in numbers.iter_mut().enumerate() {
        for (place, column) in places.numbers[part].iter().zip(&columns.numbers[part]) {
            numbers.push(row.number(*place, &column.name)? * column.factor);
        }
    }
    let [configuration, minus, plus] = numbers;
    let [id, group, kind] = labels;
    let labels = Labels::new(number, id, group, kind);
    system
        .state(labels, configuration, minus, plus)
        .map_err(|fault| DataError::Line {
            line: row.line,
            fault,
        })
}
