//! `carom sweep`: computes many impacts as one table, in a folder that stays valid if processes are killed.

mod ask;
mod launch;
mod plan;
mod progress;
mod run;
mod table;

use crate::Failure;
use carom_sweep::SweepError;
use clap::Subcommand;
use std::ffi::OsString;

/// Arguments of `carom sweep`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check a plan: its cells, shards, digest and columns. Writes nothing.
    Plan(plan::PlanArgs),
    /// Print the lines that are answered for some cells, one JSON object a line.
    Cell(plan::CellArgs),
    /// Compute the shards that a folder lacks, and those that are damaged. After Ctrl-C the exit status is 1; run again to go on.
    Run(run::Args),
    /// Say which shards of a folder are there, and whole: exit status 0 if all are.
    Status(table::StatusArgs),
    /// Make one table of the shards of one or more folders.
    Merge(table::MergeArgs),
    /// Answer points that an optimizer asks one by one, with a journal that replays.
    Ask(ask::Args),
    /// Print a script that runs a sweep on this machine, Slurm or Ray.
    Launch(launch::Args),
    /// Draw a column of a merged table over two others.
    Figure(table::FigureArgs),
}

pub(crate) fn sweep(args: &Args, program: &[OsString], is_quiet: bool) -> Result<(), Failure> {
    match &args.command {
        Command::Plan(args) => plan::plan(args),
        Command::Cell(args) => plan::cell(args),
        Command::Run(args) => run::run(args, is_quiet),
        Command::Status(args) => table::status(args),
        Command::Merge(args) => table::merge(args, is_quiet),
        Command::Ask(args) => ask::ask(args),
        Command::Launch(args) => launch::launch(args, program),
        Command::Figure(args) => table::figure(args),
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        if error.is_incomplete() {
            Self::Unsolved(error.to_string())
        } else {
            Self::Usage(error.to_string())
        }
    }
}
