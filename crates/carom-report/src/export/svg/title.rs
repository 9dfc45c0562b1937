//! The title, above the frame.

use plotters::style::text_anchor::HPos;

use super::Done;
use super::canvas::{Canvas, Look};
use super::text::{text_width, wrap};

const SIZE: f64 = 18.0;
const LINE_HEIGHT: f64 = 23.0;
/// Ratio of the width of bold text to the width that `text_width` estimates.
const BOLD: f64 = 1.18;

/// Breaks a title between words into lines of at most `width` pixels.
pub(super) fn title_lines(title: &str, width: f64) -> Vec<String> {
    wrap(title, SIZE, width / BOLD)
}

pub(super) fn title_height(lines: &[String]) -> f64 {
    LINE_HEIGHT * lines.len() as f64 + 6.0
}

/// Draws the lines of a title. The lines begin at the left edge of the plot, `plot_left` (pixels), or further left if the
/// longest line would not fit into the page.
pub(super) fn draw_title(
    lines: &[String],
    plot_left: f64,
    page_width: f64,
    canvas: &mut Canvas,
) -> Done {
    let widths = lines.iter().map(|line| BOLD * text_width(line, SIZE));
    let left = plot_left.min(page_width - 12.0 - widths.fold(0.0, f64::max));
    for (line, y) in lines.iter().zip(1_i32..) {
        let at = [12.0_f64.max(left), 4.0 + f64::from(y) * LINE_HEIGHT - 11.0];
        canvas.text(line, at, SIZE, Look::new(HPos::Left).bold())?;
    }
    Ok(())
}
