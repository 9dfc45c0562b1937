//! The parts of a page that show a record.

use super::escape;
use crate::Account;
use crate::animation::Animation;
use crate::export::{ExportError, agreeing_first, csv, difference, shown, with_error};
use crate::record::{Quantity, Record, Table};

/// Writes the end of a run, its warnings and all inputs that it ignored as a box of an HTML page; returns an empty text for a
/// run without remarks.
#[must_use]
pub fn remarks(account: &Account) -> String {
    let line = |class: &str, label: &str, text: &String| {
        let text = escape(text);
        format!("<p class=\"{class}\"><strong>{label}:</strong> {text}</p>\n")
    };
    let ending = account
        .ending
        .iter()
        .map(|text| line("ending", "Ended", text));
    let warnings = account
        .warnings
        .iter()
        .map(|text| line("warning", "Warning", text));
    let ignored = account
        .left_out()
        .map(|text| line("ignored", "Ignored", text));
    let lines: String = ending.chain(warnings).chain(ignored).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("<div class=\"remarks\">\n{lines}</div>\n")
}

/// Writes the balance of the energy of a run as an HTML table; returns an empty text without a balance.
#[must_use]
pub fn energy(account: &Account) -> String {
    if account.energy.is_empty() {
        return String::new();
    }
    let row = |(term, work): &(String, f64)| {
        let (term, work) = (escape(term), minus(&shown(*work)));
        format!("<tr><td>{term}</td><td class=\"n\">{work}</td></tr>\n")
    };
    let rows: String = account.energy.iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr><th>Energy balance</th><th class=\"n\">J</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

/// Writes the parameters of a record as a folded section of an HTML page; returns an empty text if the record has no
/// parameters.
///
/// # Errors
///
/// Cannot fail for parameters that a scenario wrote.
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

/// Writes quantities (scalar results) as an HTML table with their expected values; returns an empty text for an empty list.
/// Quantities that differ from the value printed in a paper come last, each with the reason below its row.
#[must_use]
pub fn quantities(quantities: &[Quantity]) -> String {
    if quantities.is_empty() {
        return String::new();
    }
    let ordered = agreeing_first(quantities);
    let rows: Vec<[String; 6]> = ordered.iter().map(|quantity| cells(quantity)).collect();
    let has = |k: usize| k < 2 || rows.iter().any(|row| !row[k].is_empty());
    let kept: Vec<usize> = (0..6).filter(|k| has(*k)).collect();
    let head: String = kept.iter().map(|k| HEADINGS[*k]).collect();
    let row = |(quantity, cells): (&&Quantity, &[String; 6])| {
        let cells: String = kept.iter().map(|k| cell(*k, &cells[*k])).collect();
        let why = quantity.differs.as_ref().map_or_else(String::new, |why| {
            let (n, why) = (kept.len(), escape(why));
            format!("<tr class=\"reason\"><td colspan=\"{n}\">differs: {why}</td></tr>\n")
        });
        format!("<tr>{cells}</tr>\n{why}")
    };
    let body: String = ordered.iter().zip(&rows).map(row).collect();
    format!(
        "<div class=\"scroll\"><table class=\"values\">\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{body}</tbody>\n</table></div>\n"
    )
}

/// Column headings of the table of quantities; a column without entries is omitted.
const HEADINGS: [&str; 6] = [
    "<th>Quantity</th>",
    "<th class=\"n\">Value</th>",
    "<th>Unit</th>",
    "<th class=\"n\">Expected</th>",
    "<th class=\"n\">Difference</th>",
    "<th>Kind, source and notes</th>",
];

fn cell(column: usize, content: &str) -> String {
    match column {
        0 => format!("<td><code>{content}</code></td>"),
        1 => format!("<td class=\"n\">{content}</td>"),
        3 => format!(
            "<td class=\"n\"{}>{content}</td>",
            label("expected", content)
        ),
        4 => format!(
            "<td class=\"n\"{}>{content}</td>",
            label("difference", content)
        ),
        _ => format!("<td>{content}</td>"),
    }
}

/// Returns the HTML texts of the table row of a computed quantity: name, value, unit, expected (such as published) values,
/// differences from these, and remarks.
fn cells(quantity: &Quantity) -> [String; 6] {
    let lines = |text: &dyn Fn((&'static str, f64, &str)) -> String| {
        quantity
            .expected()
            .map(text)
            .collect::<Vec<_>>()
            .join("<br>")
    };
    let expected = lines(&|(_, value, _)| minus(&shown(value)));
    let differences = lines(&|(_, value, _)| {
        if (quantity.value - value).abs() <= ROUNDING * value.abs() {
            return "0".to_owned();
        }
        minus(&difference(quantity.value, value))
    });
    let sources = quantity.expected().map(|(kind, _, source)| {
        if source.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}: {source}")
        }
    });
    let note = quantity.note.clone().filter(|note| !note.is_empty());
    let remarks: Vec<String> = sources.chain(note).collect();
    [
        escape(&quantity.name),
        minus(&with_error(quantity)),
        escape(&quantity.unit),
        expected,
        differences,
        escape(&remarks.join("; ")),
    ]
}

