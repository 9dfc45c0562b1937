//! A record as a frame within another page, such as a notebook.

use super::{animation, energy, escape, headlines, page, quantities, remarks, sentence};
use crate::export::{ExportError, svg};
use crate::{Account, Record};

/// Writes a record as an HTML element `iframe` that contains its whole page: laws, remarks, players, figures and results. The
/// element needs no network and has at most `limit` bytes, unless an empty page has more: parts without space are left out.
///
/// # Errors
///
/// If the record cannot be drawn.
pub fn embedded(record: &Record, limit: usize) -> Result<String, ExportError> {
    let account = Account::of(record);
    let title = sentence(&record.summary);
    let laws = account
        .laws
        .iter()
        .map(|laws| format!(" \u{b7} laws: {laws}"));
    let laws: String = laws.collect();
    let plays = !record.animations.is_empty();
    let around = framed(&title, &page(&title, "", "", plays)).len();
    let mut room = limit.saturating_sub(around);
    let mut body = String::new();
    let mut add = |part: &str| {
        let size = escaped(part).len();
        let fits = size <= room;
        if fits {
            room -= size;
            body.push_str(part);
        }
        fits
    };
    let status = escape(&format!("{}{laws}", record.status));
    let head = format!(
        "<h1>{}</h1>\n<p class=\"status\">{status}</p>\n",
        escape(&title)
    );
    add(&head);
    add(&remarks(&account));
    for shown in &record.animations {
        if !add(&animation(shown)?) {
            add("<p>This motion is too large to be played within a page.</p>\n");
        }
    }
    add(&headlines(&record.quantities));
    add(&energy(&account));
    for figure in &record.figures {
        let caption = escape(&figure.caption);
        let drawn = svg::svg(figure)?;
        add(&format!(
            "<figure>\n{drawn}\n<figcaption>{caption}</figcaption>\n</figure>\n"
        ));
    }
    add(&quantities(&record.quantities));
    Ok(framed(&title, &page(&title, "", &body, plays)))
}

/// Escapes a page for an attribute in double quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;")
}

fn framed(title: &str, page: &str) -> String {
    format!(
        "<iframe title=\"{}\" width=\"100%\" height=\"640\" style=\"border: 0\" srcdoc=\"{}\"></iframe>",
        escape(title),
        escaped(page)
    )
}
