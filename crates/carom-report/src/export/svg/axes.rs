//! Draws the frame, its grid, its ticks and their labels.

use plotters::style::text_anchor::HPos;

use super::Done;
use super::canvas::{Canvas, Look};
use super::color::{FRAME, GRID, MINOR_GRID};
use super::labels::{factor_above, upright_label};
use super::layout::Layout;
use super::text::{LABEL_SIZE, TICK_SIZE};
use super::ticks::Ticks;
use crate::export::with_unit;
use crate::record::Figure;

impl Layout<'_> {
    pub(super) fn grid(&self, canvas: &mut Canvas) -> Done {
        let frame = self.frame;
        let majors = |ticks: &Ticks| ticks.major.iter().map(|(v, _)| *v).collect::<Vec<_>>();
        let levels = [
            (
                self.x_ticks.minor.clone(),
                self.y_ticks.minor.clone(),
                MINOR_GRID,
            ),
            (majors(&self.x_ticks), majors(&self.y_ticks), GRID),
        ];
        for (xs, ys, color) in levels {
            for x in xs.into_iter().map(|v| self.x.place(v)) {
                canvas.path(&[[x, frame.top], [x, frame.bottom]], color, 1.0)?;
            }
            for y in ys.into_iter().map(|v| self.y.place(v)) {
                canvas.path(&[[frame.left, y], [frame.right, y]], color, 1.0)?;
            }
        }
        Ok(())
    }

    pub(super) fn axes(&self, figure: &Figure, canvas: &mut Canvas) -> Done {
        canvas.outline(self.frame)?;
        self.x_axis(figure, canvas)?;
        self.y_axis(figure, canvas)
    }

    fn x_axis(&self, figure: &Figure, canvas: &mut Canvas) -> Done {
        let frame = self.frame;
        for x in self.x_ticks.minor.iter().map(|v| self.x.place(*v)) {
            canvas.path(&[[x, frame.bottom], [x, frame.bottom + 3.0]], FRAME, 1.0)?;
        }
        for (value, label) in &self.x_ticks.major {
            let x = self.x.place(*value);
            canvas.path(&[[x, frame.bottom], [x, frame.bottom + 6.0]], FRAME, 1.0)?;
            let at = [x, frame.bottom + 10.0 + TICK_SIZE / 2.0];
            canvas.text(label, at, TICK_SIZE, Look::new(HPos::Center))?;
        }
        let y = frame.bottom + TICK_SIZE + 18.0 + LABEL_SIZE / 2.0;
        if let Some(factor) = &self.x_ticks.factor {
            canvas.text(factor, [frame.right, y], TICK_SIZE, Look::new(HPos::Right))?;
        }
        let middle = 0.5 * (frame.left + frame.right);
        let label = with_unit(&figure.x.label, &figure.x.unit);
        canvas.text(&label, [middle, y], LABEL_SIZE, Look::new(HPos::Center))
    }

    fn y_axis(&self, figure: &Figure, canvas: &mut Canvas) -> Done {
        let frame = self.frame;
        for y in self.y_ticks.minor.iter().map(|v| self.y.place(*v)) {
            canvas.path(&[[frame.left - 3.0, y], [frame.left, y]], FRAME, 1.0)?;
        }
        for (value, label) in &self.y_ticks.major {
            let y = self.y.place(*value);
            canvas.path(&[[frame.left - 6.0, y], [frame.left, y]], FRAME, 1.0)?;
            canvas.text(
                label,
                [frame.left - 9.0, y],
                TICK_SIZE,
                Look::new(HPos::Right),
            )?;
        }
        factor_above(frame, &self.y_ticks, canvas)?;
        let x = frame.left - 9.0 - self.y_ticks.width() - 9.0 - LABEL_SIZE / 2.0;
        upright_label(&figure.y.label, &figure.y.unit, x, frame, canvas)
    }
}
