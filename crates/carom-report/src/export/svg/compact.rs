//! Shortens an SVG document by joining many similar elements in a row into one path.
//!
//! The backend writes an element for each dot, dash and cell. Maps and clouds of samples have thousands
//! of elements; one path for each color takes a third to a fifth of the bytes.

use std::fmt::Write as _;

/// Smallest number of elements in a row that are joined; shorter runs stay unchanged.
const LEAST_RUN: usize = 32;

/// Kinds of elements that can be joined with others of their kind.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Dot,
    Cell,
    Dash,
}

/// Path attributes except the data, and the path data of one element.
struct Element {
    kind: Kind,
    style: String,
    data: String,
}

/// Shortens an SVG text by merging many similar elements in a row, such as dots, map cells or dashes, into one path
/// element. Dots and dashes are merged only with neighbors of equal style. Cells of different styles may change their
/// order, which is invisible.
pub(super) fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut run: Vec<(&str, Element)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let element = element(line.trim_end());
        let goes_on = match (&element, run.last()) {
            (Some(new), Some((_, old))) => {
                new.kind == old.kind && (new.kind == Kind::Cell || new.style == old.style)
            }
            _ => false,
        };
        if !goes_on {
            flush(&mut run, &mut out);
        }
        match element {
            Some(element) => run.push((line, element)),
            None => out.push_str(line),
        }
    }
    flush(&mut run, &mut out);
    out
}

/// Writes the collected similar elements to `out` and empties `run`. A short list is written unchanged; a long one as one
/// path for each style.
fn flush(run: &mut Vec<(&str, Element)>, out: &mut String) {
    if run.len() < LEAST_RUN {
        run.drain(..).for_each(|(line, _)| out.push_str(line));
        return;
    }
    let mut paths: Vec<(String, String)> = Vec::new();
    for (_, element) in run.drain(..) {
        match paths.iter_mut().find(|(style, _)| *style == element.style) {
            Some((_, data)) => data.push_str(&element.data),
            None => paths.push((element.style, element.data)),
        }
    }
    for (style, data) in paths {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<path {style} d=\"{data}\"/>");
    }
}

/// Parses a line of SVG text as a dot, map cell or dash that can be merged with its neighbors into one path; `None` for all
/// other lines. The line must have the attributes that the drawing library writes.
fn element(line: &str) -> Option<Element> {
    let (name, rest) = line.strip_prefix('<')?.split_once(' ')?;
    let attributes = attributes(rest.strip_suffix("/>")?)?;
    match (name, attributes.as_slice()) {
        (
            "circle",
            [
                ("cx", x),
                ("cy", y),
                ("r", radius),
                ("fill", color),
                ("stroke-width", "1"),
            ],
        ) => {
            let width = 2 * radius.parse::<u32>().ok()?;
            Some(Element {
                kind: Kind::Dot,
                style: format!(
                    "fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-linecap=\"round\""
                ),
                // The line is a tenth of a pixel long, as some viewers do not draw lines of zero length.
                data: format!("M{x} {y}h1"),
            })
        }
        (
            "rect",
            [
                ("x", x),
                ("y", y),
                ("width", width),
                ("height", height),
                ("fill", color),
            ],
        ) => Some(Element {
            kind: Kind::Cell,
            style: format!("fill=\"{color}\""),
            data: format!("M{x} {y}h{width}v{height}h-{width}z"),
        }),
        (
            "polyline",
            [
                ("fill", "none"),
                ("stroke", color),
                ("stroke-width", width),
                ("points", points),
            ],
        ) => Some(Element {
            kind: Kind::Dash,
            style: format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\""),
            data: format!("M{}", points.trim().replace(' ', "L").replace(',', " ")),
        }),
        _ => None,
    }
}

/// Parses the attributes of an XML element, a list of `name="value"`. Returns the pairs of name and value in order; `None`
/// if the text has another form.
fn attributes(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = text.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (name, tail) = rest.split_once("=\"")?;
        let (value, tail) = tail.split_once('"')?;
        found.push((name, value));
        rest = tail.trim_start();
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
        (0..n).map(|k| line(k) + "\n").collect()
    }

    /// Every dot, dash and cell of a long run is in its path; elements between runs stay in place.
    #[test]
    fn a_long_run_is_one_path_for_each_color() {
        let dots = lines(40, |k| {
            format!(r##"<circle cx="{k}" cy="7" r="40" fill="#D55E00" stroke-width="1"/>"##)
        });
        let cells = lines(40, |k| {
            let color = ["#111111", "#222222"][k % 2];
            format!(r##"<rect x="{k}" y="-3" width="5" height="6" fill="{color}"/>"##)
        });
        let dashes = lines(40, |k| {
            format!(
                r##"<polyline fill="none" stroke="#000000" stroke-width="20" points="{k},1 2,3 "/>"##
            )
        });
        let text = format!("{dots}<text>\n  a\n</text>\n{cells}{dashes}");
        let joined = compact(&text);
        assert_eq!(joined.matches("<path ").count(), 1 + 2 + 1);
        assert_eq!(joined.matches("h1").count(), 40);
        assert_eq!(joined.matches("h5v6h-5z").count(), 40);
        assert!(joined.contains("M39 1L2 3\""));
        let (before, after) = joined.split_once("<text>").unwrap_or_default();
        assert!(before.contains("stroke-linecap") && after.contains("#222222"));
    }

    /// Short runs, and elements with other attributes, are left alone.
    #[test]
    fn short_runs_stay() {
        let few = lines(LEAST_RUN - 1, |k| {
            format!(r##"<rect x="{k}" y="0" width="5" height="6" fill="#111111"/>"##)
        });
        assert_eq!(compact(&few), few);
        let clear = lines(50, |k| {
            format!(r##"<rect x="{k}" y="0" width="5" height="6" opacity="0.5" fill="#111111"/>"##)
        });
        assert_eq!(compact(&clear), clear);
    }
}
