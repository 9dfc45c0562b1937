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

/// Compares the tables in the book's page on physics engines with a record. With `bless` the tables in the page are replaced.
/// Returns one line if they differ.
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

/// Replaces the text between the two marks of a page by `tables`. Fails if a mark is missing.
fn with_tables(page: &str, tables: &str) -> anyhow::Result<String> {
    let begin = page.find(MARKS[0]).map(|at| at + MARKS[0].len());
    let end = page.find(MARKS[1]);
    let (Some(begin), Some(end)) = (begin, end) else {
        anyhow::bail!("{PAGE} has lost its marks {MARKS:?}");
    };
    ensure!(begin <= end, "{PAGE} has its marks in the wrong order");
    Ok(format!("{}{tables}{}", &page[..begin], &page[end..]))
}

/// Writes the survey of physics engines as HTML: a table of all cases and solvers, then a folded table for each case.
fn tables(record: &Record) -> String {
    let entries = record.results.get("judgements").and_then(Value::as_array);
    let entries: Vec<&Value> = entries.into_iter().flatten().collect();
    let mut cases: Vec<&str> = Vec::new();
    for entry in &entries {
        let case = string(entry, "case");
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    let mut text = map(&entries, &cases);
    for case in cases {
        let _ = write!(
            text,
            "\n<details>\n<summary><code>{case}</code>: velocities and verdicts</summary>\n\n\
             | engine | velocity after | energy | verdict |\n| --- | --- | --- | --- |\n"
        );
        for entry in entries.iter().filter(|e| string(e, "case") == case) {
            let velocities = entry["velocity_plus"].as_array().into_iter().flatten();
            let velocities: Vec<String> = velocities
                .map(|v| short(v.as_f64().unwrap_or(f64::NAN)))
                .collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                solver(entry),
                velocities.join(", "),
                short(entry["energy_ratio"].as_f64().unwrap_or(f64::NAN)),
                string(entry, "verdict"),
            );
        }
        text.push_str("\n</details>\n");
    }
    text.push('\n');
    text
}

/// Writes a table with a row for each solver of a physics engine and a column for each case. A cell shows the remaining
/// fraction of the energy, and the distance of the outcome to that of the nearest impact law. The color of the cell shows this
/// distance.
fn map(entries: &[&Value], cases: &[&str]) -> String {
    let mut solvers: Vec<String> = Vec::new();
    for entry in entries {
        let name = solver(entry);
        if !solvers.contains(&name) {
            solvers.push(name);
        }
    }
    let heads: String = cases.iter().map(|c| format!("<th>{c}</th>")).collect();
    let mut text = format!(
        "\n<div style=\"overflow-x: auto\">\n<table>\n<thead><tr><th>engine, version, solver</th>{heads}</tr>\
         </thead>\n<tbody>\n"
    );
    for name in &solvers {
        let cell = |case: &&str| {
            let found = |e: &&&Value| string(e, "case") == *case && solver(e) == *name;
            entries
                .iter()
                .find(found)
                .map_or_else(|| "<td>not run</td>".to_owned(), |entry| map_cell(entry))
        };
        let cells: String = cases.iter().map(cell).collect();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "<tr><th style=\"text-align: left\">{name}</th>{cells}</tr>"
        );
    }
    text.push_str("</tbody>\n</table>\n</div>\n");
    text
}

/// Writes a table cell with the remaining energy and the distance to the nearest impact law. The background is green if the
/// outcome is that of a law; otherwise it is redder for each decade of the distance.
fn map_cell(entry: &Value) -> String {
    let number = |key: &str| entry[key].as_f64().unwrap_or(f64::NAN);
    let matches = entry["matches"]
        .as_array()
        .is_some_and(|laws| !laws.is_empty());
    let distance = number("distance");
    let (color, text) = if matches {
        ("0, 158, 115, 0.3".to_owned(), "a law".to_owned())
    } else {
        let share = ((distance.log10() + 5.0) / 5.0).clamp(0.0, 1.0);
        let alpha = 0.1 + 0.5 * share;
        (format!("213, 94, 0, {alpha:.2}"), format!("{distance:.1e}"))
    };
    format!(
        "<td style=\"background: rgba({color}); text-align: center\">{}<br><small>{text}</small></td>",
        short(number("energy_ratio"))
    )
}

fn string<'v>(entry: &'v Value, key: &str) -> &'v str {
    entry[key].as_str().unwrap_or_default()
}

/// Returns the name and version of a physics engine, followed by the name of its solver.
fn solver(entry: &Value) -> String {
    format!(
        "{} {}, {}",
        string(entry, "engine"),
        string(entry, "version"),
        string(entry, "solver")
    )
}

/// Formats a number with four decimals; a negative zero is written without a sign.
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

    /// An answer of a law is green, a far one redder than a near one, a case that was not run says so.
    #[test]
    fn the_map_tells_near_from_far() {
        let entry = |case: &str, distance: f64, matches: Value| {
            serde_json::json!({
                "case": case, "engine": "E", "version": "1", "solver": case, "energy_ratio": 1.1,
                "distance": distance, "matches": matches,
            })
        };
        let all = [
            entry("a", 0.0, serde_json::json!([{"law": "x"}])),
            entry("b", 1e-3, serde_json::json!([])),
            entry("c", 1.0, serde_json::json!([])),
        ];
        let alpha = |cell: &str| -> f64 {
            let (_, rest) = cell.split_once("213, 94, 0, ").unwrap();
            rest.split_once(')').unwrap().0.parse().unwrap()
        };
        assert!(map_cell(&all[0]).contains("a law"));
        assert!(alpha(&map_cell(&all[1])) < alpha(&map_cell(&all[2])));
        let entries: Vec<&Value> = all.iter().collect();
        assert_eq!(
            map(&entries, &["a", "b", "c"]).matches("not run").count(),
            6
        );
    }

    #[test]
    fn a_velocity_of_nothing_has_no_sign() {
        assert_eq!(short(-1e-6), "0.0000");
        assert_eq!(short(-0.5), "-0.5000");
    }
}
