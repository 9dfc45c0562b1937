//! Figures as data: the files `figures.toml` describe axes, texts and looks, a scenario gives the numbers.
//!
//! A description is found by the name of its scenario and its own. Marks that name two columns are drawn from a table, all
//! others when the scenario adds their points. With the key `like` a description takes the keys that it does not have from
//! another one.
//!
//! ```toml
//! [light-ball.impacts]
//! title = "Impacts of a light ball between a wall and a block"
//! caption = "The line is π / arctan √(m/M)."
//! x = "mass of the block over mass of the ball"
//! y = "impacts"
//! log = ["x", "y"]
//! marks = [
//!     { line = "π / arctan √(m/M)", color = "gray", style = "dashed" },
//!     { points = "carom", color = "blue", of = ["mass_ratio", "impacts"] },
//! ]
//! ```

use crate::ScenarioError;
use carom_report::Record;
use carom_report::record::{Axis, Color, Column, Figure, LineStyle, Mark, PointShape, Table};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::OnceLock;

/// Descriptions of the figures of all folders.
const FILES: [&str; 7] = [
    include_str!("../beyond/figures.toml"),
    include_str!("../lie_group/figures.toml"),
    include_str!("../motion/figures.toml"),
    include_str!("../nonholonomic/figures.toml"),
    include_str!("../propagative/figures.toml"),
    include_str!("../set_valued/figures.toml"),
    include_str!("../two_body/figures.toml"),
];

/// Description of a figure. Texts may have gaps, as in `{number}`, which the scenario fills.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Description {
    /// Name of the figure, if it is not that of the description.
    name: Option<String>,
    title: String,
    caption: String,
    /// Label and unit of the horizontal axis, as in `time [s]`.
    x: String,
    /// Label and unit of the vertical axis.
    y: String,
    /// Axes with a logarithmic scale.
    log: Vec<Side>,
    x_range: Option<[f64; 2]>,
    y_range: Option<[f64; 2]>,
    equal_aspect: bool,
    /// Label and unit of the quantity that the colors of a heat map show.
    heat: String,
    marks: Vec<Look>,
}

/// Axis of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Side {
    X,
    Y,
}

/// Look of a mark. Its one key of `line`, `points`, `path` and `polygon` names the mark; the legend shows the names of lines and
/// points.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Look {
    line: Option<String>,
    points: Option<String>,
    path: Option<String>,
    polygon: Option<String>,
    /// Color, or colors that repeated marks of this look take in turn.
    color: Colors,
    #[serde(default)]
    style: LineStyle,
    #[serde(default)]
    shape: PointShape,
    /// Columns of the table from which the mark is drawn: abscissas, ordinates.
    of: Option<[String; 2]>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Colors {
    One(Color),
    InTurn(Vec<Color>),
}

impl Look {
    fn name(&self) -> &str {
        let names = [&self.line, &self.points, &self.path, &self.polygon];
        names
            .into_iter()
            .flatten()
            .next()
            .map_or("", String::as_str)
    }

    /// Creates the mark with this look and the index `k` among those that take the colors in turn.
    fn mark(&self, k: usize, label: &str, x: Vec<f64>, y: Vec<f64>) -> Mark {
        let color = match &self.color {
            Colors::One(color) => *color,
            Colors::InTurn(colors) => {
                let color = colors.get(k % colors.len().max(1));
                color.copied().unwrap_or_default()
            }
        };
        if self.polygon.is_some() {
            Mark::Polygon { x, y, color }
        } else if self.points.is_some() {
            Mark::points(label, x, y, color).shape(self.shape)
        } else if self.path.is_some() || label.is_empty() {
            Mark::path(x, y, color).style(self.style)
        } else {
            Mark::line(label, x, y, color).style(self.style)
        }
    }
}

