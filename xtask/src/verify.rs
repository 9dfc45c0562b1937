//! `cargo xtask verify`: every scenario still gives the numbers that were blessed, and those that
//! the papers print.

use crate::{engines, golden, told};
use anyhow::{Context, bail, ensure};
use carom_scenarios::{Overrides, Record, SCENARIOS, Scenario, record_words};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Flags of `cargo xtask verify`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only scenarios whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Overwrite the golden records instead of comparing with them.
    #[arg(long)]
    bless: bool,
    /// Compare records byte for byte as they would be blessed, so that not even a last digit may move.
    #[arg(long, conflicts_with = "bless")]
    exact: bool,
}

/// Relative tolerance; wide enough for another libm, narrow enough to catch a changed impact.
const RTOL: f64 = 1e-9;

/// Values this small are rounding: residuals, zeros of theorems.
const ATOL: f64 = 1e-12;

/// Number of standard errors by which two means over ensembles may differ.
const STANDARD_ERRORS: f64 = 5.0;

/// Relative tolerance for values of closed forms and of independent computations.
const REFERENCE_TOLERANCE: f64 = 1e-9;

pub(crate) fn verify(root: &Path, args: &Args) -> anyhow::Result<()> {
    let chosen: Vec<&Scenario> = SCENARIOS
        .iter()
        .filter(|s| {
            args.only
                .as_ref()
                .is_none_or(|text| s.name.contains(text.as_str()))
        })
        .collect();
    let tells = args
        .only
        .as_ref()
        .is_none_or(|text| told::NAME.contains(text.as_str()));
    if chosen.is_empty() && !tells {
        bail!(
            "no scenario's name contains `{}`",
            args.only.as_deref().unwrap_or_default()
        );
    }
    let golden = root.join("golden");
    let mut faults = 0;
    let mut words = BTreeMap::new();
    for scenario in &chosen {
        let fresh = scenario.run(&Overrides::default()).context(scenario.name)?;
        let path = golden.join(format!("{}.json", scenario.name));
        words.insert(scenario.name, record_words(&fresh));
        let mut lines = against_expected(&fresh);
        if scenario.name == engines::SCENARIO {
            lines.extend(engines::check(root, &fresh, args.bless)?);
        }
        if args.bless {
            std::fs::create_dir_all(&golden)?;
            std::fs::write(&path, golden::text(&fresh)?)?;
        } else {
            match read(&path) {
                Ok(_) if args.exact => lines.extend(byte_differences(&path, &fresh)?),
                Ok(kept) => lines.extend(differences(&kept, &fresh)),
                Err(error) => lines.push(format!("{error:#}")),
            }
        }
        faults += lines.len();
        println!(
            "{}: {}",
            scenario.name,
            if lines.is_empty() { "ok" } else { "DIFFERS" }
        );
        for line in lines.iter().take(20) {
            println!("    {line}");
        }
        if lines.len() > 20 {
            println!("    and {} more", lines.len() - 20);
        }
    }
    faults += searched(root, &words, args.bless)?;
    if args.only.is_none() {
        faults += orphans(&golden, args.bless)?;
    }
    if tells {
        let (compared, lines) = told::check(root)?;
        let word = if lines.is_empty() { "ok" } else { "DIFFERS" };
        println!("{}: {word} ({compared} answers)", told::NAME);
        lines.iter().for_each(|line| println!("    {line}"));
        faults += lines.len();
    }
    ensure!(faults == 0, "verify: {faults} differences");
    let verb = if args.bless { "blessed" } else { "verified" };
    println!("{verb}: {} scenarios", chosen.len());
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Record> {
    let text = std::fs::read_to_string(path).with_context(|| {
        format!(
            "no golden record {}; `cargo xtask verify --bless` writes it",
            path.display()
        )
    })?;
    serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
}

/// Compares a stored record with the text of a new one. Returns a line about the first different line; the list is empty for
/// equal texts.
fn byte_differences(path: &Path, fresh: &Record) -> anyhow::Result<Vec<String>> {
    let (kept, fresh) = (std::fs::read_to_string(path)?, golden::text(fresh)?);
    if kept == fresh {
        return Ok(Vec::new());
    }
    let pairs = kept.lines().zip(fresh.lines()).enumerate();
    let mut pairs = pairs.filter(|(_, (old, new))| old != new);
    let line = pairs.next().map_or_else(
        || "one of the files is longer".to_owned(),
        |(k, (old, new))| format!("line {}: {} became {}", k + 1, old.trim(), new.trim()),
    );
    Ok(vec![line])
}

/// Finds stored records of scenarios that no longer exist. With `bless` their files are removed; otherwise they are printed.
/// Returns the number of printed ones.
fn orphans(golden: &Path, bless: bool) -> anyhow::Result<usize> {
    let mut found = 0;
    let files: Vec<PathBuf> = std::fs::read_dir(golden)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    for file in files {
        let name = file
            .file_stem()
            .and_then(|s| s.to_str())
            .unwrap_or_default()
            .to_owned();
        if SCENARIOS.iter().any(|s| s.name == name) {
            continue;
        }
        if bless {
            std::fs::remove_file(&file)?;
        } else {
            println!("{}: no scenario of that name", file.display());
            found += 1;
        }
    }
    Ok(found)
}

/// Compares the words of records that `carom list` searches, by scenario, with the stored ones. With `bless` they are stored;
/// otherwise the scenarios with a difference are printed. Returns the number of printed differences.
fn searched(root: &Path, words: &BTreeMap<&str, String>, bless: bool) -> anyhow::Result<usize> {
    let path = root.join("crates/carom-scenarios/src/search/records.txt");
    let stored = std::fs::read_to_string(&path)?;
    let stored: BTreeMap<&str, &str> = stored
        .lines()
        .filter_map(|line| Some((line.split_once(": ")?.0, line)))
        .collect();
    if bless {
        let line = |s: &Scenario| {
            let fresh = words.get(s.name).map(String::as_str);
            fresh.or_else(|| stored.get(s.name).copied())
        };
        let lines: Vec<&str> = SCENARIOS.iter().filter_map(line).collect();
        std::fs::write(&path, lines.join("\n") + "\n")?;
        return Ok(0);
    }
    let differ = words
        .iter()
        .filter(|(name, line)| stored.get(*name) != Some(&line.as_str()));
    let names: Vec<&str> = differ.map(|(name, _)| *name).collect();
    for name in &names {
        println!("{name}: other words than in {}", path.display());
    }
    Ok(names.len())
}

/// Compares the quantities of a record with their expected values. Returns one line for every quantity that differs from the
/// printed value without a reason, that has a reason but does not differ, or that differs from a closed form or an independent
/// value.
fn against_expected(record: &Record) -> Vec<String> {
    let mut lines = Vec::new();
    for q in &record.quantities {
        let (name, value) = (&q.name, q.value);
        match (q.paper, q.agrees_with_print(), &q.differs) {
            (Some(paper), false, None) => {
                let source = q.source.as_deref().unwrap_or_default();
                lines.push(format!("{name}: {value} where {source} prints {paper}"));
            }
            (_, true, Some(reason)) => {
                lines.push(format!("{name}: is the printed number, but `{reason}`"));
            }
            _ => {}
        }
        if let Some(bound) = q.at_most
            && !(value.abs() <= bound)
        {
            lines.push(format!("{name}: {value}, more than {bound}"));
        }
        if let Some(reference) = &q.reference {
            let (other, source) = (reference.value, &reference.source);
            let close = (value - other).abs() <= REFERENCE_TOLERANCE * other.abs().max(1.0);
            if !close {
                lines.push(format!("{name}: {value} where {source} gives {other}"));
            }
        }
    }
    lines
}

/// Compares the numbers of a stored record with those of a new one. Returns one line for every number that changed, appeared or
/// vanished.
fn differences(golden: &Record, fresh: &Record) -> Vec<String> {
    let (old, new) = (values(golden), values(fresh));
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut lines: Vec<String> = names
        .into_iter()
        .filter_map(|name| match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) if old.is_close(*new) => None,
            (old, new) => Some(format!("{name}: {old:?} became {new:?}")),
        })
        .collect();
    if golden.status != fresh.status {
        lines.push(format!("status: {} became {}", golden.status, fresh.status));
    }
    if golden.parameters != fresh.parameters {
        lines.push("parameters changed".to_owned());
    }
    if shape(golden) != shape(fresh) {
        lines.push("figures or animations changed in more than their numbers".to_owned());
    }
    lines
}

