//! `cargo xtask benchmarks`: the page of the book that lists every benchmark, made from what criterion measured last.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

/// Flags of `cargo xtask benchmarks`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder in which criterion keeps its measurements.
    #[arg(long, value_name = "DIR", default_value = "target/criterion")]
    measured: PathBuf,
}

/// The page, from the workspace's root.
const PAGE: &str = "docs/src/benchmarks.md";

/// Median of a benchmark and its confidence interval (ns).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    median: f64,
    low: f64,
    high: f64,
}

/// Writes the page.
pub(crate) fn benchmarks(root: &Path, args: &Args) -> anyhow::Result<()> {
    let mut found = BTreeMap::new();
    read(&root.join(&args.measured), &mut found)?;
    ensure!(
        !found.is_empty(),
        "{} has no measurements; run `cargo bench -p carom-benches --features bench` first",
        args.measured.display()
    );
    let path = root.join(PAGE);
    fs::write(&path, page(&found, &compiler()?, &processor()))
        .with_context(|| format!("writing {}", path.display()))?;
    println!("{PAGE}: {} benchmarks", found.len());
    Ok(())
}

/// Reads the latest measurement of every benchmark below a folder.
fn read(folder: &Path, found: &mut BTreeMap<String, Measured>) -> anyhow::Result<()> {
    if folder.ends_with("new") {
        let json = |name: &str| -> anyhow::Result<Value> {
            let path = folder.join(name);
            let text =
                fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            serde_json::from_str(&text).with_context(|| format!("parsing {}", path.display()))
        };
        let (benchmark, estimates) = (json("benchmark.json")?, json("estimates.json")?);
        let name = benchmark["full_id"]
            .as_str()
            .context("a benchmark has no name")?;
        let number = |place: &str| {
            let value = estimates.pointer(place).and_then(Value::as_f64);
            value.with_context(|| format!("{name}: no {place}"))
        };
        let measured = Measured {
            median: number("/median/point_estimate")?,
            low: number("/median/confidence_interval/lower_bound")?,
            high: number("/median/confidence_interval/upper_bound")?,
        };
        found.insert(name.to_owned(), measured);
        return Ok(());
    }
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            read(&path, found)?;
        }
    }
    Ok(())
}

/// The compiler that is in use.
fn compiler() -> anyhow::Result<String> {
    let output = Command::new("rustc")
        .arg("--version")
        .output()
        .context("rustc cannot be run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .split_whitespace()
        .take(2)
        .collect::<Vec<_>>()
        .join(" "))
}

/// Model of the processor and number of its cores, as far as the system tells.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, cores: {cores}")
}

fn page(found: &BTreeMap<String, Measured>, compiler: &str, processor: &str) -> String {
    let mut text = PREFACE.to_owned();
    let _ = writeln!(text, "Measured with {compiler} on: {processor}.");
    let mut group = "";
    for (name, measured) in found {
        let of_name = name.split('/').next().unwrap_or_default();
        if of_name != group {
            group = of_name;
            let _ = write!(
                text,
                "\n## {group}\n\n| benchmark | median | interval |\n| --- | --- | --- |\n"
            );
        }
        let [median, low, high] = [measured.median, measured.low, measured.high].map(time);
        let _ = writeln!(text, "| `{name}` | {median} | {low} – {high} |");
    }
    text
}

/// A time with three digits in the unit that suits it.
fn time(nanoseconds: f64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
    let (unit, size) = units
        .into_iter()
        .find(|(_, size)| nanoseconds >= *size)
        .unwrap_or(units[3]);
    let value = nanoseconds / size;
    let digits = match value {
        _ if value < 10.0 => 2,
        _ if value < 100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {unit}")
}

const PREFACE: &str = "\
# Benchmarks

Every benchmark with criterion's median of its last run and the 95 % confidence interval of the median. The page is
written by

```sh
cargo bench -p carom-benches --features bench
cargo xtask benchmarks
```

Numbers of different runs are not comparable where the machine is shared: ratios of one run are.
[Performance](performance.md) says what the cases are.

";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        assert_eq!(time(2.34567), "2.35 ns");
        assert_eq!(time(23456.7), "23.5 µs");
        assert_eq!(time(234.567e6), "235 ms");
        assert_eq!(time(0.5), "0.50 ns");
    }

    #[test]
    fn the_latest_measurement_is_listed() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        for (part, median) in [("base", 1.0), ("new", 2000.0)] {
            let place = folder.path().join("impact").join(part);
            fs::create_dir_all(&place)?;
            fs::write(place.join("benchmark.json"), r#"{"full_id": "impact/one"}"#)?;
            let interval = r#"{"lower_bound": 1500, "upper_bound": 2500}"#;
            fs::write(
                place.join("estimates.json"),
                format!(
                    r#"{{"median": {{"point_estimate": {median}, "confidence_interval": {interval}}}}}"#
                ),
            )?;
        }
        let mut found = BTreeMap::new();
        read(folder.path(), &mut found)?;
        let text = page(&found, "rustc 1.95.0", "made");
        assert!(text.ends_with("| `impact/one` | 2.00 µs | 1.50 µs – 2.50 µs |\n"));
        Ok(())
    }
}