impl Description {
    /// Finds the description `SCENARIO/FIGURE`.
    fn find(path: &str) -> Result<&'static Self, String> {
        static ALL: OnceLock<Result<BTreeMap<String, Description>, String>> = OnceLock::new();
        let found = ALL.get_or_init(Self::read).as_ref()?.get(path);
        found.ok_or_else(|| "no such description".to_owned())
    }

    /// Reads all descriptions. Keys that a description does not have are those of the description that its key `like` names.
    fn read() -> Result<BTreeMap<String, Self>, String> {
        let mut tables = BTreeMap::new();
        for file in FILES {
            let scenarios: BTreeMap<String, BTreeMap<String, toml::Table>> =
                toml::from_str(file).map_err(|error| error.to_string())?;
            for (scenario, figures) in scenarios {
                let named = |(name, table)| (format!("{scenario}/{name}"), table);
                tables.extend(figures.into_iter().map(named));
            }
        }
        let whole = |(path, table): (&String, &toml::Table)| {
            let mut table = table.clone();
            let like = table.remove("like");
            let like = like.as_ref().and_then(|like| tables.get(like.as_str()?));
            for (key, value) in like.into_iter().flatten() {
                table.entry(key).or_insert_with(|| value.clone());
            }
            let description = Self::deserialize(table);
            let description = description.map_err(|error| format!("{path}: {error}"))?;
            Ok((path.clone(), description))
        };
        tables.iter().map(whole).collect()
    }

    fn axis(&self, side: Side) -> Axis {
        let (text, range) = match side {
            Side::X => (&self.x, self.x_range),
            Side::Y => (&self.y, self.y_range),
        };
        let Column { name, unit } = Column::read(text);
        let axis = if self.log.contains(&side) {
            Axis::log(name, unit)
        } else {
            Axis::linear(name, unit)
        };
        Axis { range, ..axis }
    }
}

/// Figure with a description, to which a scenario adds its numbers.
#[derive(Debug)]
pub(crate) struct Plot {
    path: String,
    pub(crate) figure: Figure,
    looks: &'static [Look],
    heat: &'static str,
    /// First mistake of the description, which [`figure`](Self::figure) returns.
    fault: Option<String>,
}

impl Plot {
    /// Begins the figure with the description `path`: the name of the scenario and that of the figure, as in `cube/energies`.
    pub(crate) fn new(path: &str) -> Self {
        let description = Description::find(path);
        let name = path.split_once('/').map_or("", |(_, name)| name);
        let blank = || Axis::linear("", "");
        let figure = match &description {
            Ok(it) => {
                let (x, y) = (it.axis(Side::X), it.axis(Side::Y));
                let name = it.name.as_deref().unwrap_or(name);
                let figure = Figure::new(name, &it.title, &it.caption, x, y);
                Figure {
                    equal_aspect: it.equal_aspect,
                    ..figure
                }
            }
            Err(_) => Figure::new(name, "", "", blank(), blank()),
        };
        let looks = description.as_ref().map_or(&[][..], |it| &it.marks);
        Self {
            path: path.to_owned(),
            figure,
            looks,
            heat: description.as_ref().map_or("", |it| &it.heat),
            fault: description.err(),
        }
    }

    /// Fills the gap `{key}` in name, title, caption and labels of the axes.
    pub(crate) fn fill(mut self, key: &str, value: impl Display) -> Self {
        let (gap, value) = (format!("{{{key}}}"), value.to_string());
        let it = &mut self.figure;
        let texts = [&mut it.name, &mut it.title, &mut it.caption];
        for text in texts.into_iter().chain([&mut it.x.label, &mut it.y.label]) {
            *text = text.replace(&gap, &value);
        }
        self
    }

    /// Draws the marks whose columns the table has, in the order of the description.
    pub(crate) fn of(mut self, table: &Table) -> Self {
        let column = |name: &String| table.columns.iter().position(|c| c.name == *name);
        for look in self.looks {
            let Some([x, y]) = &look.of else { continue };
            if let (Some(x), Some(y)) = (column(x), column(y)) {
                self = self.with(look.name(), table.column(x), table.column(y));
            } else {
                self.fault(format!("no columns `{x}`, `{y}`"));
            }
        }
        self
    }

