//! Tables of a record.

use serde::{Deserialize, Serialize};

/// Returns the path of the first infinite or NaN entry of a list, such as `field[3]`; `None` if all are finite. `field` is
/// the name of the list.
pub(super) fn bad_number(field: &str, values: &[f64]) -> Option<String> {
    let at = values.iter().position(|v| !v.is_finite())?;
    Some(format!("{field}[{at}]"))
}

/// Returns the path of the first infinite or NaN entry of a table, such as `field[1][0]`; `None` if all are finite. `field`
/// is the name of the list of rows.
pub(super) fn bad_cell(field: &str, rows: &[Vec<f64>]) -> Option<String> {
    rows.iter()
        .enumerate()
        .find_map(|(i, row)| bad_number(&format!("{field}[{i}]"), row))
}

/// Names of the rows of a table, with the header of their column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowLabels {
    /// Header of the column of names.
    pub heading: String,
    /// A name for every row.
    pub names: Vec<String>,
}

/// Heading of one column of a table: name and unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Unit; empty if dimensionless.
    pub unit: String,
}

/// Table of numbers in a record. A time series is a table with one row per sample.
///
/// # Examples
///
/// ```
/// use carom_report::export::csv::csv;
/// use carom_report::record::{Column, Table};
/// let columns = Column::list("time [s], height [m]");
/// let mut table = Table::new("rebounds", "Tops of a ball with restitution 1/2", columns);
/// table.rows = (0..3).map(|k| vec![f64::from(k), 0.25_f64.powi(k)]).collect();
/// assert!(csv(&table)?.trim_end().ends_with(",0.0625"));
/// # Ok::<(), carom_report::export::ExportError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Name, from which the file name is made.
    pub name: String,
    /// Caption of the table.
    pub caption: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each with a number for every column.
    pub rows: Vec<Vec<f64>>,
    /// Names of the rows, shown as a first column of text; `None` if rows have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<RowLabels>,
}

impl Table {
    /// Creates a table of a record without rows. `name` is the name of its file.
    pub fn new(name: impl Into<String>, caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self {
            name: name.into(),
            caption: caption.into(),
            columns,
            rows: Vec::new(),
            labels: None,
        }
    }

    /// Returns the numbers of the column with index `k`, one for each row.
    pub fn column(&self, k: usize) -> Vec<f64> {
        let rows = self.rows.iter();
        rows.filter_map(|row| row.get(k).copied()).collect()
    }

    /// Adds a row of numbers that begins with a name. `heading` is the header of the column of names; the first call sets it.
    pub fn push_named(&mut self, heading: &str, name: impl Into<String>, row: Vec<f64>) {
        let labels = self.labels.get_or_insert_with(|| RowLabels {
            heading: heading.to_owned(),
            names: Vec::new(),
        });
        labels.names.push(name.into());
        self.rows.push(row);
    }

    /// Returns the name of the table row with index `row`; an empty text if rows have no names.
    pub(crate) fn label(&self, row: usize) -> &str {
        let name = self.labels.as_ref().and_then(|l| l.names.get(row));
        name.map_or("", String::as_str)
    }

    pub(super) fn non_finite(&self) -> Option<String> {
        bad_cell("rows", &self.rows)
    }
}

impl Column {
    /// Creates the headings of the columns of a table from a list of names with units, as in `time [s], impacts`.
    pub fn list(columns: &str) -> Vec<Self> {
        columns.split(", ").map(Self::read).collect()
    }

    /// Creates the heading of one column of a table from its name with its unit, as in `time [s]`.
    pub fn read(text: &str) -> Self {
        let parts = text
            .strip_suffix(']')
            .and_then(|text| text.split_once(" ["));
        let (name, unit) = parts.unwrap_or((text, ""));
        Self::new(name, unit)
    }

    /// Creates the heading of one column of a table from its name and unit.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
        }
    }
}
