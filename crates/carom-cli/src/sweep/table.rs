//! `carom sweep status`, `merge` and `figure`: state of a folder, its merged table, and a figure of it.

use crate::Failure;
use carom::report::export::Format;
use carom_sweep::MergeOptions;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `carom sweep status`.
#[derive(clap::Args)]
pub(super) struct StatusArgs {
    /// Folder of a sweep.
    folder: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Arguments of `carom sweep merge`.
#[derive(clap::Args)]
pub(super) struct MergeArgs {
    /// Folders of one sweep.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The file: its name ends in .parquet, .csv or .jsonl.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Leave out what is missing or damaged, instead of refusing.
    #[arg(long)]
    partial: bool,
}

pub(super) fn status(args: &StatusArgs) -> Result<(), Failure> {
    let status = carom_sweep::status(&args.folder)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        let value = json!({
            "name": status.name,
            "digest": status.digest,
            "cells": status.cells,
            "shards": status.shards,
            "done": status.done,
            "missing": status.missing.to_string(),
            "damaged": status.damaged.to_string(),
            "complete": status.is_complete(),
        });
        writeln!(out, "{value}")?;
    } else {
        let (name, done, shards) = (&status.name, status.done, status.shards);
        writeln!(out, "{name}: {done} of {shards} shards")?;
        for (what, set) in [("missing", &status.missing), ("damaged", &status.damaged)] {
            if !set.is_empty() {
                writeln!(out, "{what}: {set}")?;
            }
        }
    }
    if status.is_complete() {
        Ok(())
    } else {
        Err(Failure::Unsolved(String::new()))
    }
}

pub(super) fn merge(args: &MergeArgs, is_quiet: bool) -> Result<(), Failure> {
    let options = MergeOptions::default().with_is_partial(args.partial);
    let merged = carom_sweep::merge(&args.folders, &args.output, &options)?;
    if !merged.left_out.is_empty() && !is_quiet {
        // An error of stderr is ignored, because the file is written.
        let _ = writeln!(std::io::stderr(), "left out: shards {}", merged.left_out);
    }
    writeln!(std::io::stdout().lock(), "{}", json!(merged))?;
    Ok(())
}

/// Arguments of `carom sweep figure`.
#[derive(clap::Args)]
pub(super) struct FigureArgs {
    /// A merged table, in Parquet.
    file: PathBuf,
    /// Column along the horizontal axis.
    #[arg(long, value_name = "COL")]
    x: String,
    /// Column along the vertical axis.
    #[arg(long, value_name = "COL")]
    y: String,
    /// Column that the color shows.
    #[arg(long, value_name = "COL")]
    color: String,
    /// The figure: its name ends in .svg, or .png or .pdf where they are built in.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn figure(args: &FigureArgs) -> Result<(), Failure> {
    let path = args.output.display();
    let format = args
        .output
        .extension()
        .and_then(|extension| extension.to_str());
    let format = format.unwrap_or_default().parse::<Format>();
    let format = format.map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    let figure = carom_sweep::map(&args.file, &args.x, &args.y, &args.color)?;
    let picture = format.draw(&figure);
    let picture = picture.map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
    std::fs::write(&args.output, picture)
        .map_err(|error| Failure::Usage(format!("cannot write {path}: {error}")))
}
