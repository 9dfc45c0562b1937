//! Results of a scenario as plain data: quantities, tables, figures and animations.
//!
//! This module neither computes nor draws. A [`Record`] is the input of the exporters and
//! the content of `record.json`, so that a run can be compared, redrawn, or checked
//! against a paper without a second run.

pub(crate) mod figure;
mod quantity;
pub(crate) mod table;

pub use figure::{Axis, Color, Figure, LineStyle, Mark, PointShape, Scale};
pub use quantity::{Quantity, Reference, ReferenceKind};
pub use table::{Column, RowLabels, Table};

use crate::animation::Animation;
use carom_numeric::NUMERICS_VERSION;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Results of one run of a scenario: quantities, tables, figures and animations.
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
    /// Version of carom's arithmetic, [`NUMERICS_VERSION`]. Results with equal versions were computed
    /// by equal arithmetic.
    #[serde(default)]
    pub numerics: u32,
    /// Status at the end of the run; `"completed"` unless the scenario sets another one.
    pub status: String,
    /// Input parameters, as the scenario read them.
    pub parameters: serde_json::Value,
    /// Scalar results.
    pub quantities: Vec<Quantity>,
    /// Time series and other tables.
    pub tables: Vec<Table>,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Motions to play.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub animations: Vec<Animation>,
    /// Works to cite for the run, as BibTeX entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<String>,
    /// Further results, each under its own key; documented with the scenario.
    #[serde(flatten)]
    pub results: BTreeMap<String, serde_json::Value>,
}

impl Record {
    /// Creates an empty record of a run with the status `"completed"`. `scenario` is the name of the scenario, `summary`
    /// describes the run in words.
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

    /// Returns the path of the first NaN or infinity in the record; `None` if all numbers are finite.
    ///
    /// JSON has no such numbers, and `serde_json` would write `null` in their
    /// place, so exporters call this function first. `parameters` cannot hold such a number.
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

/// Returns the path of the first number in a list of items that `bad` rejects, such as `tables.t.rows[1][0]`; `None` if no
/// number is rejected. `bad` returns the path of the number within an item, `name` returns the name of an item, and `list` is
/// the name of the list.
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