/// A number of a record, and what it may differ by.
#[derive(Clone, Copy, Debug)]
struct Number {
    value: f64,
    /// Standard error of a mean; 0 otherwise.
    standard_error: f64,
    /// True if only a bound of the number is known to repeat, which is checked on its own.
    is_bounded: bool,
}

impl Number {
    fn is_close(self, other: Self) -> bool {
        let (a, b) = (self.value, other.value);
        let spread = self.standard_error.hypot(other.standard_error);
        let is_finite = a.is_finite() && b.is_finite();
        self.is_bounded && other.is_bounded && is_finite
            || (a - b).abs() <= ATOL + RTOL * a.abs().max(b.abs()) + STANDARD_ERRORS * spread
    }
}

/// Returns every number in a record by a name that describes its place.
fn values(record: &Record) -> BTreeMap<String, Number> {
    let mut values = BTreeMap::new();
    for quantity in &record.quantities {
        let number = Number {
            value: quantity.value,
            standard_error: quantity.standard_error.unwrap_or_default(),
            is_bounded: quantity.at_most.is_some(),
        };
        values.insert(quantity.name.clone(), number);
    }
    for table in &record.tables {
        for (i, row) in table.rows.iter().enumerate() {
            for (column, value) in table.columns.iter().zip(row) {
                let number = Number {
                    value: *value,
                    standard_error: 0.0,
                    is_bounded: false,
                };
                values.insert(format!("{}[{i}].{}", table.name, column.name), number);
            }
        }
    }
    values
}

