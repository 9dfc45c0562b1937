//! Labels of vertical axes and color bars.

use plotters::style::text_anchor::HPos;

use super::Done;
use super::canvas::{Canvas, Look};
use super::clip::Rect;
use super::text::{LABEL_SIZE, TICK_SIZE};
use super::ticks::Ticks;
use crate::export::with_unit;

/// Writes the common power of ten of a vertical axis, which its tick labels omit, above the frame. Nothing is written if
/// the labels are complete.
pub(super) fn factor_above(frame: Rect, ticks: &Ticks, canvas: &mut Canvas) -> Done {
    let Some(factor) = &ticks.factor else {
        return Ok(());
    };
    let at = [frame.left, frame.top - 11.0];
    canvas.text(factor, at, TICK_SIZE, Look::new(HPos::Left))
}

/// Writes the label and unit of a vertical axis at the horizontal position `x` (pixels), rotated, and centered along the
/// frame.
pub(super) fn upright_label(
    label: &str,
    unit: &str,
    x: f64,
    frame: Rect,
    canvas: &mut Canvas,
) -> Done {
    let at = [x, 0.5 * (frame.top + frame.bottom)];
    let look = Look::new(HPos::Center).upright();
    canvas.text(&with_unit(label, unit), at, LABEL_SIZE, look)
}
