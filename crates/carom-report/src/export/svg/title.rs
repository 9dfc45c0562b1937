//! The title, above the frame.

use plotters::style::text_anchor::HPos;

use super::Done;
use super::canvas::{Canvas, Look};
use super::layout::Layout;
use super::text::{text_width, wrap};

const SIZE: f64 = 18.0;
const LINE_HEIGHT: f64 = 23.0;
/// Width of bold text over the one that `text_width` says.
const BOLD: f64 = 1.18;

/// The title in lines that fit.
pub(super) fn title_lines(title: &str, width: f64) -> Vec<String> {
    wrap(title, SIZE, width / BOLD)
}

pub(super) fn title_height(lines: &[String]) -> f64 {
    LINE_HEIGHT * lines.len() as f64 + 6.0
}

impl Layout<'_> {
    pub(super) fn draw_title(&self, canvas: &mut Canvas) -> Done {
        for (line, y) in self.title.iter().zip(1_i32..) {
            let at = [
                12.0_f64.max(self.title_left()),
                4.0 + f64::from(y) * LINE_HEIGHT - 11.0,
            ];
            canvas.text(line, at, SIZE, Look::new(HPos::Left).bold())?;
        }
        Ok(())
    }

    /// Flush with the plot if the title fits there.
    fn title_left(&self) -> f64 {
        let widths = self.title.iter().map(|line| BOLD * text_width(line, SIZE));
        self.frame
            .left
            .min(self.width - 12.0 - widths.fold(0.0, f64::max))
    }
}
