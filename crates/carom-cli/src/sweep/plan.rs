//! `carom sweep plan` and `carom sweep cell`: show the cells that a sweep will compute.

use crate::Failure;
use carom_sweep::{Estimate, Plan, estimate};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `carom sweep plan`.
#[derive(clap::Args)]
pub(super) struct PlanArgs {
    /// The plan, in TOML.
    plan: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Try 64 cells, and say how long all will take and how large the table will be.
    #[arg(long)]
    estimate: bool,
}

/// Arguments of `carom sweep cell`.
#[derive(clap::Args)]
pub(super) struct CellArgs {
    /// The plan, in TOML.
    plan: PathBuf,
    /// Numbers of cells.
    #[arg(required = true, value_name = "K")]
    cells: Vec<u64>,
    /// Print the configuration of one cell of a scenario as TOML, for `carom run`.
    #[arg(long)]
    toml: bool,
}

pub(super) fn plan(args: &PlanArgs) -> Result<(), Failure> {
    let plan = Plan::read(&args.plan)?;
    plan.check_columns()?;
    let estimated = args.estimate.then(|| estimate(&plan)).transpose()?;
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{:#}", as_json(&plan, estimated.as_ref()))?;
    } else {
        write!(out, "{}", in_words(&plan, estimated.as_ref()))?;
    }
    Ok(())
}

pub(super) fn cell(args: &CellArgs) -> Result<(), Failure> {
    let plan = Plan::read(&args.plan)?;
    let mut lines = String::new();
    if args.toml {
        let [cell] = args.cells.as_slice() else {
            let message = "--toml prints the configuration of one cell";
            return Err(Failure::Usage(message.to_owned()));
        };
        let text = plan.cell_toml(*cell)?;
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(());
    }
    for cell in &args.cells {
        lines.push_str(&plan.cell(*cell)?.line());
        lines.push('\n');
    }
    std::io::stdout().lock().write_all(lines.as_bytes())?;
    Ok(())
}

fn as_json(plan: &Plan, estimate: Option<&Estimate>) -> Value {
    let columns: Vec<Value> = plan
        .columns()
        .iter()
        .map(|column| json!({ "name": column.name, "type": column.kind.name() }))
        .collect();
    let mut value = json!({
        "name": plan.name(),
        "digest": plan.digest(),
        "numerics": carom::NUMERICS_VERSION,
        "cells": plan.n_cells(),
        "shards": plan.n_shards(),
        "columns": columns,
    });
    if let (Value::Object(fields), Some(estimate)) = (&mut value, estimate) {
        fields.insert("estimate".to_owned(), json!(estimate));
    }
    value
}

fn in_words(plan: &Plan, estimate: Option<&Estimate>) -> String {
    let mut text = format!(
        "{}: {} cells in {} shards\ndigest {}\n",
        plan.name(),
        plan.n_cells(),
        plan.n_shards(),
        plan.digest()
    );
    let width = plan.columns().iter().map(|column| column.name.len()).max();
    for column in plan.columns() {
        let width = width.unwrap_or_default();
        text.push_str(&format!(
            "  {:width$}  {}\n",
            column.name,
            column.kind.name()
        ));
    }
    if let Some(estimate) = estimate {
        let Estimate {
            tried,
            errors,
            seconds_on_one_core,
            cores,
            seconds_on_all_cores,
            bytes,
        } = estimate;
        text.push_str(&format!(
            "of {tried} cells tried {errors} have errors; about {} on 1 core, {} on {cores}, \
             {:.1} MB\n",
            duration(*seconds_on_one_core),
            duration(*seconds_on_all_cores),
            *bytes as f64 / 1e6
        ));
    }
    text
}

/// Formats a duration, given in seconds, in a suitable unit: seconds, minutes, hours or days.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}
