//! The page on engines quotes the scenario `engine-survey`: its table is the scenario's.

use anyhow::{Context, ensure};
use carom_report::Record;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// The scenario that the page quotes.
pub(crate) const SCENARIO: &str = "engine-survey";

/// The page.
const PAGE: &str = "docs/src/engines.md";

/// Marks around the table on the page.
const MARKS: [&str; 2] = [
    "<!-- begin engine-survey -->\n",
    "<!-- end engine-survey -->",
];

/// Compares the page with the record, or rewrites it.
pub(crate) fn check(root: &Path, record: &Record, bless: bool) -> anyhow::Result<Vec<String>> {
    let path = root.join(PAGE);
    let page = std::fs::read_to_string(&path).with_context(|| format!("reading {PAGE}"))?;
    let fresh = with_tables(&page, &tables(record))?;
    if page == fresh {
        return Ok(Vec::new());
    }
    if bless {
        std::fs::write(&path, fresh)?;
        return Ok(Vec::new());
    }
    Ok(vec![format!("{PAGE} has other tables than the record")])
}

/// The page with these tables between its marks.
fn with_tables(page: &str, tables: &str) -> anyhow::Result<String> {
    let begin = page.find(MARKS[0]).map(|at| at + MARKS[0].len());
    let end = page.find(MARKS[1]);
    let (Some(begin), Some(end)) = (begin, end) else {
        anyhow::bail!("{PAGE} has lost its marks {MARKS:?}");
    };
    ensure!(begin <= end, "{PAGE} has its marks in the wrong order");
    Ok(format!("{}{tables}{}", &page[..begin], &page[end..]))
}

/// One table for each case, one row for each solver.
fn tables(record: &Record) -> String {
    let entries = record.results.get("judgements").and_then(Value::as_array);
    let mut text = String::new();
    let mut case = "";
    for entry in entries.into_iter().flatten() {
        let string = |key: &str| entry[key].as_str().unwrap_or_default();
        if string("case") != case {
            case = string("case");
            let head =
                "| engine | velocity after | energy | verdict |\n| --- | --- | --- | --- |\n";
            let _ = write!(text, "\n### `{case}`\n\n{head}");
        }
        let velocities = entry["velocity_plus"].as_array().into_iter().flatten();
        let velocities: Vec<String> = velocities
            .map(|v| short(v.as_f64().unwrap_or(f64::NAN)))
            .collect();
        let _ = writeln!(
            text,
            "| {} {}, {} | {} | {} | {} |",
            string("engine"),
            string("version"),
            string("solver"),
            velocities.join(", "),
            short(entry["energy_ratio"].as_f64().unwrap_or(f64::NAN)),
            string("verdict"),
        );
    }
    text.push('\n');
    text
}

/// Four decimals; no negative zero.
fn short(x: f64) -> String {
    let text = format!("{x:.4}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_between_the_marks() {
        let page = format!("a\n{}old\n{}\nb", MARKS[0], MARKS[1]);
        let fresh = with_tables(&page, "new\n").unwrap();
        assert_eq!(fresh, format!("a\n{}new\n{}\nb", MARKS[0], MARKS[1]));
        assert!(with_tables("no marks", "new").is_err());
    }

    #[test]
    fn a_velocity_of_nothing_has_no_sign() {
        assert_eq!(short(-1e-6), "0.0000");
        assert_eq!(short(-0.5), "-0.5000");
    }
}
