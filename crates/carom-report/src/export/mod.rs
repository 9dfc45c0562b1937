//! Writes a [`Record`] as JSON, CSV, SVG, HTML and text.

pub mod csv;
mod escape;
mod film;
mod folder;
pub mod html;
mod picture;
pub mod svg;

pub use film::{Film, Studio};
pub use folder::{write_all, write_compared, write_with};
pub use picture::Format;

use std::path::PathBuf;

use crate::Account;
use crate::compare::ComparedRun;
use crate::record::{Quantity, Record};
use serde_json::Value;

/// Reason why a record of a run could not be written to files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A number that JSON and CSV cannot hold.
    #[error("not a finite number: {0}")]
    NonFinite(String),
    /// Lists of lengths that do not match.
    #[error("lengths disagree: {0}")]
    Shape(String),
    /// An axis that cannot be drawn.
    #[error("axis {label:?}: {problem}")]
    Axis {
        /// The axis's label.
        label: String,
        /// Fault of the axis.
        problem: String,
    },
    /// A name without characters allowed in a file name, or a file name that two items share.
    #[error("no usable or unique file name: {0:?}")]
    Name(String),
    /// The drawing backend failed.
    #[error("drawing failed: {0}")]
    Drawing(String),
    /// An unknown format of figures.
    #[error("figures as {0}: unknown; known are svg, png, pdf, and of films mp4, gif")]
    Format(String),
    /// A film format given as a format of figures.
    #[error(
        "figures as {0}: that is a film, which `carom run NAME --format mp4 --out DIR` makes, or the player in index.html"
    )]
    Film(String),
    /// A program for making films is missing.
    #[error(
        "films need ffmpeg and a Chromium browser, and no `{0}` is on the path; install it (`apt install {0}`, `brew install {0}`), or let the player in index.html save a film"
    )]
    Tool(&'static str),
    /// A film was requested of a record without animations.
    #[error("nothing moves in `{0}`: a film needs a scenario with a playback")]
    Still(String),
    /// A figure format that this build does not include.
    #[error(
        "figures as {0}: this build lacks the feature `pictures`; released binaries have it, and `cargo build -p carom-cli --features pictures` adds it"
    )]
    Pictures(&'static str),
    /// JSON could not be written.
    #[error("JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// CSV could not be written.
    #[error("CSV: {0}")]
    Csv(#[from] ::csv::Error),
    /// A file could not be written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
}

/// Converts a record to the text of `record.json`: indented JSON with a newline at the end.
///
/// # Errors
///
/// If a number in the record is not finite.
pub fn json(record: &Record) -> Result<String, ExportError> {
    if let Some(path) = record.non_finite() {
        return Err(ExportError::NonFinite(path));
    }
    let mut text = serde_json::to_string_pretty(record)?;
    text.push('\n');
    Ok(text)
}

/// Converts a name to a file name with this extension. The result has only the characters `[a-z0-9-_]`, which every file system
/// and URL accepts.
///
/// # Errors
///
/// [`ExportError::Name`] if no allowed character of the name remains.
pub fn file_name(name: &str, extension: &str) -> Result<String, ExportError> {
    let safe = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9' | '-' | '_') => c,
        _ => '-',
    };
    let stem: String = name.chars().map(safe).collect();
    let stem = stem.trim_matches('-');
    if stem.is_empty() {
        return Err(ExportError::Name(name.to_owned()));
    }
    Ok(format!("{stem}.{extension}"))
}

