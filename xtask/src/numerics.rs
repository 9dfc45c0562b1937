//! `cargo xtask numerics`: the version of carom's numbers moves exactly when golden numbers of a release move.
//!
//! `crates/carom-numeric/golden.toml` holds the version and a digest of every golden record's
//! quantities and tables. Until the first release (`released = false`) the version is 1 and numbers may move; each move is
//! seen in the file. The release sets `released = true`, and from then on the version is raised where a number moves. Numbers
//! are rounded to eight digits before they are digested, which is wider than what `verify` calls equal.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use carom_numeric::NUMERICS_VERSION;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Flags of `cargo xtask numerics`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the digests of the golden records as they are, if the version fits them.
    #[arg(long)]
    bless: bool,
    /// Compare with the digests of this Git revision, too.
    #[arg(long, value_name = "REVISION")]
    base: Option<String>,
}

/// File of the digests, beside the version.
const FILE: &str = "crates/carom-numeric/golden.toml";

/// Digits after the first one that count.
const DECIMALS: usize = 7;

/// Below this a number is rounding, and counts as zero.
const NOISE: f64 = 1e-11;

/// Version until the first release, and of it.
const FIRST: u32 = 1;

/// A version of the numbers: the digest of every golden record, by scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    version: u32,
    /// True if numbers of this version or an earlier one have been released.
    #[serde(default)]
    released: bool,
    digests: BTreeMap<String, String>,
}

pub(crate) fn numerics(root: &Path, args: &Args) -> anyhow::Result<Vec<String>> {
    let path = root.join(FILE);
    let written = match fs::read_to_string(&path) {
        Ok(text) => Some(toml::from_str::<Numbers>(&text).context(FILE)?),
        Err(_) => None,
    };
    let present = Numbers {
        version: NUMERICS_VERSION,
        released: written.as_ref().is_some_and(|written| written.released),
        digests: digests(&root.join("golden"))?,
    };
    let mut lines = Vec::new();
    if let Some(base) = &args.base {
        match file_at(root, base)? {
            Some(text) => lines.extend(faults(&toml::from_str(&text).context(FILE)?, &present)),
            None => println!("{base} has no {FILE}: nothing to compare with"),
        }
    }
    if args.bless {
        lines.extend(written.iter().flat_map(|written| faults(written, &present)));
        if lines.is_empty() {
            let text = format!(
                "# Written by `cargo xtask numerics --bless`; the first release sets `released = true`.\n{}",
                toml::to_string(&present)?
            );
            fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        }
    } else if written.as_ref() != Some(&present) {
        lines.extend(written.iter().flat_map(|written| faults(written, &present)));
        lines.push(format!(
            "{FILE} is not up to date: `cargo xtask numerics --bless`"
        ));
    }
    Ok(lines)
}

/// Reads the file of digests as of the Git revision `revision`; `None` if the file did not exist.
fn file_at(root: &Path, revision: &str) -> anyhow::Result<Option<String>> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .current_dir(root)
            .args(arguments)
            .output();
        output.context("git cannot be run")
    };
    let known = git(&["rev-parse", "--verify", "--quiet", revision])?;
    ensure!(known.status.success(), "git knows no revision `{revision}`");
    let shown = git(&["show", &format!("{revision}:{FILE}")])?;
    Ok(shown
        .status
        .success()
        .then(|| String::from_utf8_lossy(&shown.stdout).into_owned()))
}

/// Checks the version number of the numerical results against earlier ones. Returns one line if it is not [`FIRST`] before the
/// first release, or if after it the version and the numbers did not move together.
fn faults(earlier: &Numbers, later: &Numbers) -> Vec<String> {
    if earlier.released {
        moved(earlier, later)
    } else if later.version == FIRST {
        Vec::new()
    } else {
        vec![format!(
            "nothing is released: NUMERICS_VERSION is {FIRST}, not {}",
            later.version
        )]
    }
}

/// Checks that the version number of the numerical results was raised if and only if digests of results changed. Returns one
/// line if not. Scenarios that exist only in `earlier` or only in `later` are ignored.
fn moved(earlier: &Numbers, later: &Numbers) -> Vec<String> {
    let different: Vec<&str> = later
        .digests
        .iter()
        .filter(|(name, digest)| {
            let before = earlier.digests.get(*name);
            before.is_some_and(|before| before != *digest)
        })
        .map(|(name, _)| name.as_str())
        .collect();
    let (from, to) = (earlier.version, later.version);
    if to < from {
        return vec![format!("NUMERICS_VERSION went back from {from} to {to}")];
    }
    match (different.is_empty(), from == to) {
        (true, true) | (false, false) => Vec::new(),
        (false, true) => vec![format!(
            "numbers moved ({}) and NUMERICS_VERSION is still {to}: raise it, and say why in CHANGELOG.md",
            different.join(", ")
        )],
        (true, false) => vec![format!(
            "NUMERICS_VERSION went from {from} to {to}, and no number moved"
        )],
    }
}

