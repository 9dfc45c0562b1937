//! Configuration and drawing shared by the penny's scenarios.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::Positive;
use carom_impact::Restitution;
use carom_motion::billiard::penny::{PennyBilliard, PennyState, RollingPenny, Run};
use carom_motion::billiard::{BilliardError, Ellipse, Superellipse, Table};
use carom_report::animation::{Animation, Outline, PlaneBody};
use carom_report::record::Color;
use serde::Deserialize;

/// Number of points on a drawn table outline.
const OUTLINE: usize = 361;

/// Step between the points of the outline used behind a moving body; it divides their number
/// minus one, so that the outline closes.
const WALL_STRIDE: usize = 3;

/// Largest number of impacts in a drawing; more would blacken the drawing.
const DRAWN_IMPACTS: usize = 300;

/// Largest step between drawn points of a path: rotation (rad) plus displacement divided by the size of the table.
const PATH_STEP: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Law {
    Elastic,
    /// The paper calls this law plastic.
    #[serde(alias = "plastic")]
    Projected,
    Newton,
    ProjectedNewton,
}

impl Law {
    /// Creates the restitution law of this kind. `e`: coefficient of restitution, used only by the kinds with Newton's
    /// restitution.
    pub(crate) fn restitution(self, e: f64) -> Result<Restitution, ScenarioError> {
        let restitution = match self {
            Self::Elastic => Restitution::Elastic,
            Self::Projected => Restitution::Projected,
            Self::Newton => Restitution::Newton(e),
            Self::ProjectedNewton => Restitution::ProjectedNewton(e),
        };
        match restitution.validate() {
            Ok(()) => Ok(restitution),
            Err(error) => Err(ScenarioError::value("restitution", error)),
        }
    }
}

/// Parameters of a penny, as in the paper's Table I.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PennyConfig {
    pub(crate) radius: Positive,
    pub(crate) mass: Positive,
    pub(crate) spin_inertia: Positive,
    pub(crate) heading_inertia: Positive,
}

