//! Page of several runs side by side.

use super::{animation, escape, figure, page, quantities, remarks, sentence};
use crate::compare::{ComparedRun, is_close};
use crate::export::{ExportError, shown};
use crate::record::{Color, Figure, Mark};
use crate::{Account, Record};
use serde_json::Value;
use std::fmt::Write as _;

/// Style of the columns: beside each other, below each other on a narrow screen.
const STYLE: &str = "body { max-width: 100rem }\n\
    .columns { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)) }\n\
    .columns > * { min-width: 0 }\n\
    @media (max-width: 700px) { .columns { grid-template-columns: minmax(0, 1fr) } }\n";

const COLORS: [Color; 6] = [
    Color::Blue,
    Color::Vermillion,
    Color::Green,
    Color::Orange,
    Color::Purple,
    Color::Gray,
];

/// Writes a page with the runs side by side: a column for each run, whose players share one clock and one camera, and figures in
/// which the curves of all runs are drawn together. `folders`: name of the folder of each run; `comparison`: the comparison as
/// JSON.
///
/// # Errors
///
/// If a record cannot be drawn.
pub(crate) fn compared(
    runs: &[ComparedRun],
    folders: &[String],
    comparison: &Value,
) -> Result<String, ExportError> {
    let Some(first) = runs.first().map(|run| &run.record) else {
        return Ok(String::new());
    };
    let title = sentence(&first.summary);
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    let mut body = format!(
        "<h1>{}</h1>\n<p class=\"status\"><code>carom run {}</code> \u{b7} side by side: {} \u{b7} \
         <a href=\"compare.json\">compare.json</a></p>\n<p>{}</p>\n",
        escape(&title),
        escape(&first.scenario),
        escape(&labels.join(", ")),
        escape(&difference(comparison)),
    );
    let columns = |out: &mut String, show: &dyn Fn(&Record) -> Result<String, ExportError>| {
        out.push_str("<div class=\"columns compared\">\n");
        for run in runs {
            // On a phone the columns stand below each other, far from their headings.
            let label = escape(&run.label);
            let _ = writeln!(
                out,
                "<div>\n<p class=\"status\">{label}</p>\n{}</div>",
                show(&run.record)?
            );
        }
        out.push_str("</div>\n");
        Ok::<(), ExportError>(())
    };
    body.push_str("<div class=\"columns\">\n");
    for (run, folder) in runs.iter().zip(folders) {
        let account = Account::of(&run.record);
        let laws = account.laws.as_deref().unwrap_or_default();
        let _ = writeln!(
            body,
            "<div>\n<h2><a href=\"{}/index.html\">{}</a></h2>\n<p class=\"status\">{} \u{b7} {}</p>\n{}</div>",
            escape(folder),
            escape(&run.label),
            escape(&run.record.status),
            escape(laws),
            remarks(&account),
        );
    }
    body.push_str("</div>\n");
    for shown in &first.animations {
        let of = |record: &Record| {
            let mut all = record.animations.iter();
            all.find(|other| other.name == shown.name)
                .map_or(Ok(String::new()), animation)
        };
        let _ = writeln!(body, "<div id=\"{}\">", escape(&shown.name));
        columns(&mut body, &of)?;
        body.push_str("</div>\n");
    }
    for drawn in together(runs) {
        body.push_str(&figure(&drawn, "", &[])?);
    }
    columns(&mut body, &|record| Ok(quantities(&record.quantities)))?;
    Ok(page(&title, STYLE, &body, !first.animations.is_empty()))
}

/// Returns the first difference of the runs as a sentence.
pub(crate) fn difference(comparison: &Value) -> String {
    let Some(found) = comparison
        .get("first_difference")
        .filter(|found| !found.is_null())
    else {
        return without_event(comparison);
    };
    let time = found
        .get("time")
        .and_then(Value::as_f64)
        .unwrap_or_default();
    let bodies = found.get("bodies").and_then(Value::as_array);
    let bodies: Vec<&str> = bodies
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut text = format!("the runs differ first at {} s", shown(time));
    if !bodies.is_empty() {
        let _ = write!(text, ": {}", bodies.join(", "));
    }
    if let Some(law) = found.get("law").and_then(Value::as_str) {
        let _ = write!(text, " ({law})");
    }
    text
}

/// Tells of runs without an event after which they differ if their quantities are equal, or which of them are not.
fn without_event(comparison: &Value) -> String {
    let runs = comparison.get("runs").and_then(Value::as_array);
    let mut quantities = runs.into_iter().flatten().filter_map(|run| {
        let list = run.get("quantities")?.as_array()?;
        Some(list.as_slice())
    });
    let first = quantities.next().unwrap_or_default();
    let named = |list: &'_ [Value], name: &Value| {
        let found = list.iter().find(|one| one.get("name") == Some(name));
        found.and_then(|one| one.get("value")).cloned()
    };
    let mut differing: Vec<&str> = Vec::new();
    for other in quantities {
        for name in first.iter().filter_map(|one| one.get("name")) {
            let values = [named(first, name), named(other, name)].map(Option::unwrap_or_default);
            let known = name.as_str().unwrap_or_default();
            if !is_close(&values[0], &values[1]) && !differing.contains(&known) {
                differing.push(known);
            }
        }
    }
    if differing.is_empty() {
        return "the runs are equal: no event and no quantity differs by more than 1e-9".to_owned();
    }
    let names = differing.join(", ");
    format!("no event is known after which the runs differ, but they differ in {names}")
}

/// Returns the figures that all runs have, each with the lines of all runs: a color for each run.
fn together(runs: &[ComparedRun]) -> Vec<Figure> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let all = first.record.figures.iter().filter_map(|figure| {
        let mut joined = Figure {
            marks: Vec::new(),
            ..figure.clone()
        };
        for (run, color) in runs.iter().zip(COLORS) {
            let own = run.record.figures.iter().find(|f| f.name == figure.name)?;
            let lines = own.marks.iter().filter_map(|mark| match mark {
                Mark::Line {
                    label: Some(label),
                    x,
                    y,
                    style,
                    ..
                } => Some(Mark::Line {
                    label: Some(format!("{label}, {}", run.label)),
                    x: x.clone(),
                    y: y.clone(),
                    style: *style,
                    color,
                }),
                _ => None,
            });
            joined.marks.extend(lines);
        }
        (!joined.marks.is_empty()).then_some(joined)
    });
    all.collect()
}
