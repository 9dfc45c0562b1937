//! Rows of comma-separated text, with the line and the column of the first fault.

use super::DataError;
use super::limited::{Limited, RowBytes};
use std::io::Read;

/// Table with a header, read row by row.
pub(crate) struct Rows<R> {
    table: csv::Reader<Limited<R>>,
    row_bytes: RowBytes,
    pub(crate) header: Vec<String>,
    /// Line that was read last.
    pub(crate) line: u64,
}

/// Row of a table, as text.
pub(crate) struct Row {
    pub(crate) line: u64,
    fields: csv::StringRecord,
}

impl<R: Read> Rows<R> {
    /// Reads the header of a table.
    ///
    /// # Errors
    ///
    /// [`DataError`] if the text is empty or no table.
    pub(crate) fn new(reader: R) -> Result<Self, DataError> {
        let row_bytes = RowBytes::default();
        let mut table = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(Limited::new(reader, &row_bytes));
        let header = table.headers().map_err(|e| unreadable(&e, 1))?;
        let header: Vec<String> = header.iter().map(str::to_owned).collect();
        if header.is_empty() {
            return Err(DataError::Empty);
        }
        Ok(Self {
            table,
            row_bytes,
            header,
            line: 1,
        })
    }

    /// Reads the next row; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`DataError`] if the row has another number of fields than the header, or cannot be read.
    pub(crate) fn next_row(&mut self) -> Result<Option<Row>, DataError> {
        let mut fields = csv::StringRecord::new();
        match self.table.read_record(&mut fields) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(e) => return Err(unreadable(&e, self.line + 1)),
        }
        self.row_bytes.restart();
        let line = fields.position().map_or(self.line + 1, csv::Position::line);
        self.line = line;
        let (found, wanted) = (fields.len(), self.header.len());
        if found != wanted {
            let column = self.header.get(found.min(wanted - 1)).map_or("", |c| c);
            let fault = format!("{found} fields where the header has {wanted}");
            return Err(DataError::at(line, column, fault));
        }
        Ok(Some(Row { line, fields }))
    }
}

impl Row {
    pub(crate) fn text(&self, place: usize) -> &str {
        self.fields.get(place).unwrap_or("")
    }

    /// Returns the error for a field that is not what is wanted.
    pub(crate) fn wrong(&self, place: usize, column: &str, wanted: &str) -> DataError {
        let short: String = self.text(place).chars().take(40).collect();
        DataError::at(self.line, column, format!("`{short}` is not {wanted}"))
    }

    /// Returns the number in a field.
    ///
    /// # Errors
    ///
    /// [`DataError`] if it is no finite number.
    pub(crate) fn number(&self, place: usize, column: &str) -> Result<f64, DataError> {
        let found = self.text(place).parse().ok();
        found
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| self.wrong(place, column, "a finite number"))
    }
}

/// Returns the place of a column in a header.
///
/// # Errors
///
/// [`DataError::Line`] for a column that is missing or stands there twice.
pub(crate) fn place(header: &[String], name: &str) -> Result<usize, DataError> {
    let mut found = (0..header.len()).filter(|&k| header[k] == name);
    match (found.next(), found.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => Err(DataError::at(1, name, "stands there twice")),
        _ => {
            let known = header.iter().map(String::as_str);
            let near = carom_numeric::nearest_name(name, known);
            let hint = near.map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
            Err(DataError::at(1, name, format!("is missing{hint}")))
        }
    }
}

fn unreadable(error: &csv::Error, line: u64) -> DataError {
    let message = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
        csv::ErrorKind::Io(e) => e.to_string(),
        _ => error.to_string(),
    };
    DataError::Line {
        line: error.position().map_or(line, csv::Position::line),
        fault: format!("no column can be read from here on: {message}"),
    }
}
