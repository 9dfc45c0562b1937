//! `carom list`, `carom show` and `carom run`: the scenarios.

use crate::Failure;
use carom::report::export;
use carom::scenarios::{Overrides, SCENARIOS, Scenario, scenario};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `carom list`.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Print a JSON array.
    #[arg(long)]
    json: bool,
}

/// Arguments of `carom show`.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Scenario, as `carom list` names it.
    name: String,
}

/// Arguments of `carom run`.
#[derive(clap::Args)]
pub(crate) struct RunArgs {
    /// Scenario, as `carom list` names it.
    name: String,
    /// Configuration; keys left out keep their defaults (see `carom show`).
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// Change one key, after the file; may be repeated.
    #[arg(long = "set", value_name = "key.path=value")]
    set: Vec<String>,
    /// Seed of the random numbers, for scenarios that draw any.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write record.json, *.csv, *.svg and index.html into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the record as JSON instead of the summary.
    #[arg(long)]
    json: bool,
}

pub(crate) fn list(args: &ListArgs) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if args.json {
        let entry = |s: &Scenario| {
            json!({
                "name": s.name,
                "summary": s.summary,
                "paper": s.paper,
                "reproduces": s.reproduces,
            })
        };
        let entries: Vec<_> = SCENARIOS.iter().map(entry).collect();
        writeln!(out, "{:#}", json!(entries))?;
        return Ok(());
    }
    let width = SCENARIOS.iter().map(|s| s.name.len()).max().unwrap_or(0);
    for s in SCENARIOS {
        writeln!(
            out,
            "{:width$}  {} [{}: {}]",
            s.name, s.summary, s.paper, s.reproduces
        )?;
    }
    Ok(())
}

pub(crate) fn show(args: &ShowArgs) -> Result<(), Failure> {
    write!(
        std::io::stdout().lock(),
        "{}",
        find(&args.name)?.default_toml
    )?;
    Ok(())
}

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let scenario = find(&args.name)?;
    let toml = match &args.config {
        None => String::new(),
        Some(path) => std::fs::read_to_string(path)
            .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?,
    };
    let mut assignments = Vec::new();
    if let Some(seed) = args.seed
        && scenario
            .default_toml
            .lines()
            .any(|line| line.starts_with("seed "))
    {
        assignments.push(format!("seed={seed}"));
    }
    assignments.extend(args.set.iter().cloned());
    let record = scenario
        .run(&Overrides {
            toml,
            assignments,
            progress: crate::progress::on_terminal(),
        })
        .map_err(|error| {
            let file = args
                .config
                .as_ref()
                .filter(|_| error.to_string().starts_with("line "));
            let message = match file {
                Some(path) => format!("{}: {error}", path.display()),
                None => format!("{}: {error}", scenario.name),
            };
            if error.is_configuration() {
                Failure::Usage(message)
            } else {
                Failure::Unsolved(message)
            }
        })?;
    let unwritable = |e: export::ExportError| Failure::Usage(e.to_string());
    let text = if args.json {
        export::json(&record).map_err(unwritable)?
    } else {
        // Only an early end is news.
        let status = match record.status.as_str() {
            "completed" => String::new(),
            early => format!("status: {early}\n\n"),
        };
        let table = export::summary(&record);
        format!("{}: {}\n\n{status}{table}", record.scenario, record.summary)
    };
    let written = match &args.out {
        Some(dir) => export::write_all(&record, dir).map_err(unwritable)?,
        None => Vec::new(),
    };
    let mut out = std::io::stdout().lock();
    write!(out, "{text}")?;
    if !args.json {
        match &args.out {
            Some(dir) => writeln!(out, "\nwrote {} files to {}", written.len(), dir.display())?,
            None => writeln!(out, "\nadd --out DIR for figures, tables and the record")?,
        }
    }
    Ok(())
}

fn find(name: &str) -> Result<&'static Scenario, Failure> {
    scenario(name).ok_or_else(|| {
        let close = SCENARIOS
            .iter()
            .map(|s| s.name)
            .find(|s| s.contains(name) || name.contains(s));
        let hint = close.map_or_else(
            || "see `carom list`".to_owned(),
            |s| format!("did you mean `{s}`?"),
        );
        Failure::Usage(format!("unknown scenario `{name}`; {hint}"))
    })
}