/// Writes the summary of a record as text for the terminal: laws, end and remarks of the run, the quantities (scalar
/// results) as an aligned table, and the balance of the energy.
///
/// Every expected value has its own line with its kind: `printed` in a paper, `closed form`, or
/// `independent`. Without any expected value these columns are omitted. Quantities that differ from the value
/// printed in a paper come last, each with the reason below its row.
#[must_use]
pub fn summary(record: &Record) -> String {
    let account = Account::of(record);
    let mut out = String::new();
    for line in account.lines() {
        out.push_str(&line);
        out.push('\n');
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let compared = record.quantities.iter().any(|q| q.expected().count() > 0);
    let (mut rows, mut reasons) = (vec![heading_row(compared)], Vec::new());
    for quantity in agreeing_first(&record.quantities) {
        rows.extend(quantity_rows(quantity));
        if let Some(why) = &quantity.differs {
            reasons.push((rows.len(), format!("differs: {why}")));
        }
        if let Some(note) = quantity.note.as_ref().filter(|_| quantity.is_fitted) {
            reasons.push((rows.len(), note.clone()));
        }
    }
    let mut reasons = reasons.into_iter().peekable();
    for (n, line) in (1..).zip(align(&rows)) {
        out.push_str(&line);
        while let Some((_, why)) = reasons.next_if(|(row, _)| *row == n) {
            out.push_str(&format!("    {why}\n"));
        }
    }
    if !account.energy.is_empty() {
        let entry = |(term, work): &(String, f64)| vec![term.clone(), shown(*work)];
        let heading = vec!["energy balance".to_owned(), "J".to_owned()];
        let rows: Vec<_> = account.energy.iter().map(entry).collect();
        out.push('\n');
        out.extend(align(&[vec![heading], rows].concat()));
    }
    out
}

/// Writes the comparison of several runs as text for the terminal: status and remarks of each, the quantities in a column for each
/// run, and the first event after which they differ. `comparison`: the comparison as JSON.
#[must_use]
pub fn compared_summary(runs: &[ComparedRun], comparison: &Value) -> String {
    let mut out = String::new();
    for run in runs {
        let lines = Account::of(&run.record).lines();
        out.push_str(&format!("{}\n", run.set));
        lines
            .iter()
            .for_each(|line| out.push_str(&format!("    {line}\n")));
    }
    let head = std::iter::once("quantity".to_owned()).chain(runs.iter().map(|r| r.label.clone()));
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    for quantity in runs.iter().take(1).flat_map(|run| &run.record.quantities) {
        let value = |run: &ComparedRun| {
            let mut all = run.record.quantities.iter();
            all.find(|q| q.name == quantity.name)
                .map_or_else(String::new, with_error)
        };
        let values = runs.iter().map(value);
        rows.push(
            std::iter::once(quantity.name.clone())
                .chain(values)
                .collect(),
        );
    }
    out.push('\n');
    out.extend(aligned(&rows, |column| column > 0));
    out.push_str(&format!("\n{}\n", html::difference(comparison)));
    out
}

/// Returns the quantities in the order in which they are shown: those that are known to differ from a printed value come last.
fn agreeing_first(quantities: &[Quantity]) -> Vec<&Quantity> {
    let mut all: Vec<&Quantity> = quantities.iter().collect();
    all.sort_by_key(|q| q.differs.is_some() || q.is_fitted);
    all
}

fn heading_row(compared: bool) -> Vec<String> {
    let all = [
        "quantity",
        "value",
        "unit",
        "expected",
        "difference",
        "kind",
        "from",
    ];
    let shown = if compared { all.len() } else { 3 };
    all.iter().take(shown).map(|s| (*s).to_owned()).collect()
}

/// Formats the value of a quantity, with its standard error if the value is a mean.
fn with_error(quantity: &Quantity) -> String {
    match quantity.standard_error {
        Some(error) => format!("{} \u{b1} {}", shown(quantity.value), shown_briefly(error)),
        None => shown(quantity.value),
    }
}

/// Returns the table rows of a computed quantity. The first row also has the first expected value, such as a published one;
/// each further expected value gets a row of its own.
fn quantity_rows(quantity: &Quantity) -> Vec<Vec<String>> {
    let mut head = vec![
        quantity.name.clone(),
        with_error(quantity),
        quantity.unit.clone(),
    ];
    let mut rows = Vec::new();
    for (kind, value, source) in quantity.expected() {
        head.extend([
            shown(value),
            difference(quantity.value, value),
            kind.to_owned(),
            source.to_owned(),
        ]);
        rows.push(std::mem::replace(&mut head, vec![String::new(); 3]));
    }
    if rows.is_empty() {
        rows.push(head);
    }
    rows
}

/// Formats rows of text cells as the lines of a plain text table. The columns of numbers are aligned to the right, names and
/// units to the left.
fn align(rows: &[Vec<String>]) -> Vec<String> {
    aligned(rows, |column| matches!(column, 1 | 3 | 4))
}

/// Formats rows of text cells as the lines of a plain text table, in which the columns that `is_right` accepts are aligned to the
/// right.
fn aligned(rows: &[Vec<String>], is_right: impl Fn(usize) -> bool) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| {
        let lengths = rows.iter().filter_map(|row| row.get(i));
        lengths.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells: Vec<String> = cells
            .map(|(i, (cell, width))| {
                if is_right(i) {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            })
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Significant digits of numbers in text and HTML; `record.json` has all digits.
const DIGITS: usize = 7;

/// Formats a number with the number of significant digits that the text and HTML pages of records use.
#[must_use]
pub fn shown(value: f64) -> String {
    significant(value, DIGITS)
}

/// Formats a number for use in a sentence: with three significant digits, or with all digits if it is whole and below 1e9.
pub(crate) fn shown_briefly(value: f64) -> String {
    let is_count = value.fract() == 0.0 && value.abs() < 1e9;
    if is_count {
        format!("{:.0}", value + 0.0)
    } else {
        significant(value, 3)
    }
}

/// Formats a number with `digits` significant digits, as `%g` does in C.
fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        // Adding 0 removes the sign of a negative zero.
        return format!("{:.0}", value + 0.0);
    }
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text;
    };
    let power: i32 = exponent.parse().unwrap_or(0);
    let limit = i32::try_from(digits).unwrap_or(i32::MAX);
    if (-4..limit).contains(&power) {
        let decimals = usize::try_from(limit - 1 - power).unwrap_or(0);
        return trim_zeros(&format!("{value:.decimals$}")).to_owned();
    }
    format!("{}e{exponent}", trim_zeros(mantissa))
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// Relative difference below which a percentage would have too many leading zeros to read.
const SMALLEST_PERCENTAGE: f64 = 1e-4;

/// Relative difference above which a percentage tells nothing: 1000 % to three digits.
const LARGEST_PERCENTAGE: f64 = 9.995;

/// Magnitude below which two values in SI units are rounding errors of 0, whose ratio tells nothing.
const ROUNDING_OF_ZERO: f64 = 1e-12;

/// Formats the difference between a computed value and a published one: relative, or absolute if the published value is 0, if
/// both values are rounding errors of 0, or if the difference is more than ten times the published value.
#[must_use]
pub fn difference(value: f64, published: f64) -> String {
    let absolute = value - published;
    if absolute == 0.0 {
        return "0".to_owned();
    }
    let relative = absolute / published.abs();
    let is_rounding = value.abs().max(published.abs()) < ROUNDING_OF_ZERO;
    if is_rounding || !(relative.abs() <= LARGEST_PERCENTAGE) {
        return format!("{absolute:+.1e} (absolute)");
    }
    if relative.abs() < SMALLEST_PERCENTAGE {
        return format!("{relative:+.1e}");
    }
    let sign = if relative < 0.0 { '-' } else { '+' };
    format!("{sign}{} %", significant(100.0 * relative.abs(), 3))
}

/// Returns a name, followed by its unit in brackets if it has one.
fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name} [{unit}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Axis, Color, Column, Figure, Mark, Table};

    pub(super) fn record() -> Record {
        let axis = || Axis::linear("t", "s");
        let line = Mark::line("v", vec![0.0, 1.0], vec![1.0, 2.0], Color::Blue);
        let mut record = Record::new("drop", "A drop.");
        record.quantities = vec![
            Quantity::new("speed_m_s", 0.1 + 0.2, "m/s")
                .printed(0.25, 0.005, "Eq. 1")
                .independent(0.31, "another program"),
            Quantity::new("count", 12.0, ""),
        ];
        record.tables = vec![Table::new("Speed / time", "", vec![Column::new("t", "s")])];
        record.figures = vec![Figure::new("Speed", "", "", axis(), axis()).mark(line)];
        record
    }

    #[test]
    fn a_name_without_letters_is_no_file_name() {
        assert!(matches!(file_name("../", "csv"), Err(ExportError::Name(_))));
    }

    #[test]
    fn significant_digits() {
        let show = |v| significant(v, 4);
        assert_eq!(show(0.1 + 0.2), "0.3");
        assert_eq!(show(-1234.56), "-1235");
        assert_eq!(show(123_456.0), "1.235e5");
        assert_eq!(show(1e-300), "1e-300");
        assert_eq!(show(0.0), "0");
        assert_eq!(show(9.99999), "10");
        assert_eq!(show(9999.9), "1e4");
    }

    #[test]
    fn differences() {
        assert_eq!(difference(1.5, 1.0), "+50 %");
        assert_eq!(difference(-1.5, -1.0), "-50 %");
        assert_eq!(difference(1.0 + 2e-9, 1.0), "+2.0e-9");
        assert_eq!(difference(-1e-3, 0.0), "-1.0e-3 (absolute)");
        assert_eq!(difference(2.0, 2.0), "0");
        assert_eq!(difference(3070.0, 1.0), "+3.1e3 (absolute)");
        assert_eq!(difference(10.0, 1.0), "+900 %");
        assert_eq!(difference(1.1e-16, 3.9e-17), "+7.1e-17 (absolute)");
    }

    #[test]
    fn summary_is_aligned() {
        let expected = "\
quantity   value  unit  expected  difference  kind         from
speed_m_s    0.3  m/s       0.25       +20 %  printed      Eq. 1
                            0.31     -3.23 %  independent  another program
count         12
";
        assert_eq!(summary(&record()), expected);
    }

    /// The reason stands below the row of its quantity, and the quantities that agree come first.
    #[test]
    fn a_difference_has_its_reason_below_its_row() {
        let mut record = Record::new("drop", "A drop.");
        record.quantities = vec![
            Quantity::new("a", 2.0, "")
                .printed(1.0, 0.1, "p. 1")
                .differs("a misprint"),
            Quantity::new("b", 1.0, "").printed(1.0, 0.1, "p. 2"),
        ];
        let balance = serde_json::json!([
            {"term": "impacts", "work_j": -1.5}, {"term": "unexplained", "work_j": 0.0},
        ]);
        let energy = serde_json::json!({"initial_j": 2.0, "final_j": 0.5, "balance": balance});
        record.results.insert("energy".to_owned(), energy);
        let expected = "\
quantity  value  unit  expected  difference  kind     from
b             1               1           0  printed  p. 2
a             2               1      +100 %  printed  p. 1
    differs: a misprint

energy balance     J
at the start       2
impacts         -1.5
at the end       0.5
";
        assert_eq!(summary(&record), expected);
    }
}
