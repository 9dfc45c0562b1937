//! Plain data that a scenario leaves behind: quantities, tables, and figures.
//!
//! Nothing here computes or draws. A [`Record`] is what the exporters read and
//! what `record.json` holds, so that a run can be compared, redrawn, or checked
//! against a paper without running it again.

mod figure;
mod quantity;

pub use figure::{Axis, Color, Figure, LineStyle, Mark, PointShape, Scale};
pub use quantity::{Quantity, Reference, ReferenceKind};

use crate::animation::Animation;
use carom_numeric::NUMERICS_VERSION;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything one run of a scenario reports.
///
/// # Examples
///
/// ```
/// use carom_report::record::Quantity;
/// use carom_report::{Record, export};
/// let mut record = Record::new("drop", "A ball of 2 kg falls by 1.25 m.");
/// let energy = 2.0 * 9.80665 * 1.25;
/// record.quantities.push(Quantity::new("energy_j", energy, "J"));
/// assert!(export::summary(&record).contains("24.51662"));
/// // A record read again is the same.
/// let again: Record = serde_json::from_str(&export::json(&record)?)?;
/// assert_eq!(again, record);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the scenario.
    pub scenario: String,
    /// Summary of the run in a sentence or two.
    pub summary: String,
    /// Version of carom's arithmetic, [`NUMERICS_VERSION`]: results that carry the same one were computed
    /// alike.
    #[serde(default)]
    pub numerics: u32,
    /// Status at the end of the run; `"completed"` unless the scenario says otherwise.
    pub status: String,
    /// Input parameters, as the scenario read them.
    pub parameters: serde_json::Value,
    /// Scalar results.
    pub quantities: Vec<Quantity>,
    /// Time series and other tables.
    pub tables: Vec<Table>,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Motion to play.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub animations: Vec<Animation>,
    /// Works to cite for the run, as BibTeX entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<String>,
    /// Further results under keys of their own, beside the ones above; documented with the scenario.
    #[serde(flatten)]
    pub results: BTreeMap<String, serde_json::Value>,
}

impl Record {
    /// An empty, completed record.
    pub fn new(scenario: impl Into<String>, summary: impl Into<String>) -> Self {
        Self {
            scenario: scenario.into(),
            summary: summary.into(),
            numerics: NUMERICS_VERSION,
            status: "completed".to_owned(),
            parameters: serde_json::Value::Null,
            quantities: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            animations: Vec::new(),
            citations: Vec::new(),
            results: BTreeMap::new(),
        }
    }

    /// Path of the first NaN or infinity in the record, if there is one.
    ///
    /// JSON has no such numbers, and `serde_json` would write `null` in their
    /// place, so exporters ask here first. `parameters` cannot hold one.
    #[must_use]
    pub fn non_finite(&self) -> Option<String> {
        first_bad(
            &self.quantities,
            Quantity::non_finite,
            |q| &q.name,
            "quantities",
        )
        .or_else(|| first_bad(&self.tables, Table::non_finite, |t| &t.name, "tables"))
        .or_else(|| first_bad(&self.figures, Figure::non_finite, |f| &f.name, "figures"))
        .or_else(|| {
            first_bad(
                &self.animations,
                Animation::non_finite,
                |a| &a.name,
                "animations",
            )
        })
    }
}

/// Path of the first bad item of a named list.
fn first_bad<T>(
    items: &[T],
    bad: impl Fn(&T) -> Option<String>,
    name: impl Fn(&T) -> &String,
    list: &str,
) -> Option<String> {
    items
        .iter()
        .find_map(|item| bad(item).map(|path| format!("{list}.{}.{path}", name(item))))
}

/// Path of the first non-finite number of a named list.
fn bad_number(field: &str, values: &[f64]) -> Option<String> {
    let at = values.iter().position(|v| !v.is_finite())?;
    Some(format!("{field}[{at}]"))
}

/// Path of the first non-finite number of a named grid.
fn bad_cell(field: &str, rows: &[Vec<f64>]) -> Option<String> {
    rows.iter()
        .enumerate()
        .find_map(|(i, row)| bad_number(&format!("{field}[{i}]"), row))
}

/// A table of numbers; also holds time series, one row per sample.
///
/// # Examples
///
/// ```
/// use carom_report::export::csv::csv;
/// use carom_report::record::{Column, Table};
/// let columns = vec![Column::new("time", "s"), Column::new("height", "m")];
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
    /// Names of the rows, where they have any: a first column of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<RowLabels>,
}

/// Names of a table's rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowLabels {
    /// Heading of the column of names.
    pub heading: String,
    /// A name for every row.
    pub names: Vec<String>,
}

impl Table {
    /// A table without rows.
    pub fn new(name: impl Into<String>, caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self {
            name: name.into(),
            caption: caption.into(),
            columns,
            rows: Vec::new(),
            labels: None,
        }
    }

    /// Adds a row with a name under a heading, which all rows of the table share.
    pub fn push_named(&mut self, heading: &str, name: impl Into<String>, row: Vec<f64>) {
        let labels = self.labels.get_or_insert_with(|| RowLabels {
            heading: heading.to_owned(),
            names: Vec::new(),
        });
        labels.names.push(name.into());
        self.rows.push(row);
    }

    /// Name of a row; empty if rows have none.
    pub(crate) fn label(&self, row: usize) -> &str {
        let labels = self.labels.as_ref();
        labels
            .and_then(|l| l.names.get(row))
            .map_or("", String::as_str)
    }

    fn non_finite(&self) -> Option<String> {
        bad_cell("rows", &self.rows)
    }
}

/// Heading of a table's column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Unit; empty if dimensionless.
    pub unit: String,
}

impl Column {
    /// A column heading.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let line = Mark::line("v", vec![0.0, 1.0], vec![0.1, 1e-300], Color::Blue);
        let mut figure = Figure::new("f", "F", "", Axis::linear("t", "s"), Axis::log("v", "m/s"));
        figure.marks.push(line);
        let mut record = Record::new("drop", "A drop.");
        record.quantities =
            vec![Quantity::new("speed_m_s", 0.1, "m/s").printed(0.2, 0.05, "Eq. 1")];
        record.tables = vec![Table::new("t", "", vec![Column::new("t", "s")])];
        record.figures = vec![figure];
        record
    }

    #[test]
    fn json_round_trip_is_exact() -> Result<(), serde_json::Error> {
        let before = record();
        let text = serde_json::to_string(&before)?;
        assert!(text.contains(r#""type":"line""#), "{text}");
        assert!(!text.contains("note"), "absent fields are skipped: {text}");
        assert_eq!(serde_json::from_str::<Record>(&text)?, before);
        Ok(())
    }

    #[test]
    fn non_finite_names_the_place() {
        assert_eq!(record().non_finite(), None);

        let mut bad = record();
        bad.tables
            .iter_mut()
            .for_each(|t| t.rows = vec![vec![0.0], vec![f64::NAN]]);
        assert_eq!(bad.non_finite().as_deref(), Some("tables.t.rows[1][0]"));

        let mut bad = record();
        let text = Mark::Text {
            x: 0.0,
            y: f64::INFINITY,
            text: String::new(),
        };
        bad.figures
            .iter_mut()
            .for_each(|f| f.marks.push(text.clone()));
        assert_eq!(
            bad.non_finite().as_deref(),
            Some("figures.f.marks[1].text[1]")
        );

        let mut bad = record();
        bad.quantities
            .push(Quantity::new("q", 1.0, "").printed(f64::NAN, 0.5, "p. 2"));
        assert_eq!(bad.non_finite().as_deref(), Some("quantities.q.paper"));
    }
}
