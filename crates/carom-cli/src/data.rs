//! `carom data`: measured impacts of any system, checked before any law is asked.

use crate::interrupt::whole;
use crate::progress::Meter;
use crate::unpack::{open, read_whole};
use crate::{Failure, text, with_suggestion};
use carom::report::input::MAX_TOML_BYTES;
use carom_fit::{Check, Checking, DataError, DataSetup, Measured};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// Arguments of `carom data`.
#[derive(clap::Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(clap::Subcommand)]
enum DataCommand {
    /// Check momentum, energy and order, and name what mends them: a sign, a unit, an instant, a point.
    Check(CheckArgs),
    /// Write measured impacts as JSON Lines for `judge`, `fit` or another program.
    States(StatesArgs),
}

#[derive(clap::Args)]
pub(crate) struct Source {
    /// Measured impacts: JSON Lines with the keys of `judge`, a table, or poses of a tracked body (name ends in .csv or
    /// .csv.gz); `-` is standard input.
    pub(crate) file: PathBuf,
    /// Columns and system of a table, the tracked body, names of coordinates, changes.
    #[arg(long, value_name = "CONFIG.toml")]
    config: Option<PathBuf>,
    /// Change to the data, after those of the configuration; may be given several times.
    #[arg(long, value_name = "CHANGE")]
    change: Vec<String>,
    /// Threads; the answer is the same for any number. Default: all cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Arguments of `carom data check`.
#[derive(clap::Args)]
struct CheckArgs {
    #[command(flatten)]
    source: Source,
    /// Seed of the halves and the resamples.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write data-check.json into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the check as JSON.
    #[arg(long)]
    json: bool,
}

/// Arguments of `carom data states`.
#[derive(clap::Args)]
struct StatesArgs {
    #[command(flatten)]
    source: Source,
    /// Write the lines into this file instead of standard output.
    #[arg(long, short, value_name = "OUT.jsonl")]
    output: Option<PathBuf>,
}

pub(crate) fn data(args: &DataArgs, is_quiet: bool) -> Result<(), Failure> {
    match &args.command {
        DataCommand::Check(args) => check(args, is_quiet),
        DataCommand::States(args) => states(args),
    }
}

impl Source {
    fn setup(&self) -> Result<DataSetup, Failure> {
        let Some(path) = &self.config else {
            if self.is_table() {
                let file = self.file.display();
                let message =
                    format!("{file}: a table needs --config CONFIG.toml with [data] and [system]");
                return Err(Failure::Usage(message));
            }
            return Ok(DataSetup::default());
        };
        let text = read_whole(path, MAX_TOML_BYTES)?;
        DataSetup::from_toml(&text).map_err(|e| refused(path, &e))
    }

    /// True if the name of the file is that of a table.
    fn is_table(&self) -> bool {
        let name = self.file.to_string_lossy().to_ascii_lowercase();
        [".csv", ".csv.gz"].iter().any(|end| name.ends_with(end))
    }

    fn reader(&self) -> Result<Box<dyn BufRead + Send>, Failure> {
        if self.file == Path::new("-") {
            return Ok(Box::new(BufReader::new(std::io::stdin())));
        }
        Ok(Box::new(BufReader::new(open(&self.file)?)))
    }

    /// Runs `work` on the threads that are asked for.
    pub(crate) fn pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.unwrap_or(0).into())
            .build()
            .map_err(|e| Failure::Usage(format!("cannot start threads: {e}")))?;
        Ok(pool.install(work))
    }

    /// Runs `work` on the threads that are asked for, and names the file in its errors.
    fn on_threads<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, DataError> + Send,
    ) -> Result<T, Failure> {
        self.pool(work)?.map_err(|e| match e {
            DataError::Change(message) => Failure::Usage(message),
            DataError::NoFlight { .. } | DataError::NoRestingPose => {
                Failure::Unsolved(format!("{}: {e}", self.file.display()))
            }
            e => refused(&self.file, &e),
        })
    }

    /// Reads all measured impacts.
    pub(crate) fn measured(&self) -> Result<Measured, Failure> {
        let setup = self.setup()?;
        let reader = self.reader()?;
        self.on_threads(|| setup.read(reader, self.is_table(), &self.change))
    }
}

