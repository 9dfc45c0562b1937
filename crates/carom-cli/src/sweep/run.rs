//! `carom sweep run`: computes shards into a folder, until all are there or a stop is requested.

use super::progress;
use crate::Failure;
use carom_sweep::{Monitor, Plan, RunOptions, ShardSet};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Arguments of `carom sweep run`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The plan, in TOML.
    plan: PathBuf,
    /// Folder of the shards; made if it is not there. Any number of processes may share it.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// One part of the shards: those that leave the remainder i when divided by N.
    #[arg(long, value_name = "i/N", value_parser = part, conflicts_with = "shards")]
    shard: Option<(u64, u64)>,
    /// Some shards, as in 3,5-9.
    #[arg(long, value_name = "LIST")]
    shards: Option<String>,
    /// Threads; the files are the same for any number. Default: all cores.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Stop after this time, as in 90s, 30m or 2h: exit status 1, and the next run goes on.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time_limit: Option<Duration>,
}

pub(super) fn run(args: &Args, is_quiet: bool) -> Result<(), Failure> {
    let monitor = Arc::new(Monitor::default());
    // Checked before any work that takes time.
    stop_on_signals(&monitor.stop)
        .map_err(|error| Failure::Usage(format!("cannot wait for signals: {error}")))?;
    let stop = Arc::clone(&monitor.stop);
    let plan = Plan::read(&args.plan)?;
    let options = RunOptions::default()
        .with_shards(shards(args, &plan)?)
        .with_threads(args.threads)
        .with_time_limit(args.time_limit)
        .with_monitor(Arc::clone(&monitor));
    let (running, finished) = mpsc::channel::<()>();
    let shown = (!is_quiet).then(|| {
        let show = move || progress::show(&monitor, &finished);
        std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(show)
    });
    let summary = carom_sweep::run(&plan, &args.out, &options);
    let is_interrupted = stop.load(Ordering::Relaxed);
    drop(running);
    if let Some(Ok(shown)) = shown {
        let _ = shown.join();
    }
    let summary = summary?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json!(summary))?;
    out.flush()?;
    if summary.is_stopped {
        if is_interrupted {
            let _ = writeln!(std::io::stderr(), "stopped; run again to go on");
        }
        return Err(Failure::Unsolved(String::new()));
    }
    Ok(())
}

fn shards(args: &Args, plan: &Plan) -> Result<Option<ShardSet>, Failure> {
    let n = plan.n_shards();
    if let Some((i, parts)) = args.shard {
        return Ok(Some(ShardSet::every(parts, i, n)));
    }
    let list = args.shards.as_ref().map(|text| ShardSet::parse(text, n));
    Ok(list.transpose()?)
}

/// Installs handlers for SIGINT and SIGTERM. The first signal sets the flag `stop`, which asks the sweep to stop; a second
/// signal ends the process.
fn stop_on_signals(stop: &Arc<AtomicBool>) -> std::io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(stop))?;
        signal_hook::flag::register(signal, Arc::clone(stop))?;
    }
    Ok(())
}

fn part(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/');
    let parts = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts
        .filter(|(i, n)| i < n)
        .ok_or_else(|| "expected i/N with 0 <= i < N".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match text.strip_prefix(digits) {
        Some("s" | "") => 1.0,
        Some("m") => 60.0,
        Some("h") => 3600.0,
        Some("d") => 86_400.0,
        _ => f64::NAN,
    };
    let value = digits.parse::<f64>().unwrap_or(f64::NAN);
    Duration::try_from_secs_f64(value * seconds)
        .map_err(|_| "expected a time such as 90s, 30m or 2h".to_owned())
}
