//! Figures as data: axes and marks.

use super::table::{bad_cell, bad_number};
use serde::{Deserialize, Serialize};

/// Figure of a record: two axes and the marks (lines, points and similar) drawn on them.
///
/// # Examples
///
/// ```
/// use carom_report::export::svg::svg;
/// use carom_report::record::{Axis, Color, Figure, Mark};
/// let times: Vec<f64> = (0..=10).map(|k| 0.05 * f64::from(k)).collect();
/// let heights = times.iter().map(|t| 1.25 - 0.5 * 10.0 * t * t).collect();
/// let figure = Figure::new("fall", "Fall", "", Axis::linear("time", "s"), Axis::linear("height", "m"))
///     .mark(Mark::line("ball", times, heights, Color::Blue));
/// assert!(svg(&figure)?.contains("height"));
/// # Ok::<(), carom_report::export::ExportError>(())
/// ```
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
    /// True if one unit has equal length on both axes, as in a drawing of bodies.
    #[serde(default)]
    pub equal_aspect: bool,
}

impl Figure {
    /// Creates a figure with two axes and without marks. `name` is the name of its files.
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

    /// Draws the figure such that one unit has equal length on both axes.
    #[must_use]
    pub fn equal_aspect(mut self) -> Self {
        self.equal_aspect = true;
        self
    }

    /// Adds a mark, such as a line or points, to the figure.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    pub(super) fn non_finite(&self) -> Option<String> {
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

/// Axis of a figure: label, unit, scale and range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Label, without its unit.
    pub label: String,
    /// Unit; empty if dimensionless.
    pub unit: String,
    /// Scale that maps values to length.
    #[serde(default)]
    pub scale: Scale,
    /// Values at the two ends; chosen to fit the marks if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Names shown beside the values 1, 2, ... of the axis instead of numbers; empty for an axis of numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl Axis {
    /// Creates a linear axis of a figure. Its range is chosen to show all marks.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            unit: unit.into(),
            scale: Scale::Linear,
            range: None,
            names: Vec::new(),
        }
    }

    /// Creates a logarithmic axis of a figure. Its range is chosen to show all marks.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            scale: Scale::Log,
            ..Self::linear(label, unit)
        }
    }

    /// Creates an axis of a figure with named items: the first name is at the value 1, the second at 2, and so on.
    pub fn named(label: impl Into<String>, names: Vec<String>) -> Self {
        Self {
            range: Some([0.0, names.len() as f64 + 1.0]),
            names,
            ..Self::linear(label, "")
        }
    }

    /// Sets the values at the two ends of the axis, the lower one first.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some([low, high]);
        self
    }
}

/// Scale of a figure's axis: the map from values to positions, linear or logarithmic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scale {
    /// Linear: equal differences have equal length.
    #[default]
    Linear,
    /// Logarithmic: equal ratios have equal length; values must be positive.
    Log,
}

/// Item drawn on the axes of a figure, such as a line, points or a heat map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
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
    /// A grid of colored cells with a color bar; a figure has at most one heat map.
    Heatmap {
        /// Quantity that the color shows.
        label: String,
        /// Unit of that quantity; empty if dimensionless.
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
        /// Radius in the unit of the axes.
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
        /// Text to draw.
        text: String,
    },
}

impl Mark {
    /// Creates a solid line through the points (`x`, `y`) of a figure. `label` is its legend entry.
    pub fn line(label: impl Into<String>, x: Vec<f64>, y: Vec<f64>, color: Color) -> Self {
        Self::Line {
            label: Some(label.into()),
            x,
            y,
            style: LineStyle::Solid,
            color,
        }
    }

    /// Creates round points at (`x`, `y`) in a figure. `label` is their legend entry.
    pub fn points(label: impl Into<String>, x: Vec<f64>, y: Vec<f64>, color: Color) -> Self {
        Self::Points {
            label: Some(label.into()),
            x,
            y,
            shape: PointShape::Circle,
            color,
        }
    }

    /// Creates a solid line through the points (`x`, `y`) of a figure, without a legend entry.
    pub fn path(x: Vec<f64>, y: Vec<f64>, color: Color) -> Self {
        Self::Line {
            label: None,
            x,
            y,
            style: LineStyle::Solid,
            color,
        }
    }

    /// Creates an arrow without text between two points of a figure.
    pub fn arrow(from: [f64; 2], to: [f64; 2], color: Color) -> Self {
        Self::Arrow {
            from,
            to,
            color,
            label: None,
        }
    }

    /// Sets the dash pattern of a line; other marks have none and are not changed.
    #[must_use]
    pub fn style(mut self, pattern: LineStyle) -> Self {
        if let Self::Line { style, .. } = &mut self {
            *style = pattern;
        }
        self
    }

    /// Sets the symbol of points; other marks have none and are not changed.
    #[must_use]
    pub fn shape(mut self, symbol: PointShape) -> Self {
        if let Self::Points { shape, .. } = &mut self {
            *shape = symbol;
        }
        self
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

/// Dash pattern of a line in a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LineStyle {
    /// Unbroken.
    #[default]
    Solid,
    /// Long dashes.
    Dashed,
    /// Dots.
    Dotted,
}

/// Symbol with which a point of a figure is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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

/// Colors of figures and animations: the Okabe-Ito palette, which color-blind readers can tell apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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
