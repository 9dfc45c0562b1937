//! The parts of a page that show a record.

use super::escape;
use crate::animation::Animation;
use crate::export::{ExportError, csv, difference, shown};
use crate::record::{Quantity, Record, Table};

/// The record's parameters, folded; nothing if it has none.
///
/// # Errors
///
/// None for parameters that a scenario wrote.
pub fn parameters(record: &Record) -> Result<String, ExportError> {
    if record.parameters.is_null() {
        return Ok(String::new());
    }
    let text = serde_json::to_string_pretty(&record.parameters)?;
    Ok(format!(
        "<details>\n<summary>Parameters</summary>\n<pre>{}</pre>\n</details>\n",
        escape(&text)
    ))
}

/// Scalar results beside the expected ones; nothing if there are none.
#[must_use]
pub fn quantities(quantities: &[Quantity]) -> String {
    if quantities.is_empty() {
        return String::new();
    }
    let rows: String = quantities.iter().map(quantity).collect();
    format!(
        "<div class=\"scroll\"><table class=\"values\">\n<thead><tr><th>Quantity</th>\
         <th class=\"n\">Value</th><th>Unit</th><th class=\"n\">Expected</th>\
         <th class=\"n\">Difference</th><th>Kind, source and notes</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn quantity(quantity: &Quantity) -> String {
    let lines = |text: &dyn Fn((&'static str, f64, &str)) -> String| {
        quantity
            .expected()
            .map(text)
            .collect::<Vec<_>>()
            .join("<br>")
    };
    let expected = lines(&|(_, value, _)| minus(&shown(value)));
    let differences = lines(&|(_, value, _)| minus(&difference(quantity.value, value)));
    let sources = quantity
        .expected()
        .map(|(kind, _, source)| match source.is_empty() {
            true => kind.to_owned(),
            false => format!("{kind}: {source}"),
        });
    let differs = quantity
        .differs
        .as_ref()
        .map(|why| format!("differs: {why}"));
    let note = quantity.note.clone().filter(|note| !note.is_empty());
    let remarks: Vec<String> = sources.chain(differs).chain(note).collect();
    format!(
        "<tr><td><code>{}</code></td><td class=\"n\">{}</td><td>{}</td><td class=\"n\"{}>{expected}</td>\
         <td class=\"n\"{}>{differences}</td><td>{}</td></tr>\n",
        escape(&quantity.name),
        minus(&shown(quantity.value)),
        escape(&quantity.unit),
        label("expected", &expected),
        label("difference", &differences),
        escape(&remarks.join("; "))
    )
}

/// What a phone writes before a value that has one.
fn label(name: &str, value: &str) -> String {
    if value.is_empty() {
        return String::new();
    }
    format!(" data-label=\"{name}\"")
}

/// Numbers on a page deserve a real minus sign.
#[must_use]
pub fn minus(number: &str) -> String {
    number.replace('-', "\u{2212}")
}

/// A player with its data and caption; the page needs the player's script.
///
/// # Errors
///
/// [`ExportError::Shape`] for an animation that cannot be played.
pub fn animation(animation: &Animation) -> Result<String, ExportError> {
    if let Some(problem) = animation.problem() {
        let name = &animation.name;
        return Err(ExportError::Shape(format!("animation {name}: {problem}")));
    }
    // In a script element only `<` can end or change what a browser reads.
    let data = serde_json::to_string(animation)?.replace('<', "\\u003c");
    let separator = if animation.caption.is_empty() {
        ""
    } else {
        ". "
    };
    Ok(format!(
        "<figure>\n<div class=\"player\"></div>\n<script type=\"application/json\">{data}</script>\n\
         <noscript><p>(The playback needs scripts; the figures do not.)</p></noscript>\n\
         <figcaption><b>{}</b>{separator}{}</figcaption>\n</figure>\n",
        escape(&animation.title),
        escape(&animation.caption)
    ))
}

/// Rows of a table shown on the page; the CSV has them all.
pub(super) const MAX_ROWS: usize = 200;

/// The first rows of a table.
#[must_use]
pub fn table(table: &Table) -> String {
    let names = table
        .labels
        .iter()
        .map(|l| format!("<th>{}</th>", escape(&l.heading)));
    let columns = table.columns.iter();
    let columns = columns.map(|c| format!("<th class=\"n\">{}</th>", escape(&csv::heading(c))));
    let head: String = names.chain(columns).collect();
    let rows = table.rows.iter().enumerate().take(MAX_ROWS);
    let body: String = rows.map(|(i, values)| row(table, i, values)).collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{body}</tbody>\n</table></div>\n"
    )
}

fn row(table: &Table, index: usize, values: &[f64]) -> String {
    let names = table
        .labels
        .iter()
        .map(|_| format!("<td>{}</td>", escape(table.label(index))));
    let cell = |v: &f64| format!("<td class=\"n\">{}</td>", minus(&shown(*v)));
    let cells: String = names.chain(values.iter().map(cell)).collect();
    format!("<tr>{cells}</tr>\n")
}
