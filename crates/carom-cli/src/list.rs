//! `carom list`: scenarios by question, by words and by figures of the papers.

use crate::{Failure, text};
use carom::impact::LAWS;
use carom::scenarios::{Found, SCENARIOS, Scenario, groups, search};
use serde_json::{Value, json};
use std::io::Write;

/// Largest number of scenarios that a search prints.
const ROWS: usize = 20;

/// Arguments of `carom list`.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Only scenarios with every one of these words, such as `cradle`, `Routh` or `Seghete Fig. 5`, the best first.
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Print a JSON array.
    #[arg(long)]
    json: bool,
}

/// Prints all scenarios by question, or those that have all words.
pub(crate) fn list(args: &ListArgs) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if args.words.is_empty() && !args.json {
        write!(out, "{}", by_question())?;
        return Ok(());
    }
    let found = match args.words.as_slice() {
        [] => SCENARIOS.iter().collect(),
        words => match found(words)? {
            Found { scenarios, .. } if !scenarios.is_empty() => scenarios,
            other => {
                let empty = Value::Array(Vec::new());
                let text = beyond(&other, &words.join(" "));
                let json = args.json.then(|| format!("{empty}\n"));
                write!(out, "{}", json.unwrap_or(text))?;
                return Ok(());
            }
        },
    };
    let most = if args.words.is_empty() {
        found.len()
    } else {
        ROWS
    };
    let shown = found.get(..most).unwrap_or(&found);
    if args.json {
        let entries: Vec<Value> = shown.iter().map(|s| scenario_json(s)).collect();
        writeln!(out, "{:#}", json!(entries))?;
        return Ok(());
    }
    for scenario in shown {
        write!(out, "{}", row(scenario, width(shown)))?;
    }
    if found.len() > shown.len() {
        writeln!(
            out,
            "and {} more; another word finds fewer",
            found.len() - shown.len()
        )?;
    }
    Ok(())
}

/// Searches for scenarios, laws and chapters; the error that nothing is found suggests the nearest name.
fn found(words: &[String]) -> Result<Found, Failure> {
    let found = search(words);
    if !(found.scenarios.is_empty() && found.laws.is_empty() && found.chapters.is_empty()) {
        return Ok(found);
    }
    let names = SCENARIOS.iter().map(|s| s.name);
    let hint = words
        .first()
        .and_then(|word| text::did_you_mean(word, names));
    let hint = hint.unwrap_or_else(|| "see `carom list`".to_owned());
    let words = words.join(" ");
    Err(Failure::Usage(format!(
        "no scenario mentions `{words}`; {hint}"
    )))
}

fn by_question() -> String {
    let width = width(&SCENARIOS.iter().collect::<Vec<_>>());
    let mut lines = String::new();
    for (k, group) in groups().iter().enumerate() {
        if k > 0 {
            lines.push('\n');
        }
        lines.push_str(&text::entry("", 0, &group.question));
        let of_group = |name: &String| SCENARIOS.iter().find(|s| s.name == name);
        for scenario in group.cards.iter().filter_map(|card| of_group(&card.name)) {
            lines.push_str(&row(scenario, width));
        }
    }
    lines
}

/// Returns the column at which the texts of some scenarios begin.
fn width(scenarios: &[&Scenario]) -> usize {
    scenarios.iter().map(|s| s.name.len()).max().unwrap_or(0) + 4
}

fn row(scenario: &Scenario, width: usize) -> String {
    let source = format!("{}: {}", scenario.paper, scenario.reproduces);
    let source = source.strip_prefix("carom: ").unwrap_or(&source);
    let description = format!("{} [{source}]", scenario.summary);
    text::entry(&format!("  {}", scenario.name), width, &description)
}

/// Describes the laws and chapters that have words which no scenario has.
fn beyond(found: &Found, words: &str) -> String {
    let mut lines = format!("no scenario mentions `{words}`, but the book does\n");
    for law in LAWS.iter().filter(|law| found.laws.contains(&law.name)) {
        let title = format!("  law {}", law.name);
        lines.push_str(&text::entry(&title, 36, law.summary));
    }
    for (file, title) in &found.chapters {
        let text = format!("docs/src/{file}.md");
        lines.push_str(&text::entry(&format!("  chapter {title}"), 44, &text));
    }
    lines
}

/// Returns the entry of a scenario in `carom list --json`.
#[must_use]
pub fn scenario_json(scenario: &Scenario) -> Value {
    let (question, title) = scenario.question_and_title().unwrap_or_default();
    json!({
        "name": scenario.name,
        "title": title,
        "question": question,
        "summary": scenario.summary,
        "paper": scenario.paper,
        "reproduces": scenario.reproduces,
        "figures": scenario.figures(),
    })
}
