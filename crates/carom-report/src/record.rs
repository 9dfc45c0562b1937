//! Plain data that a scenario leaves behind: quantities, tables, and figures.
//!
//! Nothing here computes or draws. A [`Record`] is what the exporters read and
//! what `record.json` holds, so that a run can be compared, redrawn, or checked
//! against a paper without running it again.

use crate::animation::Animation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything one run of a scenario reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the scenario.
    pub scenario: String,
    /// What the run shows, in a sentence or two.
    pub summary: String,
    /// How the run ended; `"completed"` unless the scenario says otherwise.
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
            status: "completed".to_owned(),
            parameters: serde_json::Value::Null,
            quantities: Vec::new(),
            tables: Vec::new(),
            figures: Vec::new(),
            animations: Vec::new(),
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

/// One scalar result, with the published value it should match, if any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// Name, ending in its unit: `energy_change_j`.
    pub name: String,
    /// Value this run found.
    pub value: f64,
    /// Unit; empty if dimensionless.
    pub unit: String,
    /// Value printed in a paper, or of a reference closed form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// Where `paper` comes from, e.g. `"Eq. 15"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Anything a reader must know to judge the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Quantity {
    /// A quantity with nothing to compare it with.
    pub fn new(name: impl Into<String>, value: f64, unit: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value,
            unit: unit.into(),
            paper: None,
            source: None,
            note: None,
        }
    }

    /// Adds the published value and where it is printed.
    #[must_use]
    pub fn paper(mut self, value: f64, source: impl Into<String>) -> Self {
        self.paper = Some(value);
        self.source = Some(source.into());
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    fn non_finite(&self) -> Option<String> {
        if !self.value.is_finite() {
            return Some("value".to_owned());
        }
        self.paper
            .filter(|v| !v.is_finite())
            .map(|_| "paper".to_owned())
    }
}

/// A table of numbers; also holds time series, one row per sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Name, from which the file name is made.
    pub name: String,
    /// What the table shows.
    pub caption: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each with a number for every column.
    pub rows: Vec<Vec<f64>>,
}

impl Table {
    /// A table without rows.
    pub fn new(name: impl Into<String>, caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self {
            name: name.into(),
            caption: caption.into(),
            columns,
            rows: Vec::new(),
        }
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

/// A figure: two axes and the marks drawn on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Name, from which the file name is made.
    pub name: String,
    /// Title above the plot; may be empty.
    pub title: String,
    /// Caption below the figure.
    pub caption: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Marks, drawn in this order, except that heat maps come first and text last.
    pub marks: Vec<Mark>,
    /// Whether one unit is as long on both axes, as in a drawing of bodies.
    #[serde(default)]
    pub equal_aspect: bool,
}

impl Figure {
    /// A figure without marks.
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        caption: impl Into<String>,
        x: Axis,
        y: Axis,
    ) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            caption: caption.into(),
            x,
            y,
            marks: Vec::new(),
            equal_aspect: false,
        }
    }

    /// Makes one unit as long on both axes.
    #[must_use]
    pub fn equal_aspect(mut self) -> Self {
        self.equal_aspect = true;
        self
    }

    /// Adds a mark.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    fn non_finite(&self) -> Option<String> {
        let axis = |name: &str, axis: &Axis| {
            let [low, high] = axis.range.unwrap_or_default();
            bad_number(&format!("{name}.range"), &[low, high])
        };
        let mark =
            |(i, mark): (usize, &Mark)| mark.non_finite().map(|path| format!("marks[{i}].{path}"));
        axis("x", &self.x)
            .or_else(|| axis("y", &self.y))
            .or_else(|| self.marks.iter().enumerate().find_map(mark))
    }
}

/// One axis of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Label, without its unit.
    pub label: String,
    /// Unit; empty if dimensionless.
    pub unit: String,
    /// How values map to length.
    #[serde(default)]
    pub scale: Scale,
    /// Values at the two ends; found from the marks when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
}

impl Axis {
    /// A linear axis that fits the marks.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            unit: unit.into(),
            scale: Scale::Linear,
            range: None,
        }
    }

    /// A logarithmic axis that fits the marks.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            scale: Scale::Log,
            ..Self::linear(label, unit)
        }
    }

    /// Fixes the values at the two ends, the lower one first.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some([low, high]);
        self
    }
}

/// How an axis maps values to length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; values must be positive.
    Log,
}