/// Returns the HTML attribute `data-label` of a table cell. Narrow screens show the label `name` in this attribute before the
/// value of the cell. For an empty value the result is an empty text.
fn label(name: &str, value: &str) -> String {
    if value.is_empty() {
        return String::new();
    }
    format!(" data-label=\"{name}\"")
}

/// Replaces the hyphen of a negative number in a text by the minus sign (U+2212).
#[must_use]
pub fn minus(number: &str) -> String {
    number.replace('-', "\u{2212}")
}

/// Writes the HTML of an animation: the player with its data and its caption. The page that contains this HTML must include the
/// script of the player.
///
/// # Errors
///
/// [`ExportError::Shape`] for an animation that cannot be played.
pub fn animation(animation: &Animation) -> Result<String, ExportError> {
    if let Some(problem) = animation.problem() {
        let name = &animation.name;
        return Err(ExportError::Shape(format!("animation {name}: {problem}")));
    }
    // Within a script element `<` is the only character that can end the element.
    let data = serde_json::to_string(animation)?.replace('<', "\\u003c");
    let separator = match (
        animation.caption.as_str(),
        animation.title.ends_with(['?', '!']),
    ) {
        ("", _) => "",
        (_, true) => " ",
        (_, false) => ". ",
    };
    Ok(format!(
        "<figure>\n<div class=\"player\"></div>\n<script type=\"application/json\">{data}</script>\n\
         <noscript><p>(The playback needs scripts; the figures do not.)</p></noscript>\n\
         <figcaption><b>{}</b>{separator}{}</figcaption>\n</figure>\n",
        escape(&animation.title),
        escape(&animation.caption)
    ))
}

/// Relative difference up to which two numbers count as one number rounded in two ways.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Largest number of table rows on a page; the CSV file has all rows.
pub(super) const MAX_ROWS: usize = 200;

/// Writes the first rows of a table of a record as HTML.
#[must_use]
pub fn table(table: &Table) -> String {
    let names = table
        .labels
        .iter()
        .map(|l| format!("<th>{}</th>", escape(&l.heading)));
    let columns = table.columns.iter();
    let columns = columns.map(|c| format!("<th class=\"n\">{}</th>", escape(&csv::heading(c))));
    let head: String = names.chain(columns).collect();
    // A number below the rounding error of the largest in its column is shown as 0; the file has all digits.
    let largest = |k: usize| {
        let column = table.rows.iter().filter_map(|row| row.get(k));
        column.fold(0.0, |most: f64, v| most.max(v.abs()))
    };
    let least: Vec<f64> = (0..table.columns.len())
        .map(|k| ROUNDING * largest(k))
        .collect();
    let rows = table.rows.iter().enumerate().take(MAX_ROWS);
    let body: String = rows
        .map(|(i, values)| row(table, i, values, &least))
        .collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{body}</tbody>\n</table></div>\n"
    )
}

fn row(table: &Table, index: usize, values: &[f64], least: &[f64]) -> String {
    let names = table
        .labels
        .iter()
        .map(|_| format!("<td>{}</td>", escape(table.label(index))));
    let cell = |(v, least): (&f64, &f64)| {
        let v = if v.abs() <= *least { 0.0 } else { *v };
        format!("<td class=\"n\">{}</td>", minus(&shown(v)))
    };
    let cells: String = names.chain(values.iter().zip(least).map(cell)).collect();
    format!("<tr>{cells}</tr>\n")
}
