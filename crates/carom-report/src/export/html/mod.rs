//! A record as one HTML page that needs no network, with scripts only to play animations.
//!
//! A page begins with the laws and the remarks of the run, the motion, the figures, the main results in sentences and the
//! balance of the energy. All quantities, the parameters and the tables are folded below.
//!
//! The parts of the page are public, so that a page about many records can look alike.

mod compared;
mod embedded;
mod headlines;
mod paper;
mod parts;

pub use super::escape::escape;
pub(crate) use compared::{compared, difference};
pub use embedded::embedded;
pub use headlines::{headlines, in_words};
pub use parts::{animation, energy, minus, parameters, quantities, remarks, table};

use super::{ExportError, Format, file_name, svg};
use crate::Account;
use crate::animation::Animation;
use crate::record::{Figure, Record, Table};
use parts::MAX_ROWS;
use std::fmt::Write as _;

/// CSS style sheet of every HTML page of a record: colors, text, tables, dark scheme.
pub const STYLE: &str = include_str!("style.css");

/// Script of the player; its parts are concatenated in the order in which they depend on each other.
const PLAYER: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("player/vectors.js"),
    include_str!("player/plane.js"),
    include_str!("player/camera.js"),
    include_str!("player/raster.js"),
    include_str!("player/space.js"),
    include_str!("player/pointer.js"),
    include_str!("player/save.js"),
    include_str!("player/controls.js"),
    include_str!("player/start.js"),
    "})();\n",
);

/// Writes a record as an HTML page. The page links to the files of each figure in the file formats `formats`.
///
/// # Errors
///
/// If the record cannot be drawn or written.
pub fn html(record: &Record, formats: &[Format]) -> Result<String, ExportError> {
    let account = Account::of(record);
    let laws = account.laws.as_ref();
    let laws = laws.map_or_else(String::new, |laws| {
        format!(" \u{b7} laws: {}", escape(laws))
    });
    let mut body = format!(
        "<h1>{}</h1>\n<p class=\"status\"><code>carom run {}</code> \u{b7} {}{laws} \u{b7} all data: \
         <a href=\"record.json\">record.json</a></p>\n",
        escape(&sentence(&record.summary)),
        escape(&record.scenario),
        escape(&record.status),
    );
    body.push_str(&paper::line(record));
    body.push_str(&remarks(&account));
    section(&mut body, "", &record.animations, placed)?;
    section(&mut body, "", &record.figures, |f| {
        figure(f, &paper::place(record, f), formats)
    })?;
    body.push_str(&headlines(&record.quantities));
    body.push_str(&energy(&account));
    let scalars = quantities(&record.quantities);
    if !scalars.is_empty() {
        let n = record.quantities.len();
        // Writing to a string cannot fail.
        let _ = writeln!(
            body,
            "<details>\n<summary>All {n} quantities</summary>\n{scalars}</details>"
        );
    }
    section(&mut body, "", &record.tables, folded_table)?;
    body.push_str(&parameters(record)?);
    if !record.citations.is_empty() {
        let entries = escape(&record.citations.join("\n"));
        let _ = writeln!(
            body,
            "<details>\n<summary>Cite</summary>\n<pre>{entries}</pre>\n</details>"
        );
    }
    let plays = !record.animations.is_empty();
    Ok(page(&sentence(&record.summary), "", &body, plays))
}

/// Capitalizes the first letter of a text.
#[must_use]
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Writes the HTML of the player of an animation. The enclosing element has the animation's name as its `id`, so that links
/// can point to it.
fn placed(animation: &Animation) -> Result<String, ExportError> {
    let player = parts::animation(animation)?;
    Ok(format!(
        "<div id=\"{}\">\n{player}</div>\n",
        escape(&animation.name)
    ))
}

/// Writes a complete HTML page from a title, additional style rules and a body. The page includes the script that plays
/// animations if `plays` is true.
///
/// `title` is plain text, which is escaped; `style` and `body` are inserted unchanged.
#[must_use]
pub fn page(title: &str, style: &str, body: &str, plays: bool) -> String {
    let script = if plays {
        format!("<script>\n{PLAYER}</script>\n")
    } else {
        String::new()
    };
    // An empty icon keeps browsers from asking a server for one.
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n{body}{script}\
         </body>\n</html>\n",
        escape(title)
    )
}

/// Writes an HTML page whose script draws `frames` pictures of an animation, evenly spaced in time from start to end. The
/// script appends each picture as a line of base 64 to the page's element `frames`.
///
/// # Errors
///
/// The errors of [`animation`].
pub(super) fn film(shown: &Animation, frames: usize) -> Result<String, ExportError> {
    let player = parts::animation(shown)?.replacen(
        "class=\"player\"",
        &format!("class=\"player\" data-frames=\"{frames}\""),
        1,
    );
    let body = format!("{player}<pre id=\"frames\"></pre>\n");
    let style = "body, figure { max-width: none; margin: 0; padding: 0 }\n";
    Ok(page(&shown.title, style, &body, true))
}

/// Appends to the HTML text `out` a heading and the text of each item, as `show` returns it. Without items nothing is
/// appended; an empty heading is omitted.
fn section<T>(
    out: &mut String,
    heading: &str,
    items: &[T],
    show: impl Fn(&T) -> Result<String, ExportError>,
) -> Result<(), ExportError> {
    if !items.is_empty() && !heading.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<h2>{heading}</h2>");
    }
    for item in items {
        out.push_str(&show(item)?);
    }
    Ok(())
}

/// Writes the HTML of a figure whose caption begins with `place`, with links to its files in the formats `formats`.
fn figure(figure: &Figure, place: &str, formats: &[Format]) -> Result<String, ExportError> {
    let mut links = String::new();
    for format in formats {
        let file = file_name(&figure.name, format.extension())?;
        let name = format.extension().to_uppercase();
        // Writing to a string cannot fail.
        let _ = write!(links, " <a href=\"{file}\">{name}</a>");
    }
    Ok(format!(
        "<figure>\n<div class=\"wide screen\">\n{}</div>\n<div class=\"narrow\">\n{}</div>\n\
         <figcaption>{}{}{links}</figcaption>\n</figure>\n",
        svg::svg(figure)?,
        svg::narrow(figure)?,
        escape(place),
        escape(&figure.caption),
    ))
}

fn folded_table(table: &Table) -> Result<String, ExportError> {
    let file = file_name(&table.name, "csv")?;
    let mut out = format!(
        "<details>\n<summary>{} ({} rows)</summary>\n<p>{} <a href=\"{file}\">CSV</a></p>\n{}",
        escape(&table.name),
        table.rows.len(),
        escape(&table.caption),
        parts::table(table)
    );
    if table.rows.len() > MAX_ROWS {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<p>First {MAX_ROWS} rows; the CSV has them all.</p>");
    }
    out.push_str("</details>\n");
    Ok(out)
}

#[cfg(test)]
mod tests;