/// Returns the name of each figure with its number of marks, and the name of each animation. Other numbers in figures and
/// animations are not compared: the important ones stand in tables, and impacts add frames to an animation.
fn shape(record: &Record) -> Vec<(String, usize)> {
    let figures = record.figures.iter();
    let animations = record.animations.iter();
    figures
        .map(|f| (f.name.clone(), f.marks.len()))
        .chain(animations.map(|a| (a.name.clone(), 0)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_report::record::Quantity;

    fn record(value: f64) -> Record {
        let mut record = Record::new("a", "b");
        record
            .quantities
            .push(Quantity::new("energy_j", value, "J").closed_form(1.0, "Eq. 1"));
        record
    }

    #[test]
    fn a_value_that_moved_is_reported() {
        assert!(differences(&record(1.0), &record(1.0 + 1e-12)).is_empty());
        assert_eq!(differences(&record(1.0), &record(1.0 + 1e-7)).len(), 1);
        assert_eq!(differences(&record(1.0), &record(f64::NAN)).len(), 1);
    }

    #[test]
    fn means_may_differ_by_their_standard_errors() {
        let record = |values: &[f64]| {
            let mut record = Record::new("a", "b");
            record.quantities.push(Quantity::mean("m", values, ""));
            record
        };
        let golden = record(&[1.0, 2.0, 3.0]);
        assert!(differences(&golden, &record(&[1.5, 2.5, 3.5])).is_empty());
        assert_eq!(differences(&golden, &record(&[21.0, 22.0, 23.0])).len(), 1);
    }

    #[test]
    fn a_bounded_value_is_compared_with_its_bound_alone() {
        let record = |value: f64| {
            let mut record = Record::new("a", "b");
            record
                .quantities
                .push(Quantity::new("error_j", value, "J").at_most(1e-6));
            record
        };
        assert!(differences(&record(1e-8), &record(3e-8)).is_empty());
        assert!(against_expected(&record(1e-8)).is_empty());
        assert_eq!(against_expected(&record(-2e-6)).len(), 1);
    }

    #[test]
    fn a_value_that_vanished_is_reported() {
        assert_eq!(differences(&record(1.0), &Record::new("a", "b")).len(), 1);
    }

    #[test]
    fn a_value_that_misses_the_paper_is_reported() {
        assert!(against_expected(&record(1.0)).is_empty());
        assert_eq!(against_expected(&record(1.1)).len(), 1);
        assert_eq!(against_expected(&record(f64::NAN)).len(), 1);
    }
}
