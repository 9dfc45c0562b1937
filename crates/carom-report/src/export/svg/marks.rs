//! Draws the marks of a figure.

use plotters::style::RGBColor;

use super::Done;
use super::canvas::{Canvas, LINE_WIDTH, OVERLAP};
use super::clip::{Rect, clip_polygon, visible_runs};
use super::color::{rgb, viridis};
use super::geometry::{Point, direction, is_finite, simplified};
use super::layout::Layout;
use super::scale::cell_bounds;
use crate::record::{LineStyle, Mark};

/// Number of shades of a heat map; the eye sees no step between two neighboring shades.
const SHADES: f64 = 64.0;

impl Layout<'_> {
    pub(super) fn mark(&self, mark: &Mark, canvas: &mut Canvas) -> Done {
        match mark {
            Mark::Line {
                x, y, style, color, ..
            } => self.line(&self.pixels(x, y), *style, rgb(*color), canvas),
            Mark::Points {
                x, y, shape, color, ..
            } => self
                .pixels(x, y)
                .into_iter()
                .filter(|p| self.frame.contains(*p))
                .try_for_each(|p| canvas.symbol(p, *shape, rgb(*color))),
            Mark::Heatmap { x, y, values, .. } => self.heatmap(x, y, values, canvas),
            Mark::Disk {
                x,
                y,
                radius,
                color,
                ..
            } => {
                let (xs, ys) = circle(*x, *y, *radius);
                self.area(&self.pixels(&xs, &ys), rgb(*color), canvas)
            }
            Mark::Polygon { x, y, color } => self.area(&self.pixels(x, y), rgb(*color), canvas),
            Mark::Arrow {
                from: [x0, y0],
                to: [x1, y1],
                color,
                ..
            } => self.arrow(
                self.pixel(*x0, *y0),
                self.pixel(*x1, *y1),
                rgb(*color),
                canvas,
            ),
            Mark::Text { .. } => Ok(()),
        }
    }

    fn line(
        &self,
        points: &[Point],
        style: LineStyle,
        color: RGBColor,
        canvas: &mut Canvas,
    ) -> Done {
        visible_runs(points, self.frame)
            .iter()
            .try_for_each(|run| canvas.line(&simplified(run), style, color))
    }

    fn area(&self, points: &[Point], color: RGBColor, canvas: &mut Canvas) -> Done {
        let corners: Vec<Point> = points.iter().copied().filter(is_finite).collect();
        canvas.fill(&clip_polygon(&corners, self.frame), color, 0.22)?;
        let closed: Vec<Point> = corners.iter().chain(corners.first()).copied().collect();
        visible_runs(&closed, self.frame)
            .iter()
            .try_for_each(|run| canvas.path(run, color, 1.6))
    }

    fn heatmap(&self, x: &[f64], y: &[f64], values: &[Vec<f64>], canvas: &mut Canvas) -> Done {
        let Some(bar) = &self.bar else {
            return Ok(());
        };
        let columns = cell_bounds(x, self.x);
        let shade = |value: &f64| {
            let share = (value - bar.span.low) / bar.span.length();
            share.is_finite().then(|| (share * SHADES).round())
        };
        for (row, (y0, y1)) in values.iter().zip(cell_bounds(y, self.y)) {
            let mut cells = row.iter().zip(&columns).peekable();
            while let Some((value, &(x0, mut x1))) = cells.next() {
                // Neighboring cells of one shade are drawn as one rectangle.
                let here = shade(value);
                while let Some((_, (_, end))) = cells.next_if(|(value, _)| shade(value) == here) {
                    x1 = *end;
                }
                let cell = Rect {
                    left: x0.max(self.frame.left),
                    right: (x1 + OVERLAP).min(self.frame.right),
                    top: (y1 - OVERLAP).max(self.frame.top),
                    bottom: y0.min(self.frame.bottom),
                };
                if let Some(shade) = here
                    && cell.width() > 0.0
                    && cell.height() > 0.0
                {
                    canvas.cell(cell, viridis(shade / SHADES))?;
                }
            }
        }
        Ok(())
    }

    fn arrow(&self, from: Point, to: Point, color: RGBColor, canvas: &mut Canvas) -> Done {
        let Some((along, length)) = direction(from, to) else {
            return Ok(());
        };
        let [dx, dy] = along;
        let head = length.min(12.0);
        let point = |back: f64, aside: f64| {
            [
                to[0] - back * dx - aside * dy,
                to[1] - back * dy + aside * dx,
            ]
        };
        let shaft = [from, point(0.8 * head, 0.0)];
        for run in visible_runs(&shaft, self.frame) {
            canvas.path(&run, color, LINE_WIDTH)?;
        }
        let triangle = [to, point(head, 0.38 * head), point(head, -0.38 * head)];
        canvas.fill(&clip_polygon(&triangle, self.frame), color, 1.0)
    }
}

fn circle(x: f64, y: f64, radius: f64) -> (Vec<f64>, Vec<f64>) {
    let corners = 180_i32;
    (0..corners)
        .map(|i| std::f64::consts::TAU * f64::from(i) / f64::from(corners))
        .map(|angle| (x + radius * angle.cos(), y + radius * angle.sin()))
        .unzip()
}
