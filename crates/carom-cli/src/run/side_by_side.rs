//! Runs that differ in the value of one key, side by side.

use super::{Chosen, RunArgs, record, stopped, tell};
use crate::Failure;
use crate::interrupt::{print, whole};
use crate::progress::Meter;
use carom::report::compare::{ComparedRun, comparison};
use carom::report::export;
use carom::scenarios::Scenario;

/// Fewest and most runs.
const RUNS: std::ops::RangeInclusive<usize> = 2..=6;

/// Key with the values of the runs.
pub(super) struct Several {
    key: String,
    values: Vec<String>,
}

impl Several {
    /// Reads the key and the values from the command line; `None` if it asks for one run.
    pub(super) fn new(args: &RunArgs, scenario: &Scenario) -> Result<Option<Self>, Failure> {
        let (key, list) = match (&args.law, &args.compare) {
            (Some(laws), _) => (law_key(scenario)?, laws.as_str()),
            (None, Some(text)) => {
                let (key, list) = text.split_once('=').ok_or_else(|| {
                    Failure::Usage(format!("--compare {text}: expected key.path=A,B"))
                })?;
                (key.trim().to_owned(), list)
            }
            (None, None) => return Ok(None),
        };
        if !args.films().is_empty() {
            let message = "--format: films are of one run; leave out --law and --compare";
            return Err(Failure::Usage(message.to_owned()));
        }
        let values = values(list);
        let fault = |message: String| Err(Failure::Usage(format!("`{key}` = {list}: {message}")));
        if !RUNS.contains(&values.len()) {
            let words = match values.len() {
                1 => "one value, and 2 to 6 are compared".to_owned(),
                n => format!("{n} values, and 2 to 6 are compared"),
            };
            return fault(words);
        }
        if values.iter().any(String::is_empty) {
            return fault("a value is empty".to_owned());
        }
        for (k, value) in values.iter().enumerate() {
            if values.iter().take(k).any(|other| is_equal(other, value)) {
                return fault(format!("`{value}` is there twice"));
            }
        }
        Ok(Some(Self { key, values }))
    }
}

/// Returns the key of the law of a scenario that `--law` compares.
fn law_key(scenario: &Scenario) -> Result<String, Failure> {
    let keys = scenario.keys();
    let candidates = ["law.several", "law.name", "law"];
    let found = candidates
        .iter()
        .find(|key| keys.iter().any(|own| own == *key));
    found.map(|key| (*key).to_owned()).ok_or_else(|| {
        let name = scenario.name;
        Failure::Usage(format!(
            "--law: `{name}` has no key of a law; --compare takes any key"
        ))
    })
}

/// Splits a list at its commas, apart from those within brackets and quotes.
fn values(list: &str) -> Vec<String> {
    let (mut depth, mut quote) = (0_i32, None);
    let mut values = vec![String::new()];
    for letter in list.chars() {
        match (letter, quote) {
            (',', None) if depth == 0 => {
                values.push(String::new());
                continue;
            }
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth -= 1,
            ('"' | '\'', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            _ => (),
        }
        if let Some(value) = values.last_mut() {
            value.push(letter);
        }
    }
    values.iter().map(|value| value.trim().to_owned()).collect()
}

/// Returns a value without the quotes around it.
fn unquoted(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

/// True if two values are one text or one number.
fn is_equal(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    unquoted(a) == unquoted(b) || number(a).is_some_and(|a| number(b) == Some(a))
}

/// Runs a scenario once with each value, and prints and writes the runs side by side.
pub(super) fn run(
    several: &Several,
    args: &RunArgs,
    chosen: &Chosen,
    is_quiet: bool,
) -> Result<(), Failure> {
    let unwritable = |e: export::ExportError| Failure::Usage(e.to_string());
    let meter = Meter::new(chosen.scenario.name, is_quiet);
    let mut runs = Vec::new();
    for value in &several.values {
        let set = format!("{}={value}", several.key);
        let record = record(args, chosen, Some(&set), &meter)?;
        runs.push(ComparedRun::new(unquoted(value), set, record));
    }
    let found = comparison(&runs);
    let out = match &args.out {
        Some(dir) => {
            let write = || export::write_compared(&runs, &found, dir, &args.figures());
            Some((dir.as_path(), whole(write).map_err(unwritable)?.len()))
        }
        None => None,
    };
    drop(meter);
    if !is_quiet {
        for run in &runs {
            tell(&run.record, args.json, &run.set);
        }
    }
    let text = if args.json {
        format!("{found:#}\n")
    } else {
        let name = chosen.scenario.name;
        let told = export::compared_summary(&runs, &found);
        format!("{name}: {} side by side\n\n{told}", several.key)
    };
    print(&text, args.json, is_quiet, out)?;
    let failed = runs.iter().find_map(|run| stopped(&run.record));
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_their_own_commas() {
        assert_eq!(values("0.1, 0.5,0.9"), ["0.1", "0.5", "0.9"]);
        assert_eq!(values("[0, 1],[1, 0]"), ["[0, 1]", "[1, 0]"]);
        assert_eq!(values("\"a,b\",'c'"), ["\"a,b\"", "'c'"]);
        assert!(is_equal("0.5", "0.50") && is_equal("\"a\"", "a") && !is_equal("a", "b"));
    }
}
