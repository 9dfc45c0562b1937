//! Layout of a figure: positions of frame, ticks, labels and legend.

use super::clip::Rect;
use super::color_bar::Bar;
use super::geometry::Point;
use super::legend::{Entry, legend};
use super::scale::Map;
use super::span::{Side, Span, axis_error, span};
use super::text::{LABEL_SIZE, TICK_SIZE};
use super::ticks::Ticks;
use super::title::{title_height, title_lines};
use crate::export::ExportError;
use crate::record::{Figure, Scale};

/// Space available for a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Room {
    /// A page or a screen: the legend stands to the right of the plot.
    Wide,
    /// A phone: the legend stands below the plot, and text is large relative to the width.
    Narrow,
}

impl Room {
    const fn width(self) -> f64 {
        match self {
            Self::Wide => 900.0,
            Self::Narrow => 440.0,
        }
    }

    /// Returns the height (pixels) of a figure on a wide or narrow page, without the legend below. Figures with equal units on
    /// both axes have another height.
    const fn height(self) -> f64 {
        match self {
            Self::Wide => 560.0,
            Self::Narrow => 400.0,
        }
    }
}

/// Largest height of a plot with equal units on both axes (pixels).
const MAX_PLOT_HEIGHT: f64 = 640.0;
const MIN_WIDTH: f64 = 420.0;

/// Layout of a figure: positions of frame, ticks, labels and legend.
pub(super) struct Layout<'a> {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) title: Vec<String>,
    pub(super) frame: Rect,
    pub(super) x: Map,
    pub(super) y: Map,
    pub(super) x_ticks: Ticks,
    pub(super) y_ticks: Ticks,
    pub(super) bar: Option<Bar<'a>>,
    pub(super) legend: Vec<Entry<'a>>,
    /// Position of the upper left corner of the legend.
    pub(super) legend_at: Point,
}

impl<'a> Layout<'a> {
    pub(super) fn new(figure: &'a Figure, page: Room) -> Result<Self, ExportError> {
        let (x_span, y_span) = (span(figure, Side::X)?, span(figure, Side::Y)?);
        let bar = Bar::new(figure)?;
        let legend = legend(figure);
        let draft = Ticks::new(y_span, &figure.y, 8.0);
        let left = (LABEL_SIZE + draft.width() + 30.0).max(64.0);
        let beside = page == Room::Wide;
        let widths = legend.iter().map(Entry::width);
        let legend_width = widths.filter(|_| beside).fold(0.0, f64::max);
        let bar_width = bar.as_ref().map_or(0.0, Bar::reserve);
        let legend_gap = if legend.is_empty() || !beside {
            0.0
        } else {
            16.0
        };
        let right = bar_width + legend_gap + legend_width + 20.0;

        let room = (page.width() - left - right).max(200.0);
        let (plot_width, x_span, plot_height, y_span) = if figure.equal_aspect {
            equal_aspect(figure, room, x_span, y_span)?
        } else {
            (room, x_span, 0.0, y_span)
        };
        let width = (left + plot_width + right).max(MIN_WIDTH).ceil();
        let title = title_lines(&figure.title, width - 24.0);
        let top = title_height(&title) + 22.0;
        let below = TICK_SIZE + LABEL_SIZE + 34.0;
        let plot_height = if figure.equal_aspect {
            plot_height
        } else {
            page.height() - top - below
        };
        let frame = Rect {
            left,
            top,
            right: left + plot_width,
            bottom: top + plot_height,
        };
        let legend_height: f64 = legend.iter().map(Entry::height).sum();
        let foot = frame.bottom + below;
        let (legend_at, height) = match page {
            Room::Wide => (
                [frame.right + bar_width + legend_gap, frame.top],
                foot.max(top + legend_height + 12.0),
            ),
            Room::Narrow => ([12.0, foot], foot + legend_height),
        };
        let x_ticks = Ticks::new(x_span, &figure.x, x_tick_count(figure, x_span, plot_width));
        Ok(Self {
            width,
            height: height.ceil(),
            title,
            frame,
            x: Map {
                scale: figure.x.scale,
                span: x_span,
                start: frame.left,
                end: frame.right,
            },
            y: Map {
                scale: figure.y.scale,
                span: y_span,
                start: frame.bottom,
                end: frame.top,
            },
            x_ticks,
            y_ticks: Ticks::new(y_span, &figure.y, (plot_height / 50.0).max(2.0)),
            bar,
            legend,
            legend_at,
        })
    }

    /// Returns the position on the canvas (pixels) of a point that is given in the units of the axes.
    pub(super) fn pixel(&self, x: f64, y: f64) -> Point {
        [self.x.pixel(x), self.y.pixel(y)]
    }

    pub(super) fn pixels(&self, x: &[f64], y: &[f64]) -> Vec<Point> {
        x.iter().zip(y).map(|(x, y)| self.pixel(*x, *y)).collect()
    }
}

/// Computes the plot size and the axis ranges for which a unit has equal length on both axes. Returns plot width (pixels),
/// x range, plot height (pixels) and y range. `room` is the available width (pixels); `x` and `y` are the smallest ranges.
fn equal_aspect(
    figure: &Figure,
    room: f64,
    x: Span,
    y: Span,
) -> Result<(f64, Span, f64, Span), ExportError> {
    for axis in [&figure.x, &figure.y] {
        if axis.scale == Scale::Log {
            return Err(axis_error(axis, "an equal aspect needs linear axes"));
        }
    }
    let per_unit = (room / x.length()).min(MAX_PLOT_HEIGHT / y.length());
    let widen =
        |span: Span, least: f64| span.padded((0.5 * (least / per_unit - span.length())).max(0.0));
    let (x, y) = (widen(x, 180.0), widen(y, 120.0));
    Ok((x.length() * per_unit, x, y.length() * per_unit, y))
}

/// Returns the number of ticks whose labels fit side by side below an axis of length `width` (pixels). `span` is the range
/// of the axis.
fn x_tick_count(figure: &Figure, span: Span, width: f64) -> f64 {
    let draft = Ticks::new(span, &figure.x, (width / 80.0).max(2.0));
    (width / (draft.width() + 36.0).max(72.0)).max(2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Axis, Color, Mark};

    #[test]
    fn equal_aspect_gives_equal_lengths() -> Result<(), ExportError> {
        let disk = Mark::Disk {
            x: 3.0,
            y: 0.0,
            radius: 2.0,
            label: None,
            color: Color::Blue,
        };
        let (x, y) = (Axis::linear("x", "m"), Axis::linear("y", "m"));
        let figure = Figure::new("f", "", "", x, y).mark(disk).equal_aspect();
        let layout = Layout::new(&figure, Room::Wide)?;
        let across = layout.x.pixel(5.0) - layout.x.pixel(1.0);
        let up = layout.y.pixel(-2.0) - layout.y.pixel(2.0);
        assert!((across - up).abs() < 1e-6, "{across} and {up}");
        Ok(())
    }
}
