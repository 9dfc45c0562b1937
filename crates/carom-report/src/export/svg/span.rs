//! Ranges of the axes.

use super::transform::{edges, transform};
use crate::export::ExportError;
use crate::record::{Axis, Figure, Mark, Scale};

/// Interval of transformed values: the values themselves, or their decimal logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Span {
    const NOTHING: Self = Self {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|v| v.is_finite());
        finite.fold(Self::NOTHING, |span, v| Self {
            low: span.low.min(v),
            high: span.high.max(v),
        })
    }

    pub(super) fn length(self) -> f64 {
        self.high - self.low
    }

    pub(super) fn padded(self, by: f64) -> Self {
        Self {
            low: self.low - by,
            high: self.high + by,
        }
    }

    /// Widens an axis range that is empty or has zero length, so that an axis can be drawn.
    ///
    /// Differences at the level of rounding errors count as zero; a plot that
    /// magnified them would mislead.
    pub(super) fn opened(self, scale: Scale) -> Self {
        if self.low > self.high {
            return Self {
                low: 0.0,
                high: 1.0,
            };
        }
        let largest = self.low.abs().max(self.high.abs());
        if self.length() > largest * 1e-10 {
            return self;
        }
        self.padded(match scale {
            Scale::Log => 0.3,
            Scale::Linear if largest > 0.0 => largest * 0.05,
            Scale::Linear => 0.5,
        })
    }
}

#[derive(Clone, Copy)]
pub(super) enum Side {
    X,
    Y,
}

impl Side {
    fn pick<T>(self, x: T, y: T) -> T {
        match self {
            Self::X => x,
            Self::Y => y,
        }
    }
}

/// Returns the range of one axis of a figure: the range that the figure requests, or else a range that contains all marks.
/// `side` selects the x axis or y axis.
pub(super) fn span(figure: &Figure, side: Side) -> Result<Span, ExportError> {
    let axis = side.pick(&figure.x, &figure.y);
    if let Some([low, high]) = axis.range {
        let span = Span {
            low: transform(axis.scale, low),
            high: transform(axis.scale, high),
        };
        let usable = span.low < span.high && span.length().is_finite();
        return if usable {
            Ok(span)
        } else {
            Err(axis_error(
                axis,
                "range must increase, and be positive if logarithmic",
            ))
        };
    }
    let values = figure
        .marks
        .iter()
        .flat_map(|mark| extent(mark, axis.scale, side));
    let span = Span::of(values).opened(axis.scale);
    // Cells fill the range exactly; other marks get a margin.
    let share = if figure
        .marks
        .iter()
        .any(|m| matches!(m, Mark::Heatmap { .. }))
    {
        0.0
    } else if figure.equal_aspect {
        0.05
    } else {
        side.pick(0.025, 0.06)
    };
    let span = span.padded(share * span.length());
    if span.length().is_finite() {
        Ok(span)
    } else {
        Err(axis_error(axis, "values are too far apart"))
    }
}

/// Returns the coordinates of a mark along one axis, which the axis range should include. On a logarithmic axis they are
/// decimal logarithms. `side` selects x or y.
fn extent(mark: &Mark, scale: Scale, side: Side) -> Vec<f64> {
    let values = match mark {
        Mark::Line { x, y, .. } | Mark::Points { x, y, .. } | Mark::Polygon { x, y, .. } => {
            side.pick(x, y).clone()
        }
        Mark::Heatmap { x, y, .. } => return edges(side.pick(x, y), scale),
        Mark::Disk { x, y, radius, .. } => {
            let center = side.pick(*x, *y);
            vec![center - radius, center + radius]
        }
        Mark::Arrow {
            from: [x0, y0],
            to: [x1, y1],
            ..
        } => {
            vec![side.pick(*x0, *y0), side.pick(*x1, *y1)]
        }
        Mark::Text { x, y, .. } => vec![side.pick(*x, *y)],
    };
    values.into_iter().map(|v| transform(scale, v)).collect()
}

pub(super) fn axis_error(axis: &Axis, problem: &str) -> ExportError {
    ExportError::Axis {
        label: axis.label.clone(),
        problem: problem.to_owned(),
    }
}