/// Something drawn on a figure's axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Mark {
    /// A polyline.
    Line {
        /// Legend entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// Abscissas.
        x: Vec<f64>,
        /// Ordinates.
        y: Vec<f64>,
        /// Dash pattern.
        #[serde(default)]
        style: LineStyle,
        /// Color.
        #[serde(default)]
        color: Color,
    },
    /// Separate points.
    Points {
        /// Legend entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// Abscissas.
        x: Vec<f64>,
        /// Ordinates.
        y: Vec<f64>,
        /// Symbol.
        #[serde(default)]
        shape: PointShape,
        /// Color.
        #[serde(default)]
        color: Color,
    },
    /// A grid of colored cells with a color bar; at most one in a figure.
    Heatmap {
        /// What the color shows.
        label: String,
        /// Its unit; empty if dimensionless.
        unit: String,
        /// Cell centers along x, increasing.
        x: Vec<f64>,
        /// Cell centers along y, increasing.
        y: Vec<f64>,
        /// One row of values for each y, with one value for each x.
        values: Vec<Vec<f64>>,
    },
    /// A filled disk.
    Disk {
        /// Center, x.
        x: f64,
        /// Center, y.
        y: f64,
        /// Radius in the axes' unit.
        radius: f64,
        /// Text drawn in the center.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// Color of the outline; the fill is a light tint of it.
        #[serde(default)]
        color: Color,
    },
    /// A closed, filled polygon.
    Polygon {
        /// Corner abscissas.
        x: Vec<f64>,
        /// Corner ordinates.
        y: Vec<f64>,
        /// Color of the outline; the fill is a light tint of it.
        #[serde(default)]
        color: Color,
    },
    /// An arrow.
    Arrow {
        /// Tail.
        from: [f64; 2],
        /// Tip.
        to: [f64; 2],
        /// Color.
        #[serde(default)]
        color: Color,
        /// Text drawn beyond the tip.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// Text centered on a point.
    Text {
        /// Center, x.
        x: f64,
        /// Center, y.
        y: f64,
        /// The text.
        text: String,
    },
}

impl Mark {
    /// A solid line with a legend entry.
    pub fn line(label: impl Into<String>, x: Vec<f64>, y: Vec<f64>, color: Color) -> Self {
        Self::Line {
            label: Some(label.into()),
            x,
            y,
            style: LineStyle::Solid,
            color,
        }
    }

    /// Round points with a legend entry.
    pub fn points(label: impl Into<String>, x: Vec<f64>, y: Vec<f64>, color: Color) -> Self {
        Self::Points {
            label: Some(label.into()),
            x,
            y,
            shape: PointShape::Circle,
            color,
        }
    }

    fn non_finite(&self) -> Option<String> {
        match self {
            Self::Line { x, y, .. } | Self::Points { x, y, .. } | Self::Polygon { x, y, .. } => {
                bad_number("x", x).or_else(|| bad_number("y", y))
            }
            Self::Heatmap { x, y, values, .. } => bad_number("x", x)
                .or_else(|| bad_number("y", y))
                .or_else(|| bad_cell("values", values)),
            Self::Disk { x, y, radius, .. } => bad_number("disk", &[*x, *y, *radius]),
            Self::Arrow { from, to, .. } => {
                bad_number("from", from).or_else(|| bad_number("to", to))
            }
            Self::Text { x, y, .. } => bad_number("text", &[*x, *y]),
        }
    }
}

/// Dash pattern of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineStyle {
    /// Unbroken.
    #[default]
    Solid,
    /// Long dashes.
    Dashed,
    /// Dots.
    Dotted,
}

/// Symbol of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointShape {
    /// Filled circle.
    #[default]
    Circle,
    /// Open square.
    Square,
    /// Diagonal cross.
    Cross,
    /// Filled triangle.
    Triangle,
}

/// The Okabe-Ito palette, which color-blind readers can tell apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Color {
    /// Black.
    #[default]
    Black,
    /// Blue.
    Blue,
    /// Orange.
    Orange,
    /// Bluish green.
    Green,
    /// Vermillion.
    Vermillion,
    /// Reddish purple.
    Purple,
    /// Sky blue.
    Sky,
    /// Gray.
    Gray,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let line = Mark::line("v", vec![0.0, 1.0], vec![0.1, 1e-300], Color::Blue);
        let mut figure = Figure::new("f", "F", "", Axis::linear("t", "s"), Axis::log("v", "m/s"));
        figure.marks.push(line);
        let mut record = Record::new("drop", "A drop.");
        record.quantities = vec![Quantity::new("speed_m_s", 0.1, "m/s").paper(0.2, "Eq. 1")];
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
            .push(Quantity::new("q", 1.0, "").paper(f64::NAN, "p. 2"));
        assert_eq!(bad.non_finite().as_deref(), Some("quantities.q.paper"));
    }
}