fn digests(golden: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    for entry in fs::read_dir(golden).with_context(|| format!("reading {}", golden.display()))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let record =
            serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        digests.insert(name.into_owned(), digest(&record));
    }
    ensure!(!digests.is_empty(), "no record in {}", golden.display());
    Ok(digests)
}

/// Computes the 64-bit FNV-1a digest of the names and rounded values of a record's quantities and tables.
fn digest(record: &Value) -> String {
    let mut text = String::new();
    for quantity in list(record, "quantities") {
        write(&quantity["name"], &mut text);
        // Means over ensembles and bounded errors are no numbers that another machine has to all digits.
        if quantity.get("standard_error").is_none() && quantity.get("at_most").is_none() {
            write(&quantity["value"], &mut text);
        }
    }
    for table in list(record, "tables") {
        write(&table["name"], &mut text);
        for column in list(table, "columns") {
            write(&column["name"], &mut text);
        }
        write(&table["rows"], &mut text);
    }
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Appends a JSON value to `text`: names unchanged, numbers rounded.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(entries) => entries.iter().for_each(|entry| write(entry, text)),
        Value::Number(number) => {
            let x = number.as_f64().unwrap_or_default();
            let x = if x.abs() < NOISE { 0.0 } else { x };
            text.push_str(&format!("{x:.DECIMALS$e};"));
        }
        other => text.push_str(&format!("{other};")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn numbers(version: u32, digest: &str) -> Numbers {
        Numbers {
            version,
            released: true,
            digests: BTreeMap::from([("cradle".to_owned(), digest.to_owned())]),
        }
    }

    #[test]
    fn the_version_moves_exactly_when_a_number_does() {
        let before = numbers(1, "a");
        assert!(moved(&before, &numbers(1, "a")).is_empty());
        assert!(moved(&before, &numbers(2, "b")).is_empty());
        assert!(moved(&before, &numbers(1, "b"))[0].contains("raise it"));
        assert!(moved(&before, &numbers(2, "a"))[0].contains("no number moved"));
        assert!(moved(&before, &numbers(0, "b"))[0].contains("went back"));
    }

    #[test]
    fn numbers_move_freely_before_the_first_release() {
        let mut before = numbers(1, "a");
        before.released = false;
        assert!(faults(&before, &numbers(1, "b")).is_empty());
        assert!(faults(&before, &numbers(2, "b"))[0].contains("nothing is released"));
        before.released = true;
        assert!(faults(&before, &numbers(1, "b"))[0].contains("raise it"));
    }

    #[test]
    fn means_and_bounds_are_left_out_of_the_digest() {
        let record = |value: f64, key: &str| {
            let mut quantity = json!({"name": "q", "value": value});
            quantity[key] = json!(0.5);
            digest(&json!({"quantities": [quantity]}))
        };
        for key in ["standard_error", "at_most"] {
            assert_eq!(record(1.0, key), record(2.0, key));
        }
        assert_ne!(record(1.0, "within"), record(2.0, "within"));
    }

    #[test]
    fn a_new_scenario_is_no_move() {
        let mut later = numbers(1, "a");
        later.digests.insert("new".to_owned(), "c".to_owned());
        assert!(moved(&numbers(1, "a"), &later).is_empty());
        assert!(moved(&later, &numbers(1, "a")).is_empty());
    }

    #[test]
    fn the_digest_sees_numbers_and_not_rounding() {
        let record = |value: f64| {
            let table = json!({"name": "t", "columns": [{"name": "x"}], "rows": [[value], [2.0]]});
            json!({"quantities": [{"name": "q", "value": 0.1}], "tables": [table]})
        };
        let first = digest(&record(1.0 / 3.0));
        assert_eq!(first, digest(&record(1.0 / 3.0 * (1.0 + 1e-13))));
        assert_ne!(first, digest(&record(1.0 / 3.0 * (1.0 + 1e-6))));
        assert_eq!(digest(&record(3e-16)), digest(&record(-2e-15)));
        assert_ne!(first, digest(&json!({})));
    }
}
