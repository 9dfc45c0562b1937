//! `carom list`, `carom show` and `carom run`: the scenarios.

use crate::{Failure, text};
use carom::report::export;
use carom::report::input::{MAX_TOML_BYTES, read_text};
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
    /// Write record.json, *.csv, every figure and index.html into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Formats of the figures: svg, and png and pdf where they are built in.
    #[arg(
        long,
        value_name = "FORMATS",
        value_delimiter = ',',
        default_value = "svg",
        requires = "out"
    )]
    format: Vec<export::Format>,
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
    let width = SCENARIOS.iter().map(|s| s.name.len()).max().unwrap_or(0) + 4;
    let mut papers: Vec<&str> = Vec::new();
    for s in SCENARIOS {
        if !papers.contains(&s.paper) {
            papers.push(s.paper);
        }
    }
    for (k, paper) in papers.into_iter().enumerate() {
        if k > 0 {
            writeln!(out)?;
        }
        write!(out, "{}", text::entry("", 0, paper))?;
        for s in SCENARIOS.iter().filter(|s| s.paper == paper) {
            let description = format!("{} [{}]", s.summary, s.reproduces);
            write!(
                out,
                "{}",
                text::entry(&format!("  {}", s.name), width, &description)
            )?;
        }
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

pub(crate) fn run(args: &RunArgs, is_quiet: bool) -> Result<(), Failure> {
    let scenario = find(&args.name)?;
    let toml = match &args.config {
        None => String::new(),
        Some(path) => read_text(path, MAX_TOML_BYTES)
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
            file: args.config.clone(),
            assignments,
            progress: crate::progress::on_terminal(is_quiet),
        })
        .map_err(|error| {
            // A file has its name in front already.
            let text = error.to_string();
            let file = args.config.as_ref().map(|path| path.display().to_string());
            let message = match file {
                Some(file) if text.starts_with(&file) => text,
                _ => format!("{}: {text}", scenario.name),
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
        Some(dir) => export::write_all(&record, dir, &args.format).map_err(unwritable)?,
        None => Vec::new(),
    };
    if is_quiet && !args.json && args.out.is_some() {
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    write!(out, "{text}")?;
    if !args.json {
        match &args.out {
            Some(dir) => writeln!(out, "\nwrote {} files to {}", written.len(), dir.display())?,
            None => writeln!(out, "\nadd --out DIR for figures, tables and the record")?,
        }
    }
    // A run that stopped on its way has a record, and has failed.
    match record.results.get("error").and_then(|e| e.get("message")) {
        Some(message) => Err(Failure::Unsolved(format!(
            "{}: {}",
            record.scenario,
            message.as_str().unwrap_or("stopped")
        ))),
        None => Ok(()),
    }
}

fn find(name: &str) -> Result<&'static Scenario, Failure> {
    scenario(name).ok_or_else(|| {
        let names = SCENARIOS.iter().map(|s| s.name);
        let hint = text::did_you_mean(name, names).unwrap_or_else(|| "see `carom list`".to_owned());
        Failure::Usage(format!("unknown scenario `{name}`; {hint}"))
    })
}
