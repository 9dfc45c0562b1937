//! Text labels of disks and arrows, and notes.

use plotters::style::text_anchor::HPos;

use super::Done;
use super::canvas::{Canvas, Look};
use super::color::PAPER;
use super::geometry::{Point, direction};
use super::layout::Layout;
use super::text::{NOTE_SIZE, text_width};
use crate::record::{Figure, Mark};

impl Layout<'_> {
    pub(super) fn annotation(&self, figure: &Figure, mark: &Mark, canvas: &mut Canvas) -> Done {
        match mark {
            Mark::Text { x, y, text } => self.note(text, self.pixel(*x, *y), canvas),
            Mark::Arrow {
                from: [x0, y0],
                to: [x1, y1],
                label: Some(label),
                ..
            } => {
                let (from, to) = (self.pixel(*x0, *y0), self.pixel(*x1, *y1));
                self.arrow_label(label, from, to, canvas)
            }
            Mark::Disk {
                x,
                y,
                radius,
                label: Some(label),
                ..
            } => {
                let center = self.pixel(*x, *y);
                let edge = self.pixel(x + radius, y + radius);
                self.disk_label(label, center, edge, figure, canvas)
            }
            _ => Ok(()),
        }
    }

    /// Writes the label of a disk into the drawing. The label stands inside the disk, on the side opposite to an arrow that
    /// starts at the center; a label wider than the disk stands above it. `[x, y]` is the pixel of the center,
    /// `[right, top]` the upper right corner of the square around the disk.
    fn disk_label(
        &self,
        label: &str,
        [x, y]: Point,
        [right, top]: Point,
        figure: &Figure,
        canvas: &mut Canvas,
    ) -> Done {
        let half = 0.5 * text_width(label, NOTE_SIZE);
        if half > 0.9 * (right - x).abs() {
            let rise = (top - y).abs() + 0.5 * NOTE_SIZE + 5.0;
            return self.note(label, [x, y - rise], canvas);
        }
        let [dx, dy] = self.arrow_from([x, y], figure);
        let reach = half * dx.abs() + 0.5 * NOTE_SIZE * dy.abs() + 5.0;
        let at = [x - reach * dx, y - reach * dy];
        let fits = [at[0] - half, at[0] + half]
            .iter()
            .all(|x| self.frame.contains([*x, at[1]]));
        if fits {
            return canvas.text(label, at, NOTE_SIZE, Look::new(HPos::Center));
        }
        self.note(label, at, canvas)
    }

    /// Returns the unit vector along the first arrow of the figure that starts within 10 pixels of `start`; the zero vector
    /// if there is no such arrow.
    fn arrow_from(&self, start: Point, figure: &Figure) -> Point {
        let mut starting = figure.marks.iter().filter_map(|mark| match mark {
            Mark::Arrow {
                from: [x0, y0],
                to: [x1, y1],
                ..
            } => {
                let (from, to) = (self.pixel(*x0, *y0), self.pixel(*x1, *y1));
                let near = direction(start, from).is_none_or(|(_, distance)| distance < 10.0);
                direction(from, to).filter(|_| near).map(|(along, _)| along)
            }
            _ => None,
        });
        starting.next().unwrap_or_default()
    }

    /// Writes the label of an arrow just beyond its tip, far enough that text and arrow do not touch. The arrow points from
    /// pixel `from` to pixel `to`.
    fn arrow_label(&self, label: &str, from: Point, to: Point, canvas: &mut Canvas) -> Done {
        let Some(([dx, dy], _)) = direction(from, to) else {
            return Ok(());
        };
        let across = dx.abs() * (0.5 * text_width(label, NOTE_SIZE) + 5.0);
        let up = dy.abs() * (0.5 * NOTE_SIZE + 3.0);
        let reach = across + up + 2.0;
        self.note(label, [to[0] + reach * dx, to[1] + reach * dy], canvas)
    }

    /// Writes text centered at the pixel `at` on a translucent patch. Text that would cross the edge of the plot is shifted
    /// into the plot; text with a center far outside the plot is omitted.
    fn note(&self, text: &str, at: Point, canvas: &mut Canvas) -> Done {
        if text.is_empty() || !self.near(at) {
            return Ok(());
        }
        let half = [
            0.5 * text_width(text, NOTE_SIZE) + 3.0,
            0.5 * NOTE_SIZE + 2.0,
        ];
        let keep = |v: f64, low: f64, high: f64| v.min(high).max(low);
        let x = keep(
            at[0],
            self.frame.left + half[0] + 1.0,
            self.frame.right - half[0] - 1.0,
        );
        let y = keep(
            at[1],
            self.frame.top + half[1] + 1.0,
            self.frame.bottom - half[1] - 1.0,
        );
        let patch = [
            [x - half[0], y - half[1]],
            [x + half[0], y - half[1]],
            [x + half[0], y + half[1]],
            [x - half[0], y + half[1]],
        ];
        canvas.fill(&patch, PAPER, 0.72)?;
        canvas.text(text, [x, y], NOTE_SIZE, Look::new(HPos::Center))
    }

    /// True if a pixel lies inside the frame of the plot or at most 80 pixels outside. The margin allows for labels that
    /// are shifted away from the point that they describe.
    fn near(&self, [x, y]: Point) -> bool {
        let margin = 80.0;
        x > self.frame.left - margin
            && x < self.frame.right + margin
            && y > self.frame.top - margin
            && y < self.frame.bottom + margin
    }
}
