//! Figures of motions: quantities against time, with marked impacts.

use carom_report::record::{Axis, Color, Figure, LineStyle, Mark, PointShape};

/// Largest number of points of a line; longer series are thinned out.
const POINTS: usize = 400;

/// Largest number of lines in one figure; more could not be distinguished.
pub(super) const MOST_LINES: usize = 7;

/// Largest number of marked impacts.
const MOST_IMPACTS: usize = 1000;

/// Largest number of impacts with a dotted line.
const MOST_DOTTED: usize = 50;

const COLORS: [Color; MOST_LINES] = [
    Color::Blue,
    Color::Vermillion,
    Color::Green,
    Color::Orange,
    Color::Purple,
    Color::Sky,
    Color::Gray,
];

/// Quantity with one value for each time of a figure.
pub(super) struct Series {
    pub(super) label: String,
    pub(super) values: Vec<f64>,
}

impl Series {
    pub(super) fn new(label: impl Into<String>, values: Vec<f64>) -> Self {
        Self {
            label: label.into(),
            values,
        }
    }

    /// Interpolates the values of a series linearly at `time` (s). `times`: times of its values (s). `None` before the first
    /// time or without values.
    fn at(&self, times: &[f64], time: f64) -> Option<f64> {
        let after = times.partition_point(|t| *t <= time);
        let (a, b) = (after.checked_sub(1)?, after.min(times.len() - 1));
        let (ya, yb) = (self.values.get(a)?, self.values.get(b)?);
        let span = times[b] - times[a];
        let share = if span > 0.0 {
            (time - times[a]) / span
        } else {
            0.0
        };
        Some(ya + share * (yb - ya))
    }
}

/// Creates a figure of several quantities against time, with `times` in s. `label` and `unit` describe the vertical axis.
/// `hits` are impacts to mark on the lines: the index of a line, and the time (s).
pub(super) fn against_time(
    [name, title, caption]: [&str; 3],
    (label, unit): (&str, &str),
    times: &[f64],
    series: &[Series],
    hits: &[(usize, f64)],
) -> Figure {
    let stride = times.len().div_ceil(POINTS).max(1);
    let last = times.len().saturating_sub(1);
    let thin = |values: &[f64]| -> Vec<f64> {
        let kept = values.iter().enumerate();
        kept.filter(|(k, _)| k % stride == 0 || *k == last)
            .map(|(_, x)| *x)
            .collect()
    };
    let mut figure = Figure::new(
        name,
        title,
        caption,
        Axis::linear("time", "s"),
        Axis::linear(label, unit),
    );
    for (series, color) in series.iter().zip(COLORS) {
        let (x, y) = (thin(times), thin(&series.values));
        figure = figure.mark(Mark::line(&series.label, x, y, color));
    }
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for (line, time) in hits.iter().take(MOST_IMPACTS) {
        let of_line = series.get(*line).filter(|_| *line < MOST_LINES);
        if let Some(value) = of_line.and_then(|series| series.at(times, *time)) {
            x.push(*time);
            y.push(value);
        }
    }
    if !x.is_empty() {
        figure = figure.mark(Mark::points("impacts", x, y, Color::Black).shape(PointShape::Cross));
    }
    figure
}

/// Adds vertical dotted lines to a figure at the given times of impact (s). The lines extend from the value `low` to the value
/// `high` of the vertical axis.
pub(super) fn with_dashes(mut figure: Figure, times: &[f64], (low, high): (f64, f64)) -> Figure {
    for time in times.iter().take(MOST_DOTTED) {
        figure = figure.mark(
            Mark::path(vec![*time; 2], vec![low, high], Color::Gray).style(LineStyle::Dotted),
        );
    }
    figure
}

/// Returns the smallest and the largest value in all series.
pub(super) fn extent(series: &[Series]) -> (f64, f64) {
    let all = || series.iter().flat_map(|series| &series.values).copied();
    (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_two_times_lie_on_the_line_between_them() {
        let series = Series::new("x", vec![1.0, 3.0, 3.0]);
        let times = [0.0, 2.0, 4.0];
        assert_eq!(series.at(&times, 0.5), Some(1.5));
        assert_eq!(series.at(&times, 4.0), Some(3.0));
        assert_eq!(series.at(&times, -1.0), None);
    }
}
