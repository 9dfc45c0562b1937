//! Wrapper of the drawing backend with coordinates in pixels.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::Color as _;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::Done;
use super::clip::Rect;
use super::color::{FRAME, INK};
use super::geometry::{Point, dashes};
use super::round::whole;
use crate::export::ExportError;
use crate::record::{LineStyle, PointShape};

/// Overlap of neighboring cells (pixels): renderers would leave visible seams between cells that only touch.
pub(super) const OVERLAP: f64 = 1.2;

/// Units of the backend per pixel.
const FINE: f64 = 10.0;
pub(super) const LINE_WIDTH: f64 = 2.0;

/// Font, size and anchor of a piece of text.
#[derive(Clone)]
pub(super) struct Look {
    anchor: HPos,
    style: FontStyle,
    turn: FontTransform,
}

impl Look {
    pub(super) fn new(anchor: HPos) -> Self {
        Self {
            anchor,
            style: FontStyle::Normal,
            turn: FontTransform::None,
        }
    }

    pub(super) fn bold(mut self) -> Self {
        self.style = FontStyle::Bold;
        self
    }

    /// Rotates the text so that it reads from bottom to top.
    pub(super) fn upright(mut self) -> Self {
        self.turn = FontTransform::Rotate270;
        self
    }
}

/// Wrapper of the drawing backend with coordinates in pixels.
pub(super) struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

impl<'a> Canvas<'a> {
    /// Creates a canvas that appends SVG elements to `text`. `size` is the width and height in tenths of a pixel.
    pub(super) fn new(text: &'a mut String, size: (u32, u32)) -> Self {
        Self {
            backend: SVGBackend::with_string(text, size),
        }
    }

    /// Completes the SVG document.
    pub(super) fn finish(mut self) -> Done {
        self.backend.present().map_err(drawing_error)
    }

    pub(super) fn path(&mut self, points: &[Point], color: RGBColor, width: f64) -> Done {
        let style = ShapeStyle {
            color: color.to_rgba(),
            filled: false,
            stroke_width: fine(width).unsigned_abs(),
        };
        let points = points.iter().map(coordinates);
        self.backend
            .draw_path(points, &style)
            .map_err(drawing_error)
    }

    pub(super) fn line(&mut self, points: &[Point], style: LineStyle, color: RGBColor) -> Done {
        let pieces = match style {
            LineStyle::Solid => return self.path(points, color, LINE_WIDTH),
            LineStyle::Dashed => dashes(points, 9.0, 5.0),
            LineStyle::Dotted => dashes(points, 2.2, 3.8),
        };
        pieces
            .iter()
            .try_for_each(|dash| self.path(dash, color, LINE_WIDTH))
    }

    pub(super) fn fill(&mut self, corners: &[Point], color: RGBColor, opacity: f64) -> Done {
        if corners.len() < 3 {
            return Ok(());
        }
        let color = color.mix(opacity);
        let corners = corners.iter().map(coordinates);
        self.backend
            .fill_polygon(corners, &color)
            .map_err(drawing_error)
    }

    pub(super) fn cell(&mut self, cell: Rect, color: RGBColor) -> Done {
        let (start, end) = ([cell.left, cell.top], [cell.right, cell.bottom]);
        self.backend
            .draw_rect(coordinates(&start), coordinates(&end), &color, true)
            .map_err(drawing_error)
    }

    pub(super) fn outline(&mut self, frame: Rect) -> Done {
        let Rect {
            left,
            top,
            right,
            bottom,
        } = frame;
        // The first side is repeated at the end to close the corner that an open path would leave.
        let path = [
            [left, top],
            [right, top],
            [right, bottom],
            [left, bottom],
            [left, top],
            [right, top],
        ];
        self.path(&path, FRAME, 1.0)
    }

    pub(super) fn symbol(&mut self, [x, y]: Point, shape: PointShape, color: RGBColor) -> Done {
        let at = |dx: f64, dy: f64| [x + dx, y + dy];
        match shape {
            PointShape::Circle => self
                .backend
                .draw_circle(
                    coordinates(&[x, y]),
                    fine(4.0).unsigned_abs(),
                    &ShapeStyle::from(&color).filled(),
                    true,
                )
                .map_err(drawing_error),
            PointShape::Square => {
                let r = 3.8;
                let (a, b) = (at(-r, -r), at(r, -r));
                let path = [a, b, at(r, r), at(-r, r), a, b];
                self.path(&path, color, 1.7)
            }
            PointShape::Cross => {
                let r = 4.0;
                self.path(&[at(-r, -r), at(r, r)], color, 1.8)?;
                self.path(&[at(-r, r), at(r, -r)], color, 1.8)
            }
            PointShape::Triangle => {
                self.fill(&[at(0.0, -5.2), at(4.8, 3.4), at(-4.8, 3.4)], color, 1.0)
            }
        }
    }

    /// Draws text vertically centered at the pixel `at`; empty text draws nothing. `size` is the font size (pixels); `look`
    /// holds the horizontal anchor, the font style and the rotation.
    pub(super) fn text(&mut self, text: &str, at: Point, size: f64, look: Look) -> Done {
        let clean: String = text.chars().filter(|c| !c.is_control()).collect();
        if clean.is_empty() {
            return Ok(());
        }
        // The backend divides font sizes by 1.24.
        let font = ("sans-serif", size * FINE * 1.24).into_font();
        let style = TextStyle::from(font.style(look.style).transform(look.turn))
            .color(&INK)
            .pos(Pos::new(look.anchor, VPos::Center));
        self.backend
            .draw_text(&clean, &style, coordinates(&at))
            .map_err(drawing_error)
    }
}

fn drawing_error(error: impl std::fmt::Display) -> ExportError {
    ExportError::Drawing(error.to_string())
}

fn coordinates(point: &Point) -> (i32, i32) {
    let [x, y] = *point;
    (fine(x), fine(y))
}

/// Converts a length in pixels to the nearest whole number of tenths of a pixel.
pub(super) fn fine(pixels: f64) -> i32 {
    whole((pixels * FINE).round())
}