fn refused(path: &Path, error: &DataError) -> Failure {
    let message = with_suggestion(&error.to_string());
    Failure::Usage(format!("{}: {message}", path.display()))
}

fn check(args: &CheckArgs, is_quiet: bool) -> Result<(), Failure> {
    let source = &args.source;
    let setup = source.setup()?;
    let reader = source.reader()?;
    let meter = Meter::new("check", is_quiet);
    let count = meter.counter("changes");
    let found = source.on_threads(|| {
        let checking = Checking::new(args.seed);
        checking.read(&setup, reader, source.is_table(), &source.change, &count)
    })?;
    drop(meter);
    let value = found.to_value();
    let json = format!("{value:#}\n");
    if let Some(dir) = &args.out {
        let write = || {
            std::fs::create_dir_all(dir)?;
            std::fs::write(dir.join("data-check.json"), &json)
        };
        whole(write).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", dir.display())))?;
    }
    if args.json || args.out.is_none() || !is_quiet {
        let text = if args.json {
            json
        } else {
            told(&found, &value)
        };
        let mut stdout = std::io::stdout().lock();
        whole(|| {
            stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush())
        })?;
    }
    match found.status() {
        "consistent" => Ok(()),
        _ => Err(Failure::Unsolved(String::new())),
    }
}

/// Tells a check in words.
fn told(check: &Check, value: &Value) -> String {
    let number = |path: &str| value.pointer(path).and_then(Value::as_f64);
    let percent =
        |path: &str| number(path).map_or_else(|| "-".to_owned(), |x| format!("{:.3} %", 100.0 * x));
    let count = |path: &str| value.pointer(path).map_or(0, |n| n.as_u64().unwrap_or(0));
    let mut lines = format!("status: {}\n\n", check.status());
    for finding in &check.findings {
        lines.push_str(&text::entry("", 0, &finding.sentence));
        let ways = std::iter::once(&finding.change).chain(&finding.equivalent);
        let ways: Vec<String> = ways.map(|change| format!("--change {change}")).collect();
        lines.push_str(&format!("  {}\n\n", ways.join("  or  ")));
    }
    let quantiles = |key: &str| {
        let at = |share: &str| percent(&format!("/{key}/{share}"));
        format!("{}, {}, {}", at("p10"), at("p50"), at("p90"))
    };
    let rows = [
        ("impacts", count("/data/impacts").to_string()),
        ("groups", count("/data/groups").to_string()),
        (
            "rows reach every direction",
            count("/data/untestable").to_string(),
        ),
        (
            "momentum that no row changes (10, 50, 90 %)",
            quantiles("momentum_residual"),
        ),
        (
            "energy after over before (10, 50, 90 %)",
            quantiles("energy_ratio"),
        ),
        ("gain energy", count("/energy_ratio/gained").to_string()),
        (
            "nothing approaches before",
            count("/approaching/separating_before").to_string(),
        ),
        (
            "a contact approaches after",
            count("/approaching/approaching_after").to_string(),
        ),
        ("contacts need to pull", count("/pulling").to_string()),
    ];
    for (name, value) in rows {
        lines.push_str(&format!("{name:<44} {value}\n"));
    }
    lines
}

fn states(args: &StatesArgs) -> Result<(), Failure> {
    let source = &args.source;
    // Nothing is written before the whole file has been read.
    let measured = source.measured()?;
    let lines = measured.states().iter().map(|state| state.to_line() + "\n");
    let text: String = lines.collect();
    if let Some(path) = &args.output {
        return whole(|| std::fs::write(path, &text))
            .map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())));
    }
    let mut stdout = std::io::stdout().lock();
    whole(|| {
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
    })?;
    Ok(())
}
