//! `cargo xtask siconos FOLDER`: friction problems of Siconos' collection.

#[path = "../../crates/carom-lcp/tests/it/scenes/siconos.rs"]
mod format;

use std::path::PathBuf;
use std::time::Instant;

use carom_lcp::contact_problem::{self, ContactProblem, Member, Operator, Refusal, Workspace};

/// Residual that every problem should reach.
const GOAL: f64 = 1e-12;

/// Flags of `cargo xtask siconos`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder with `.dat` files, as `numerics/src/FrictionContact/test/data` of Siconos.
    folder: PathBuf,
    /// Only files whose name contains this text.
    #[arg(long)]
    only: Option<String>,
}

/// Solves the friction problems in all files of a folder whose names end in `.dat`, and prints one line for each. Fails if a
/// solution misses the required accuracy.
pub(crate) fn siconos(args: &Args) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(&args.folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "dat"));
    paths.sort();
    let (mut n_solved, mut n_read) = (0, 0);
    for path in paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if args.only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let given = match format::read(&std::fs::read_to_string(&path)?) {
            Ok(given) => given,
            Err(why) => {
                println!("{name}: not read: {why}");
                continue;
            }
        };
        n_read += 1;
        let (matrix, blocks, velocity) = given.dense();
        let problem = ContactProblem::new(Operator::Dense(&matrix), &blocks, &velocity)?;
        let mut workspace = Workspace::default();
        let begin = Instant::now();
        let solution = match contact_problem::solve(&problem, Member::Any, &mut workspace) {
            Ok(solution) => solution.clone(),
            Err(Refusal::NotConverged { best, .. }) => *best,
            Err(refusal) => {
                println!("{name}: {refusal}");
                continue;
            }
        };
        let seconds = begin.elapsed().as_secs_f64();
        n_solved += usize::from(solution.residual <= GOAL);
        println!(
            "{name}: {} contacts, residual {:.1e}, {} Newton steps, {seconds:.5} s",
            blocks.len(),
            solution.residual,
            solution.steps,
        );
    }
    println!("{n_solved} of {n_read} to {GOAL:e}");
    anyhow::ensure!(
        n_solved == n_read,
        "{} problems miss {GOAL:e}",
        n_read - n_solved
    );
    Ok(())
}