impl PennyConfig {
    pub(crate) fn build(&self) -> Result<RollingPenny, ScenarioError> {
        Ok(RollingPenny::new(
            *self.radius,
            *self.mass,
            *self.spin_inertia,
            *self.heading_inertia,
        )?)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TableKind {
    Ellipse,
    Superellipse,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableConfig {
    #[serde(rename = "type")]
    pub(crate) kind: TableKind,
    pub(crate) semi_axes: [f64; 2],
    pub(crate) exponent: Option<f64>,
}

impl TableConfig {
    pub(crate) fn ellipse(semi_axes: [f64; 2]) -> Self {
        Self {
            kind: TableKind::Ellipse,
            semi_axes,
            exponent: None,
        }
    }

    pub(crate) fn build(&self) -> Result<Box<dyn Table>, ScenarioError> {
        let [a, b] = self.semi_axes;
        match (self.kind, self.exponent) {
            (TableKind::Ellipse, None) => {
                let table = Ellipse::new(a, b);
                Ok(Box::new(
                    table.map_err(|e| ScenarioError::value("table.semi_axes", e))?,
                ))
            }
            (TableKind::Ellipse, Some(_)) => Err(ScenarioError::value(
                "table.exponent",
                "an ellipse has none; use type = \"superellipse\"",
            )),
            (TableKind::Superellipse, exponent) => {
                let table = Superellipse::new(a, b, exponent.unwrap_or(4.0))
                    .map_err(|e| ScenarioError::value("table.exponent", e))?;
                Ok(Box::new(table))
            }
        }
    }

    /// Returns the wall of the table as a fixed outline for an animation.
    pub(crate) fn wall(&self) -> Outline {
        let (x, y) = self.outline();
        let every = x.iter().zip(&y).step_by(WALL_STRIDE);
        Outline::line(every.map(|(x, y)| [*x, *y]), Color::Gray)
    }

    /// Returns the wall of the table as a closed polyline: its x and y coordinates (m).
    pub(crate) fn outline(&self) -> (Vec<f64>, Vec<f64>) {
        let [a, b] = self.semi_axes;
        let exponent = match self.kind {
            TableKind::Ellipse => 2.0,
            TableKind::Superellipse => self.exponent.unwrap_or(4.0),
        };
        let bend = |c: f64| c.signum() * libm::pow(c.abs(), 2.0 / exponent);
        linspace(0.0, std::f64::consts::TAU, OUTLINE)
            .into_iter()
            .map(|angle| (a * bend(libm::cos(angle)), b * bend(libm::sin(angle))))
            .unzip()
    }
}

/// Initial state, as in the paper's Sec. VI-A.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InitialConfig {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) theta: f64,
    pub(crate) phi: f64,
    pub(crate) theta_dot: f64,
    pub(crate) phi_dot: f64,
}

impl InitialConfig {
    pub(crate) fn build(&self) -> Result<PennyState, ScenarioError> {
        Ok(PennyState {
            x: self.x,
            y: self.y,
            theta: self.theta,
            phi: self.phi,
            theta_dot: self.theta_dot,
            phi_dot: self.phi_dot,
        })
    }
}

/// Converts an error of the penny billiard to a scenario error that names the faulty configuration key, if one key causes the
/// error.
pub(crate) fn named(error: BilliardError) -> ScenarioError {
    match error {
        BilliardError::TableTooSmall { .. } => ScenarioError::value("table.semi_axes", error),
        BilliardError::PenetratingStart { .. } => ScenarioError::value("initial", error),
        other => other.into(),
    }
}

/// Returns the run of a penny. If an error stopped the run, this error is returned instead.
pub(crate) fn whole(run: Result<Run, BilliardError>) -> Result<Run, ScenarioError> {
    let mut run = run.map_err(named)?;
    run.ending = run.ending.or_error().map_err(named)?;
    Ok(run)
}

/// Begins the figure `path` with the outline of the billiard table, to which runs can be added.
pub(crate) fn drawing(table: &TableConfig, path: &str) -> Plot {
    let (x, y) = table.outline();
    Plot::new(path).with("wall", x, y)
}

/// Returns the path of the penny's center as lists of x and y (m), sampled finely enough to look smooth. `size`: diameter of
/// the table (m), which determines the sampling.
pub(crate) fn path(penny: &RollingPenny, run: &Run, size: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut x, mut y) = (vec![run.start.x], vec![run.start.y]);
    let ends = run.events.iter().map(|e| e.time).chain([run.time]);
    let mut begin = 0.0;
    for end in ends {
        let state = run.state_at(penny, begin);
        let shift = penny.radius() * state.theta_dot.abs() / size;
        let samples = ((shift + state.phi_dot.abs()) * (end - begin) / PATH_STEP).ceil();
        for time in linspace(begin, end, samples.clamp(2.0, 400.0) as usize)
            .into_iter()
            .skip(1)
        {
            let at = penny.flow(&state, time - begin);
            x.push(at.x);
            y.push(at.y);
        }
        begin = end;
    }
    (x, y)
}

/// Restricts the axes of a figure to the part of a run from its first to its last impact, with a margin of half the penny's
/// radius.
pub(crate) fn close_up(plot: Plot, penny: &RollingPenny, run: &Run) -> Plot {
    let (Some(first), Some(last)) = (run.events.first(), run.events.last()) else {
        return plot;
    };
    let mut points: Vec<_> = run.events.iter().map(|e| (e.point.x, e.point.y)).collect();
    points.extend(run.events.iter().map(|e| (e.state.x, e.state.y)));
    for k in 0..=40 {
        let between = first.time + (last.time - first.time) * f64::from(k) / 40.0;
        let state = run.state_at(penny, between);
        points.push((state.x, state.y));
    }
    let margin = 0.5 * penny.radius();
    let range = |of: fn(&(f64, f64)) -> f64| {
        let low = points.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        [low - margin, high + margin]
    };
    plot.x_range(range(|p| p.0)).y_range(range(|p| p.1))
}

/// Number of frames of an animation, in addition to those at its impacts.
const FRAMES: usize = 240;

/// Largest number of impacts in an animation.
const PLAYED_IMPACTS: usize = 60;

/// Caption of an animation of the penny.
pub(crate) const FROM_ABOVE: &str =
    "Seen from above: the penny stands on its edge, its front rim is marked.";

/// Draws a penny that stands on its edge, seen from above: a line along its heading, with a dot at the front. `radius`: radius
/// of the penny (m).
pub(crate) fn from_above(radius: f64) -> Vec<Outline> {
    vec![
        Outline::line([[-radius, 0.0], [radius, 0.0]], Color::Blue),
        Outline::disk([radius, 0.0], 0.12 * radius, Color::Vermillion),
    ]
}

/// Builds the animation of a penny's run, seen from above. `text`: name and title of the animation; `table`: outline of the
/// table.
pub(crate) fn motion<T: Table>(
    text: (&str, &str),
    table: &TableConfig,
    billiard: &PennyBilliard<T>,
    run: &Run,
) -> Animation {
    let played = run.events.get(PLAYED_IMPACTS).map_or(run.time, |e| e.time);
    let mut impacts: Vec<f64> = run.events.iter().map(|e| e.time).collect();
    impacts.truncate(PLAYED_IMPACTS);
    let times = Animation::frames(0.0, played, FRAMES, &impacts);
    impacts.retain(|impact| times.contains(impact));
    let penny = billiard.penny();
    let poses = times.iter().map(|time| {
        let at = run.state_at(penny, *time);
        [at.x, at.y, at.phi]
    });
    let body = PlaneBody::new(from_above(penny.radius()), poses).trail();
    let caption = FROM_ABOVE;
    let (name, title) = text;
    Animation::plane(name, title, caption, times, impacts)
        .fixed(table.wall())
        .body(body)
}

/// Draws a run into the figure of its table: the path of the penny's center, and the impact points of the front and back of
/// its edge.
pub(crate) fn trajectory<T: Table>(mut plot: Plot, billiard: &PennyBilliard<T>, run: &Run) -> Plot {
    let mut shown = run.clone();
    if let Some(next) = run.events.get(DRAWN_IMPACTS) {
        shown.events.truncate(DRAWN_IMPACTS);
        shown.time = next.time;
        let more = format!(" The first {DRAWN_IMPACTS} impacts.");
        plot.figure.caption.push_str(&more);
    }
    let run = &shown;
    let (x, y) = path(billiard.penny(), run, billiard.table().diameter());
    let points = |name: &'static str| {
        let hits = run.events.iter().filter(move |e| e.rim.name() == name);
        hits.map(|e| [e.point.x, e.point.y])
    };
    plot.with("center", x, y)
        .through("front rim hits", points("front"))
        .through("back rim hits", points("back"))
}
