//! A record as one page that needs neither network nor scripts.

use std::fmt::Write as _;

use super::{DIGITS, ExportError, csv, difference, file_name, significant, svg};
use crate::record::{Figure, Quantity, Record, Table};

/// Rows of a table shown on the page; the CSV has them all.
const MAX_ROWS: usize = 200;

const STYLE: &str = "
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, sans-serif; color: #1b1b1b; background: #fff;
  max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
.status { color: #555; font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
caption { text-align: left; padding-bottom: .4rem; color: #444; }
th, td { padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; white-space: nowrap; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure { margin: 1.5rem 0 2.5rem; }
figure svg { max-width: 100%; height: auto; }
figcaption { color: #333; font-size: .95rem; max-width: 46rem; }
details { margin: .7rem 0; }
summary { cursor: pointer; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: .85rem; }
";

/// The record as an HTML page.
///
/// # Errors
///
/// A record that cannot be drawn or written.
pub fn html(record: &Record) -> Result<String, ExportError> {
    let title = escape(&record.scenario);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n<p>{}</p>\n<p class=\"status\">Status: {}. \
         All data: <a href=\"record.json\">record.json</a>.</p>\n",
        escape(&record.summary),
        escape(&record.status)
    );
    out.push_str(&parameters(record)?);
    out.push_str(&quantities(&record.quantities));
    section(&mut out, "Figures", &record.figures, figure)?;
    section(&mut out, "Tables", &record.tables, table)?;
    out.push_str("</body>\n</html>\n");
    Ok(out)
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

fn parameters(record: &Record) -> Result<String, ExportError> {
    if record.parameters.is_null() {
        return Ok(String::new());
    }
    let text = serde_json::to_string_pretty(&record.parameters)?;
    Ok(format!(
        "<details>\n<summary>Parameters</summary>\n<pre>{}</pre>\n</details>\n",
        escape(&text)
    ))
}

fn quantities(quantities: &[Quantity]) -> String {
    if quantities.is_empty() {
        return String::new();
    }
    let rows: String = quantities.iter().map(quantity).collect();
    format!(
        "<h2>Quantities</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>Quantity</th>\
         <th class=\"n\">Value</th><th>Unit</th><th class=\"n\">Paper</th>\
         <th class=\"n\">Difference</th><th>Source and notes</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn quantity(quantity: &Quantity) -> String {
    let paper = quantity.paper.map(|p| significant(p, DIGITS));
    let remarks: Vec<&str> = [&quantity.source, &quantity.note]
        .into_iter()
        .filter_map(|text| text.as_deref())
        .filter(|text| !text.is_empty())
        .collect();
    format!(
        "<tr><td><code>{}</code></td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td><td>{}</td></tr>\n",
        escape(&quantity.name),
        minus(&significant(quantity.value, DIGITS)),
        escape(&quantity.unit),
        minus(&paper.unwrap_or_default()),
        minus(&difference(quantity).unwrap_or_default()),
        escape(&remarks.join("; "))
    )
}

/// Numbers on a page deserve a real minus sign.
fn minus(number: &str) -> String {
    number.replace('-', "\u{2212}")
}

fn figure(figure: &Figure) -> Result<String, ExportError> {
    Ok(format!(
        "<figure>\n{}<figcaption>{} <a href=\"{}\">SVG</a></figcaption>\n</figure>\n",
        svg::svg(figure)?,
        escape(&figure.caption),
        file_name(&figure.name, "svg")?
    ))
}

fn table(table: &Table) -> Result<String, ExportError> {
    let head: String = table
        .columns
        .iter()
        .map(|c| format!("<th class=\"n\">{}</th>", escape(&csv::heading(c))))
        .collect();
    let body: String = table.rows.iter().take(MAX_ROWS).map(|r| row(r)).collect();
    let file = file_name(&table.name, "csv")?;
    let mut out = format!(
        "<details>\n<summary>{} ({} rows)</summary>\n<p>{} <a href=\"{file}\">CSV</a></p>\n\
         <div class=\"scroll\"><table>\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{body}</tbody>\n</table></div>\n",
        escape(&table.name),
        table.rows.len(),
        escape(&table.caption)
    );
    if table.rows.len() > MAX_ROWS {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<p>First {MAX_ROWS} rows; the CSV has them all.</p>");
    }
    out.push_str("</details>\n");
    Ok(out)
}

fn row(values: &[f64]) -> String {
    let cell = |v: &f64| format!("<td class=\"n\">{}</td>", minus(&significant(*v, DIGITS)));
    let cells: String = values.iter().map(cell).collect();
    format!("<tr>{cells}</tr>\n")
}

/// Text as HTML and XML accept it, in content and in attributes.
///
/// Control characters go: XML forbids them even when escaped.
pub(super) fn escape(text: &str) -> String {
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
mod tests {
    use super::*;
    use crate::record::{Axis, Color, Column, Mark};

    fn hostile() -> Record {
        let evil = "<script>&\"'";
        let axis = || Axis::linear(evil, evil);
        let line = Mark::line(evil, vec![0.0, 1.0], vec![0.0, 1.0], Color::Sky);
        let mut record = Record::new(evil, evil);
        record.parameters = serde_json::json!({ evil: evil });
        record.quantities = vec![Quantity::new(evil, 1.5, evil).paper(1.0, evil).note(evil)];
        record.tables = vec![Table {
            rows: vec![vec![-0.5]; MAX_ROWS + 1],
            ..Table::new("t", evil, vec![Column::new(evil, evil)])
        }];
        record.figures = vec![Figure::new("f", evil, evil, axis(), axis()).mark(line)];
        record
    }

    #[test]
    fn everything_is_escaped() -> Result<(), ExportError> {
        let page = html(&hostile())?;
        assert!(!page.contains("<script"));
        assert!(page.contains("&lt;script&gt;&amp;&quot;&#39;"));
        Ok(())
    }

    #[test]
    fn shows_comparison_figure_and_part_of_a_long_table() -> Result<(), ExportError> {
        let page = html(&hostile())?;
        assert!(page.contains("+50 %"));
        assert!(page.contains("<svg "));
        assert!(page.contains("(201 rows)"));
        assert_eq!(page.matches("\u{2212}0.5</td>").count(), MAX_ROWS);
        Ok(())
    }

    #[test]
    fn nothing_is_fetched() -> Result<(), ExportError> {
        let page = html(&hostile())?;
        let namespace = "http://www.w3.org/2000/svg";
        assert!(!page.replace(namespace, "").contains("http"));
        Ok(())
    }
}
