//! `carom analyse`: orbits of a world or a mechanism.

use crate::interrupt::{self, whole};
use crate::{Failure, with_suggestion};
use carom::report::export;
use carom::report::input::{MAX_TOML_BYTES, read_text};
use carom::report::record::Table;
use carom::scenarios::{Overrides, analyse};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Arguments of `carom analyse`.
#[derive(clap::Args)]
pub(crate) struct AnalyseArgs {
    /// Analysis: the file of a world or a mechanism, a section, and the tasks.
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Change one key of the system, after its file; may be repeated.
    #[arg(long = "set", value_name = "key.path=value")]
    set: Vec<String>,
    /// Write record.json, *.csv, every figure and index.html into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads; the record is the same for any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print the record as JSON instead of the tables.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &AnalyseArgs, is_quiet: bool) -> Result<(), Failure> {
    // One orbit is one chain of computations.
    let _ = args.threads;
    let read = |path: &Path| read_text(path, MAX_TOML_BYTES).map_err(|error| error.to_string());
    let unread = |error| Failure::Usage(format!("cannot read {}: {error}", args.file.display()));
    let overrides = Overrides {
        toml: read(&args.file).map_err(unread)?,
        file: Some(args.file.clone()),
        assignments: args.set.clone(),
        ..Overrides::default()
    };
    let record = analyse(&overrides, &read)
        .map_err(|error| Failure::Usage(with_suggestion(&error.to_string())))?;
    let unwritable = |e: export::ExportError| Failure::Usage(e.to_string());
    let text = if args.json {
        export::json(&record).map_err(unwritable)?
    } else {
        let table = export::summary(&record);
        let tables: String = record.tables.iter().map(rows).collect();
        format!(
            "{}: {}\n\nstatus: {}\n\n{tables}{table}",
            record.scenario, record.summary, record.status
        )
    };
    let out = match &args.out {
        Some(dir) => {
            let write = || export::write_all(&record, dir, &[export::Format::Svg]);
            Some((dir.as_path(), whole(write).map_err(unwritable)?.len()))
        }
        None => None,
    };
    interrupt::print(&text, args.json, is_quiet, out)?;
    if record.status == "completed" {
        return Ok(());
    }
    let reason = record
        .results
        .get("orbit")
        .and_then(|orbit| orbit["reason"].as_str());
    let (file, status) = (args.file.display(), &record.status);
    Err(Failure::Unsolved(format!(
        "{file}: {status}: {}",
        reason.unwrap_or_default()
    )))
}

/// Writes a table of the record as text.
fn rows(table: &Table) -> String {
    let mut out = format!("{}\n", table.caption);
    let heads: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
    if heads.len() > 1 {
        let cells: String = heads.iter().map(|head| format!("{head:>20}")).collect();
        let _ = writeln!(out, "{:20}{cells}", "");
    }
    for (k, row) in table.rows.iter().enumerate() {
        let name = table.labels.as_ref().and_then(|labels| labels.names.get(k));
        let cells: String = row.iter().map(|x| format!("{:>20}", short(*x))).collect();
        let _ = writeln!(out, "{:20}{cells}", name.map_or("", String::as_str));
    }
    out.push('\n');
    out
}

/// Writes a number with ten digits.
fn short(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 || (1e-3..1e6).contains(&size) {
        format!("{x:.10}")
    } else {
        format!("{x:.9e}")
    }
}
