//! A record as one page that needs no network, and scripts only to play animations.
//!
//! The parts of the page are public, so that a page of many records looks the same.

mod parts;

pub use parts::{animation, minus, parameters, quantities, table};

use super::{ExportError, Format, file_name, svg};
use crate::record::{Figure, Record, Table};
use parts::MAX_ROWS;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

const PLAYER: &str = include_str!("player.js");

/// The record as an HTML page, which links to the files of each figure in these formats.
///
/// # Errors
///
/// A record that cannot be drawn or written.
pub fn html(record: &Record, formats: &[Format]) -> Result<String, ExportError> {
    let mut body = format!(
        "<h1>{}</h1>\n<p>{}</p>\n<p class=\"status\">Status: {}. \
         All data: <a href=\"record.json\">record.json</a>.</p>\n",
        escape(&record.scenario),
        escape(&record.summary),
        escape(&record.status)
    );
    body.push_str(&parameters(record)?);
    let scalars = quantities(&record.quantities);
    if !scalars.is_empty() {
        body.push_str("<h2>Quantities</h2>\n");
        body.push_str(&scalars);
    }
    section(&mut body, "Playback", &record.animations, animation)?;
    section(&mut body, "Figures", &record.figures, |f| {
        figure(f, formats)
    })?;
    section(&mut body, "Tables", &record.tables, folded_table)?;
    let plays = !record.animations.is_empty();
    Ok(page(&record.scenario, "", &body, plays))
}

/// A whole page: a title, further rules of style, what is in the body, and the player if anything
/// is to be played.
///
/// `title` is text; `style` and `body` are written as they are.
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

/// A heading and its items, or nothing if there are none.
fn section<T>(
    out: &mut String,
    heading: &str,
    items: &[T],
    show: impl Fn(&T) -> Result<String, ExportError>,
) -> Result<(), ExportError> {
    if !items.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<h2>{heading}</h2>");
    }
    for item in items {
        out.push_str(&show(item)?);
    }
    Ok(())
}

fn figure(figure: &Figure, formats: &[Format]) -> Result<String, ExportError> {
    let mut links = String::new();
    for format in formats {
        let file = file_name(&figure.name, format.extension())?;
        let name = format.extension().to_uppercase();
        // Writing to a string cannot fail.
        let _ = write!(links, " <a href=\"{file}\">{name}</a>");
    }
    Ok(format!(
        "<figure>\n<div class=\"wide\">\n{}</div>\n<figcaption>{}{links}</figcaption>\n</figure>\n",
        svg::svg(figure)?,
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

/// Text as HTML and XML accept it, in content and in attributes.
///
/// Control characters go: XML forbids them even when escaped.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
