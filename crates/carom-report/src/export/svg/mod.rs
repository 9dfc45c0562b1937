//! Figures as SVG.
//!
//! Lengths are pixels of a canvas about 900 wide. The backend takes whole
//! numbers only, which would turn curves into stairs. All coordinates are therefore
//! passed in tenths of a pixel, and the view box of the document scales them back. Marks are
//! clipped here, because the backend cannot clip.

mod annotations;
mod axes;
mod canvas;
mod check;
mod clip;
mod color;
mod color_bar;
mod compact;
mod decimal;
mod geometry;
mod labels;
mod layout;
mod legend;
mod marks;
mod round;
mod scale;
mod span;
mod text;
mod ticks;
mod title;
mod transform;

use canvas::{Canvas, fine};
use color::PAPER;
use layout::{Layout, Room};
use legend::draw_legend;
use title::draw_title;

use super::ExportError;
use super::escape::escape;
use crate::record::{Figure, Mark};

type Done = Result<(), ExportError>;

/// Draws a figure as an SVG document.
///
/// A line is interrupted at a coordinate that is NaN, or not positive on a logarithmic axis. If `equal_aspect` is set, height
/// and width of the plot have the ratio of the axis ranges. A range that would make the plot a narrow strip is widened.
///
/// # Errors
///
/// If lists have unequal lengths, an axis is impossible, or there is a second heat map.
pub fn svg(figure: &Figure) -> Result<String, ExportError> {
    drawn(figure, Room::Wide)
}

/// Draws a figure as an SVG document for a phone: about half as wide as [`svg`], with the legend below the plot.
///
/// # Errors
///
/// The errors of [`svg`].
pub fn narrow(figure: &Figure) -> Result<String, ExportError> {
    drawn(figure, Room::Narrow)
}

fn drawn(figure: &Figure, room: Room) -> Result<String, ExportError> {
    figure.marks.iter().try_for_each(check::check)?;
    let layout = Layout::new(figure, room)?;
    let size = (
        fine(layout.width).unsigned_abs(),
        fine(layout.height).unsigned_abs(),
    );
    let mut text = String::new();
    let mut canvas = Canvas::new(&mut text, size);
    draw(figure, &layout, &mut canvas)?;
    canvas.finish()?;
    let text = compact::compact(&without_defaults(&text));
    Ok(with_header(&text, figure, &layout))
}

/// Draws all parts of a figure from back to front: grid, heat maps, other marks, notes, axes, title, color bar, legend.
fn draw(figure: &Figure, layout: &Layout<'_>, canvas: &mut Canvas) -> Done {
    let page = [
        [0.0, 0.0],
        [layout.width, 0.0],
        [layout.width, layout.height],
        [0.0, layout.height],
    ];
    canvas.fill(&page, PAPER, 1.0)?;
    layout.grid(canvas)?;
    let is_map = |mark: &&Mark| matches!(mark, Mark::Heatmap { .. });
    for mark in figure.marks.iter().filter(is_map) {
        layout.mark(mark, canvas)?;
    }
    for mark in figure.marks.iter().filter(|mark| !is_map(mark)) {
        layout.mark(mark, canvas)?;
    }
    for mark in &figure.marks {
        layout.annotation(figure, mark, canvas)?;
    }
    layout.axes(figure, canvas)?;
    draw_title(&layout.title, layout.frame.left, layout.width, canvas)?;
    if let Some(bar) = &layout.bar {
        bar.draw(layout.frame, canvas)?;
    }
    draw_legend(&layout.legend, layout.legend_at, canvas)
}

/// Removes from an SVG text the attributes that the drawing library writes although they have their default values.
fn without_defaults(text: &str) -> String {
    text.replace(" opacity=\"1\"", "")
        .replace(" stroke=\"none\"", "")
}