    /// Draws the mark `name` with its abscissas `x` and ordinates `y`.
    pub(crate) fn with(
        self,
        name: &str,
        x: impl IntoIterator<Item = f64>,
        y: impl IntoIterator<Item = f64>,
    ) -> Self {
        self.through(name, x.into_iter().zip(y).map(|(x, y)| [x, y]))
    }

    /// Draws the mark `name` through or at points.
    pub(crate) fn through(
        mut self,
        name: &str,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) -> Self {
        self.curve(name, name, points);
        self
    }

    /// Draws a mark through or at points, with the look `look` and the legend entry `label`.
    pub(crate) fn curve(
        &mut self,
        look: &str,
        label: &str,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) {
        self.numbered(look, 0, label, points);
    }

    /// Draws a mark through or at points as [`curve`](Self::curve) does, with the color that has the index `k` in the look.
    pub(crate) fn numbered(
        &mut self,
        look: &str,
        k: usize,
        label: &str,
        points: impl IntoIterator<Item = [f64; 2]>,
    ) {
        let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().map(|[x, y]| (x, y)).unzip();
        match self.looks.iter().find(|it| it.name() == look) {
            Some(look) => self.mark(look.mark(k, label, x, y)),
            None => self.fault(format!("no mark `{look}`")),
        }
    }

    /// Draws the line `name` through points, with a legend entry if it is the first of this name.
    pub(crate) fn once(&mut self, name: &str, points: impl IntoIterator<Item = [f64; 2]>) {
        let is_named =
            |mark: &Mark| matches!(mark, Mark::Line { label: Some(label), .. } if label == name);
        let is_old = self.figure.marks.iter().any(is_named);
        self.curve(name, if is_old { "" } else { name }, points);
    }

    /// Adds a mark that is no line and no points, such as a disk.
    pub(crate) fn mark(&mut self, mark: Mark) {
        self.figure.marks.push(mark);
    }

    /// Draws a heat map over a grid: the values of each row belong to an entry of `y`.
    pub(crate) fn heat(mut self, x: &[f64], y: &[f64], values: Vec<Vec<f64>>) -> Self {
        let Column { name, unit } = Column::read(self.heat);
        self.mark(Mark::Heatmap {
            label: name,
            unit,
            x: x.to_vec(),
            y: y.to_vec(),
            values,
        });
        self
    }

    /// Sets the values at the ends of the horizontal axis.
    pub(crate) fn x_range(mut self, ends: [f64; 2]) -> Self {
        self.figure.x.range = Some(ends);
        self
    }

    /// Sets the values at the ends of the vertical axis.
    pub(crate) fn y_range(mut self, ends: [f64; 2]) -> Self {
        self.figure.y.range = Some(ends);
        self
    }

    fn fault(&mut self, fault: String) {
        self.fault.get_or_insert(fault);
    }

    /// Returns the figure.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Config`] if the description does not exist or does not fit to what was drawn.
    pub(crate) fn figure(self) -> Result<Figure, ScenarioError> {
        match self.fault {
            None => Ok(self.figure),
            Some(fault) => Err(ScenarioError::Config {
                message: format!("figures.toml, {}: {fault}", self.path),
            }),
        }
    }

    /// Adds the figure to a record.
    ///
    /// # Errors
    ///
    /// [`ScenarioError::Config`] if the description does not exist or does not fit to what was drawn.
    pub(crate) fn draw(self, record: &mut Record) -> Result<(), ScenarioError> {
        record.figures.push(self.figure()?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_that_does_not_fit_is_told() {
        let fault = |plot: Plot| plot.figure().unwrap_err().to_string();
        let unknown = fault(Plot::new("light-ball/nothing"));
        assert_eq!(
            unknown,
            "figures.toml, light-ball/nothing: no such description"
        );
        let plot = Plot::new("light-ball/impacts").with("ball", [0.0], [0.0]);
        assert_eq!(
            fault(plot),
            "figures.toml, light-ball/impacts: no mark `ball`"
        );
        let table = Table::new("t", "", Vec::new());
        let missing = fault(Plot::new("light-ball/impacts").of(&table));
        assert!(
            missing.ends_with("no columns `mass_ratio`, `impacts`"),
            "{missing}"
        );
    }
}
