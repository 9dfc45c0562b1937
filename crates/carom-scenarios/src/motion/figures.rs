//! Figures of motions: quantities against time, with marked impacts.

use crate::common::plot::Plot;

/// Largest number of points of a line; longer series are thinned out.
const POINTS: usize = 400;

/// Largest number of lines in one figure; more could not be distinguished.
pub(super) const MOST_LINES: usize = 7;

/// Largest number of marked impacts.
const MOST_IMPACTS: usize = 1000;

/// Largest number of impacts with a dotted line.
const MOST_DOTTED: usize = 50;

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

/// Draws several quantities against time into the figure `path`, with `times` in s. `hits` are impacts to mark on the lines: the
/// index of a line, and the time (s).
pub(super) fn against_time(
    path: &str,
    times: &[f64],
    series: &[Series],
    hits: &[(usize, f64)],
) -> Plot {
    let stride = times.len().div_ceil(POINTS).max(1);
    let last = times.len().saturating_sub(1);
    let mut plot = Plot::new(path);
    for (k, series) in series.iter().take(MOST_LINES).enumerate() {
        let points = times.iter().zip(&series.values).enumerate();
        let kept = points.filter(|(k, _)| k % stride == 0 || *k == last);
        plot.numbered("series", k, &series.label, kept.map(|(_, (x, y))| [*x, *y]));
    }
    let on_line = |(line, time): &(usize, f64)| {
        let of_line = series.get(*line).filter(|_| *line < MOST_LINES)?;
        Some([*time, of_line.at(times, *time)?])
    };
    let marked: Vec<[f64; 2]> = hits.iter().take(MOST_IMPACTS).filter_map(on_line).collect();
    if marked.is_empty() {
        return plot;
    }
    plot.through("impacts", marked)
}

/// Adds dotted lines at the times of impacts to a figure (s), between the lowest and the highest value.
pub(super) fn with_dashes(mut plot: Plot, times: &[f64], (low, high): (f64, f64)) -> Plot {
    for time in times.iter().take(MOST_DOTTED) {
        plot = plot.with("dotted", [*time; 2], [low, high]);
    }
    plot
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
