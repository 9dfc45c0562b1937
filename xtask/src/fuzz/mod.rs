//! `cargo xtask fuzz`: random input for `resolve`, `judge`, `lcp`, quick scenarios, snapshots and the crates below them, for
//! as long as is given. Runs of worlds, sweeps, fits and the Python package are not among its targets.
//!
//! Each [`Target`] makes input as a JSON value and says what must hold of what comes back. A failure
//! is made small (proptest), printed with the seed, and kept in `xtask/fuzz/`, which a test replays.

mod audit;
mod crates;
mod exact;
mod impacts;
mod input;
mod lcp;
mod lines;
mod scenarios;
mod snapshots;
mod target;

pub(crate) use audit::{Given, RowState};
pub(crate) use exact::Dyadic;
pub(crate) use impacts::{excuses, option_values, options};
pub(crate) use input::{matrix, numbers, with};

use clap::Args as ClapArgs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use target::{Failure, Target, Watch};

/// Inputs that a target is given before the next one has its turn.
const ROUND: u32 = 16;

/// Duration and seed.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Seconds after which no new input is made.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Turns of every target after which no new input is made, however much time is left.
    #[arg(long)]
    rounds: Option<u64>,
    /// Repeats a run; taken from the clock if left out.
    #[arg(long)]
    seed: Option<u64>,
    /// Only the targets whose names contain this text.
    #[arg(long)]
    only: Option<String>,
}

fn targets(root: &Path) -> anyhow::Result<Vec<Target>> {
    let mut all = vec![
        lcp::target(),
        impacts::resolve(),
        impacts::wide(),
        impacts::judge(),
        impacts::tame(),
        impacts::tame_derivatives(),
        impacts::tame_cotangents(),
        impacts::tame_members(),
        impacts::hostile(),
        impacts::hostile_derivatives(),
        lines::texts(),
        lines::mutations(),
        lines::program(root),
        scenarios::target()?,
        snapshots::target(),
    ];
    all.extend(crates::targets());
    Ok(all)
}

/// Generates `count` random inputs of the fuzz target `name`. Equal seeds give equal inputs.
pub(crate) fn inputs(
    name: &str,
    seed: u64,
    count: usize,
) -> anyhow::Result<Vec<serde_json::Value>> {
    let all = [
        lcp::target(),
        impacts::resolve(),
        impacts::wide(),
        impacts::judge(),
        impacts::tame(),
        impacts::tame_derivatives(),
        impacts::tame_cotangents(),
        impacts::tame_members(),
        impacts::hostile(),
        impacts::hostile_derivatives(),
        lines::texts(),
        lines::mutations(),
    ];
    let target = all.into_iter().find(|target| target.name == name);
    let target = target.ok_or_else(|| anyhow::anyhow!("no target is called {name}"))?;
    target.inputs(seed, count)
}

/// Runs all fuzz targets in turn with random inputs, until the time limit is reached or an input fails.
pub(crate) fn fuzz(root: &Path, args: &Args) -> anyhow::Result<()> {
    lines::build_program(root)?;
    let seed = match args.seed {
        Some(seed) => seed,
        None => u64::try_from(
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)?
                .as_millis(),
        )?,
    };
    println!("fuzz: seed {seed}");
    let mut all = targets(root)?;
    if let Some(text) = &args.only {
        all.retain(|target| target.name.contains(text.as_str()));
    }
    anyhow::ensure!(!all.is_empty(), "no target is called that");
    target::silence_panics();
    let watch = Watch::start();
    let end = Instant::now() + Duration::from_secs(args.seconds);
    let mut tried = vec![0u64; all.len()];
    let mut round = 0;
    'time: while args.rounds.is_none_or(|rounds| round < rounds) {
        for (target, tried) in all.iter().zip(&mut tried) {
            if Instant::now() >= end {
                break 'time;
            }
            if let Err(failure) = target.round(seed, round, ROUND, &watch) {
                let kept = keep(root, target.name, &failure)?;
                anyhow::bail!(
                    "{}: {}\n  input: {}\n  seed {seed}, round {round}; kept in {}",
                    target.name,
                    failure.what,
                    failure.input,
                    kept.display()
                );
            }
            *tried += u64::from(ROUND);
        }
        round += 1;
    }
    for (target, tried) in all.iter().zip(&tried) {
        println!("  {:<12} {tried}", target.name);
    }
    println!("fuzz: ok");
    Ok(())
}

fn kept(root: &Path, target: &str) -> PathBuf {
    root.join("xtask/fuzz").join(format!("{target}.jsonl"))
}

/// Adds the input that failed to the file of inputs that the tests check again. Returns the path of this file.
fn keep(root: &Path, target: &str, failure: &Failure) -> anyhow::Result<PathBuf> {
    let path = kept(root, target);
    let mut text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.into()),
    };
    let line = failure.input.to_string();
    if !text.lines().any(|known| known == line) {
        text.push_str(&line);
        text.push('\n');
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, text)?;
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Failures of the program alone wait for `cargo xtask fuzz`, which builds it.
    #[test]
    fn kept_failures_stay_mended() {
        let root = crate::workspace_root();
        for target in targets(&root).unwrap() {
            let Ok(text) = std::fs::read_to_string(kept(&root, target.name)) else {
                continue;
            };
            if target.name == lines::PROGRAM {
                continue;
            }
            for line in text.lines() {
                let input = serde_json::from_str(line).unwrap();
                if let Err(what) = (target.check)(&input) {
                    panic!("{}: {what}\n{line}", target.name);
                }
            }
        }
    }

    #[test]
    fn a_round_of_every_target_finds_nothing() {
        let root = crate::workspace_root();
        let watch = Watch::start();
        for target in targets(&root).unwrap() {
            if target.name == lines::PROGRAM {
                continue;
            }
            println!("{}", target.name);
            if let Err(failure) = target.round(1, 0, ROUND, &watch) {
                panic!("{}: {}\n{}", target.name, failure.what, failure.input);
            }
        }
    }

    #[test]
    fn what_fails_is_found_and_made_small() {
        let target = Target {
            name: "sums",
            input: || {
                use proptest::prelude::*;
                proptest::collection::vec(0u32..100, 0..20)
                    .prop_map(|list| serde_json::json!(list))
                    .boxed()
            },
            check: Box::new(|input| {
                let list = input.as_array().ok_or("no list")?;
                let sum: u64 = list.iter().filter_map(serde_json::Value::as_u64).sum();
                if sum < 150 {
                    Ok(())
                } else {
                    Err(format!("{sum}"))
                }
            }),
        };
        let failure = target.round(3, 0, 200, &Watch::start()).unwrap_err();
        assert_eq!(failure.what, "150");
    }
}
