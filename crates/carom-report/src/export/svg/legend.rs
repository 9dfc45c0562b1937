//! The legend, to the right of the plot or below it.

use plotters::style::text_anchor::HPos;

use super::Done;
use super::canvas::{Canvas, Look};
use super::color::rgb;
use super::geometry::Point;
use super::text::{NOTE_SIZE, text_width, wrap};
use crate::record::{Figure, Mark};

const TEXT_WIDTH: f64 = 190.0;
const SWATCH: f64 = 34.0;

/// Legend entry; marks with equal labels share one entry.
pub(super) struct Entry<'a> {
    lines: Vec<String>,
    marks: Vec<&'a Mark>,
}

impl Entry<'_> {
    const LINE_HEIGHT: f64 = NOTE_SIZE + 4.0;
    const GAP: f64 = 7.0;

    pub(super) fn height(&self) -> f64 {
        self.lines.len() as f64 * Self::LINE_HEIGHT + Self::GAP
    }

    pub(super) fn width(&self) -> f64 {
        let widths = self.lines.iter().map(|line| text_width(line, NOTE_SIZE));
        SWATCH + 9.0 + widths.fold(0.0, f64::max)
    }
}

pub(super) fn legend(figure: &Figure) -> Vec<Entry<'_>> {
    let mut entries: Vec<(&str, Vec<&Mark>)> = Vec::new();
    for mark in &figure.marks {
        let (Mark::Line {
            label: Some(label), ..
        }
        | Mark::Points {
            label: Some(label), ..
        }) = mark
        else {
            continue;
        };
        if label.trim().is_empty() {
            continue;
        }
        match entries.iter_mut().find(|(known, _)| known == label) {
            // An entry shows a line together with its points, but only one mark of each kind.
            Some((_, marks)) => {
                let kind = std::mem::discriminant(mark);
                if marks.iter().all(|m| std::mem::discriminant(*m) != kind) {
                    marks.push(mark);
                }
            }
            None => entries.push((label, vec![mark])),
        }
    }
    entries
        .into_iter()
        .map(|(label, marks)| Entry {
            lines: wrap(label, NOTE_SIZE, TEXT_WIDTH),
            marks,
        })
        .collect()
}

/// Draws the entries of a legend one below the other. `[left, top]` is the upper left corner of the first entry (pixels).
pub(super) fn draw_legend(
    entries: &[Entry<'_>],
    [left, mut top]: Point,
    canvas: &mut Canvas,
) -> Done {
    for entry in entries {
        let mut y = top + 0.5 * Entry::LINE_HEIGHT;
        let swatches = &mut entry.marks.iter();
        swatches.try_for_each(|mark| swatch(mark, [left, y], canvas))?;
        for line in &entry.lines {
            let at = [left + SWATCH + 9.0, y];
            canvas.text(line, at, NOTE_SIZE, Look::new(HPos::Left))?;
            y += Entry::LINE_HEIGHT;
        }
        top += entry.height();
    }
    Ok(())
}

/// Draws a small sample of a line or point symbol in a legend. `[left, y]` is the left end of the sample (pixels).
fn swatch(mark: &Mark, [left, y]: Point, canvas: &mut Canvas) -> Done {
    match mark {
        Mark::Line { style, color, .. } => {
            let line = [[left, y], [left + SWATCH, y]];
            canvas.line(&line, *style, rgb(*color))
        }
        Mark::Points { shape, color, .. } => {
            canvas.symbol([left + SWATCH / 2.0, y], *shape, rgb(*color))
        }
        _ => Ok(()),
    }
}