/// Replaces the opening tag of an SVG text by one with the size in pixels, a title and style rules for dark mode.
fn with_header(text: &str, figure: &Figure, layout: &Layout) -> String {
    let body = text.split_once('>').map_or("", |(_, body)| body);
    let title = if figure.title.is_empty() {
        &figure.name
    } else {
        &figure.title
    };
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" \
         width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\">\n<title>{title}</title>{}{body}",
        layout.width,
        layout.height,
        fine(layout.width),
        fine(layout.height),
        color::dark_style(body)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Axis, Color, Scale};

    fn figure(marks: Vec<Mark>) -> Figure {
        let (x, y) = (Axis::linear("Time", "s"), Axis::linear("Speed", "m/s"));
        Figure {
            marks,
            ..Figure::new("f", "A <title>", "", x, y)
        }
    }

    #[test]
    fn a_label_appears_once_and_text_is_escaped() -> Result<(), ExportError> {
        let line = |y| Mark::line("run & run", vec![0.0, 1.0], vec![0.0, y], Color::Blue);
        let text = svg(&figure(vec![line(1.0), line(2.0)]))?;
        assert_eq!(text.matches("run &amp; run").count(), 1);
        assert!(text.contains("<title>A &lt;title&gt;</title>"));
        assert!(text.contains("Speed [m/s]"));
        assert_eq!(text, svg(&figure(vec![line(1.0), line(2.0)]))?);
        Ok(())
    }

    #[test]
    fn an_axis_without_a_name_draws_no_empty_text() -> Result<(), ExportError> {
        let line = Mark::line("a name", vec![0.0, 1.0], vec![0.0, 1.0], Color::Blue);
        let mut figure = figure(vec![line]);
        let texts = |figure: &Figure| svg(figure).map(|text| text.matches("<text").count());
        let named = texts(&figure)?;
        figure.y = Axis::linear("", "");
        assert_eq!(texts(&figure)?, named - 1);
        Ok(())
    }

    /// On a phone no element lies beyond 440 pixels, and the legend is below the axis.
    #[test]
    fn a_narrow_figure_has_its_legend_below() -> Result<(), ExportError> {
        let line = Mark::line("a name", vec![0.0, 1.0], vec![0.0, 1.0], Color::Blue);
        let figure = figure(vec![line]);
        let layout = Layout::new(&figure, Room::Narrow)?;
        assert!(layout.width <= 440.0, "{}", layout.width);
        let [_, top] = layout.legend_at;
        assert!(top > layout.frame.bottom && top < layout.height);
        assert!(narrow(&figure)?.contains("a name"));
        Ok(())
    }

    #[test]
    fn empty_constant_and_undefined_data_are_drawn() -> Result<(), ExportError> {
        let line = |y: Vec<f64>| Mark::line("v", vec![1.0, 2.0], y, Color::Blue);
        for marks in [
            vec![],
            vec![line(vec![3.0, 3.0 + 1e-15])],
            vec![line(vec![f64::NAN, f64::INFINITY])],
        ] {
            assert!(!svg(&figure(marks.clone()))?.contains("NaN"));
            let mut log = figure(marks);
            log.y.scale = Scale::Log;
            assert!(svg(&log)?.ends_with("</svg>\n"));
        }
        Ok(())
    }

    #[test]
    fn impossible_figures_are_refused() {
        let short = Mark::line("v", vec![0.0], vec![], Color::Blue);
        assert!(matches!(
            svg(&figure(vec![short])),
            Err(ExportError::Shape(_))
        ));
        let mut reversed = figure(vec![]);
        reversed.x = reversed.x.range(1.0, 0.0);
        assert!(matches!(svg(&reversed), Err(ExportError::Axis { .. })));
        let mut log = figure(vec![]).equal_aspect();
        log.y.scale = Scale::Log;
        assert!(matches!(svg(&log), Err(ExportError::Axis { .. })));
    }

    #[test]
    fn every_heat_map_cell_is_drawn() -> Result<(), ExportError> {
        let map = Mark::Heatmap {
            label: "Loss".to_owned(),
            unit: "J".to_owned(),
            x: vec![0.0, 1.0, 2.0],
            y: vec![0.0, 1.0],
            values: vec![vec![0.0, 1.0, 2.0], vec![3.0, f64::NAN, 5.0]],
        };
        let text = svg(&figure(vec![map]))?;
        // Cells of the bar may be parts of a path.
        let ends = text.matches("zM").count() + text.matches("z\"").count();
        assert_eq!(text.matches("<rect ").count() + ends, 128 + 5);
        assert!(text.contains("Loss [J]"));
        Ok(())
    }
}
