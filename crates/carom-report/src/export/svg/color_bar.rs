//! The color bar of a heat map.

use plotters::style::text_anchor::HPos;

use super::Done;
use super::canvas::{Canvas, Look, OVERLAP};
use super::clip::Rect;
use super::color::{FRAME, viridis};
use super::labels::{factor_above, upright_label};
use super::scale::Map;
use super::span::Span;
use super::text::{LABEL_SIZE, TICK_SIZE};
use super::ticks::Ticks;
use crate::export::ExportError;
use crate::record::{Figure, Mark, Scale};

/// Color bar of a heat map.
pub(super) struct Bar<'a> {
    label: &'a str,
    unit: &'a str,
    pub(super) span: Span,
    ticks: Ticks,
}

impl<'a> Bar<'a> {
    const GAP: f64 = 22.0;
    const WIDTH: f64 = 18.0;

    pub(super) fn new(figure: &'a Figure) -> Result<Option<Self>, ExportError> {
        let mut bars = figure.marks.iter().filter_map(|mark| match mark {
            Mark::Heatmap {
                label,
                unit,
                values,
                ..
            } => {
                let span = Span::of(values.iter().flatten().copied()).opened(Scale::Linear);
                let ticks = Ticks::linear(span, 8.0);
                Some(Self {
                    label,
                    unit,
                    span,
                    ticks,
                })
            }
            _ => None,
        });
        let bar = bars.next();
        if bars.next().is_some() {
            return Err(ExportError::Shape("a figure holds one heat map".to_owned()));
        }
        Ok(bar)
    }

    /// Returns the width (pixels) of the color bar with its gap, ticks and label, which is not available to the plot.
    pub(super) fn reserve(&self) -> f64 {
        Self::GAP + Self::WIDTH + 9.0 + self.ticks.width() + 10.0 + LABEL_SIZE + 6.0
    }

    /// Draws the color bar with ticks and label to the right of the rectangle `plot`.
    pub(super) fn draw(&self, plot: Rect, canvas: &mut Canvas) -> Done {
        let left = plot.right + Self::GAP;
        let frame = Rect {
            left,
            right: left + Self::WIDTH,
            ..plot
        };
        let steps = 128;
        for i in 0..steps {
            let share = (f64::from(i) + 0.5) / f64::from(steps);
            let bottom = frame.bottom - f64::from(i) / f64::from(steps) * frame.height();
            let top = (bottom - frame.height() / f64::from(steps) - OVERLAP).max(frame.top);
            canvas.cell(
                Rect {
                    top,
                    bottom,
                    ..frame
                },
                viridis(share),
            )?;
        }
        canvas.outline(frame)?;
        let map = Map {
            scale: Scale::Linear,
            span: self.span,
            start: frame.bottom,
            end: frame.top,
        };
        for (value, label) in &self.ticks.major {
            let y = map.place(*value);
            canvas.path(&[[frame.right, y], [frame.right + 5.0, y]], FRAME, 1.0)?;
            canvas.text(
                label,
                [frame.right + 9.0, y],
                TICK_SIZE,
                Look::new(HPos::Left),
            )?;
        }
        factor_above(frame, &self.ticks, canvas)?;
        let x = frame.right + 9.0 + self.ticks.width() + 10.0 + LABEL_SIZE / 2.0;
        upright_label(self.label, self.unit, x, frame, canvas)
    }
}
