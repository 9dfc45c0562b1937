//! Computes shards into a folder.

use crate::answer::row;
use crate::evaluate::Evaluator;
use crate::folder::{
    Condition, Existing, Listing, claim, inspect, remove, remove_stale, shard_name,
    shard_temporary, shards, store,
};
use crate::plan::{FORMAT, Plan};
use crate::table::{Rows, encode};
use crate::{ShardSet, Status, SweepError, status};
use carom_numeric::NUMERICS_VERSION;
use sha2::{Digest, Sha256};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Options for running a sweep: shards to compute, threads, time limit and monitor.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Shards to compute. With `None` all shards are computed, and each process starts at another shard.
    pub shards: Option<ShardSet>,
    /// Number of threads. With `None` all cores are used. The files do not depend on it.
    pub threads: Option<NonZeroUsize>,
    /// Time after which the run stops.
    pub time_limit: Option<Duration>,
    /// Progress of the run, with a flag to stop it.
    pub monitor: Arc<Monitor>,
}

carom_numeric::setters!(RunOptions {
    /// Sets the shards to compute.
    with_shards: shards, Option<ShardSet>;
    /// Sets the number of threads.
    with_threads: threads, Option<NonZeroUsize>;
    /// Sets the time after which the run stops.
    with_time_limit: time_limit, Option<Duration>;
    /// Sets the progress of the run, with a flag to stop it.
    with_monitor: monitor, Arc<Monitor>;
});

/// Progress of a running sweep, which another thread may read, and a flag by which this thread may stop the sweep.
#[derive(Debug, Default)]
pub struct Monitor {
    /// Set this to stop the run. Shards in progress are abandoned.
    pub stop: Arc<AtomicBool>,
    /// Number of cells of the requested shards.
    pub cells: AtomicU64,
    /// Number of cells that are done: those of existing shards and those computed by this run.
    pub done: AtomicU64,
    /// Number of cells of existing shards.
    pub kept: AtomicU64,
    /// Number of computed cells with an error.
    pub errors: AtomicU64,
}

/// Summary of a run of a sweep: numbers of shards and cells, errors and duration.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Number of shards that were computed.
    pub shards_done: u64,
    /// Number of valid shards that already existed.
    pub shards_kept: u64,
    /// Number of cells of the computed shards.
    pub cells: u64,
    /// Number of computed cells with an error.
    pub errors: u64,
    /// Duration of the run (s).
    pub seconds: f64,
    /// True if the run stopped before all requested shards were done.
    #[serde(skip)]
    pub is_stopped: bool,
}

/// Shard file of a sweep, as returned by [`run_shard`]: the file holds the answers of consecutive cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Path of the shard file.
    pub path: PathBuf,
    /// True if the file already existed.
    pub is_kept: bool,
    /// Number of cells with errors, if the shard was computed by this call.
    pub errors: u64,
}

/// Runs a sweep: computes the shards (files with the answers of consecutive cells) that are missing in a folder or whose files
/// are damaged.
///
/// Valid files are never changed. Every file under its final name is complete at any time: it is written under
/// a temporary name, synced and renamed.
///
/// # Errors
///
/// The errors of [`Plan::check_columns`]; [`SweepError::OtherSweep`] if the folder, or a file in it, belongs to
/// another plan; [`SweepError::File`] for errors of the operating system.
pub fn run(plan: &Plan, folder: &Path, options: &RunOptions) -> Result<Summary, SweepError> {
    let start = Instant::now();
    check_columns(plan, folder)?;
    clear(plan, folder)?;
    if options.shards.is_none() {
        remove_strays(plan, folder)?;
    }
    let order = order(plan, options.shards.as_ref());
    let cells = |shard: &u64| {
        plan.shard(*shard)
            .map_or(0, |cells| cells.end - cells.start)
    };
    let monitor = &*options.monitor;
    monitor
        .cells
        .store(order.iter().map(cells).sum(), Ordering::Relaxed);
    let crew = Crew {
        plan,
        folder,
        listing: Listing::new(folder)?,
        order,
        next: AtomicUsize::new(0),
        deadline: options
            .time_limit
            .and_then(|limit| start.checked_add(limit)),
        monitor,
        failed: AtomicBool::new(false),
    };
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let threads = options
        .threads
        .unwrap_or(cores)
        .get()
        .min(crew.order.len().max(1));
    let found = Mutex::new((Summary::default(), None));
    std::thread::scope(|scope| {
        let work = || {
            let done = crew.work();
            if done.is_err() {
                crew.failed.store(true, Ordering::Relaxed);
            }
            let mut found = found
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            match done {
                Ok(part) => found.0.add(&part),
                Err(error) => {
                    found.1.get_or_insert(error);
                }
            }
        };
        for index in 1..threads {
            let thread = std::thread::Builder::new().name(format!("shards {index}"));
            // If the thread cannot be started, the run only takes longer.
            let _ = thread.spawn_scoped(scope, work);
        }
        let thread = std::thread::Builder::new().name("shards 0".to_owned());
        if thread.spawn_scoped(scope, work).is_err() {
            work();
        }
    });
    let (mut summary, error) = found
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(error) = error {
        return Err(error);
    }
    summary.is_stopped = summary.shards_done + summary.shards_kept < crew.order.len() as u64;
    summary.seconds = start.elapsed().as_secs_f64();
    Ok(summary)
}

/// Computes one shard of a sweep (the file with the answers of consecutive cells) and writes the file into a folder. A valid
/// file that exists is kept. `shard` is the index of the shard, counted from 0. The function is for programs that schedule
/// shards themselves.
///
/// # Errors
///
/// The errors of [`run`]; [`SweepError::OutOfRange`].
pub fn run_shard(plan: &Plan, shard: u64, folder: &Path) -> Result<Shard, SweepError> {
    let done = run_shard_until(plan, shard, folder, &Monitor::default())?;
    done.ok_or_else(|| SweepError::Unsuitable("the shard was given up".to_owned()))
}

/// Computes one shard of a sweep like [`run_shard`], unless the flag of `monitor` stops the computation. Returns `None` if the
/// computation was stopped.
///
/// # Errors
///
/// The errors of [`run_shard`].
pub fn run_shard_until(
    plan: &Plan,
    shard: u64,
    folder: &Path,
    monitor: &Monitor,
) -> Result<Option<Shard>, SweepError> {
    plan.shard(shard)?;
    claim(plan, folder)?;
    let crew = Crew {
        plan,
        folder,
        listing: Listing::new(folder)?,
        order: vec![shard],
        next: AtomicUsize::new(0),
        deadline: None,
        monitor,
        failed: AtomicBool::new(false),
    };
    crew.shard(&mut Evaluator::new(plan)?, shard)
}

/// Creates the folder of a sweep if necessary, and removes the temporary files that dead processes of this computer left there.
/// Returns which shards (files with the answers of consecutive cells) are complete, missing or damaged. A program that
/// schedules shards itself calls this function before the first shard. A second call after the last shard tells if all shards
/// are complete.
///
/// # Errors
///
/// The errors of [`run`].
pub fn prepare(plan: &Plan, folder: &Path) -> Result<Status, SweepError> {
    check_columns(plan, folder)?;
    clear(plan, folder)?;
    remove_strays(plan, folder)?;
    status(folder)
}

/// Checks that the plan's columns exist in answers, by computing a few cells (points of the sweep). The check is
/// skipped if the folder contains finished parts of the sweep, because an earlier run already made the check.
fn check_columns(plan: &Plan, folder: &Path) -> Result<(), SweepError> {
    let has_shards = status(folder).is_ok_and(|found| found.missing.len() < found.shards);
    if has_shards {
        return Ok(());
    }
    plan.check_columns()
}

/// Creates the folder of a sweep if necessary. Removes temporary files that ended processes of this computer left there.
fn clear(plan: &Plan, folder: &Path) -> Result<(), SweepError> {
    claim(plan, folder)?;
    remove_stale(folder, |name| name == "plan" || name.starts_with("shard-"))
}

/// Returns the shard indices (parts of the sweep) in the order in which this process tries to compute the shards. `shards`
/// selects some of them. With `None` all are tried, starting at an index that depends on the process, so that processes with a
/// common folder begin far from each other.
fn order(plan: &Plan, shards: Option<&ShardSet>) -> Vec<u64> {
    if let Some(shards) = shards {
        return shards.iter().collect();
    }
    let n = plan.n_shards();
    let turn = f64::from(std::process::id()) * 0.618_033_988_749_894_9;
    let first = (n as f64 * turn.fract()).floor() as u64;
    (first..n).chain(0..first.min(n)).collect()
}

impl Summary {
    fn add(&mut self, other: &Self) {
        self.shards_done += other.shards_done;
        self.shards_kept += other.shards_kept;
        self.cells += other.cells;
        self.errors += other.errors;
    }
}

/// State shared by threads that take shards from one list.
struct Crew<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    listing: Listing<'a>,
    order: Vec<u64>,
    next: AtomicUsize,
    deadline: Option<Instant>,
    monitor: &'a Monitor,
    failed: AtomicBool,
}

impl Crew<'_> {
    /// Computes shards (parts of the sweep) in this thread until no shard is left or the run is stopped. Returns the numbers of
    /// shards that were computed and that were already complete. Laws that draw samples also use only this thread.
    fn work(&self) -> Result<Summary, SweepError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread();
        // Without its own pool, the samples of a cell are distributed over all cores. That is slower, with
        // equal bits.
        let _pool = pool.build().ok();
        let mut evaluator = Evaluator::new(self.plan)?;
        let mut summary = Summary::default();
        while !self.is_over() {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&shard) = self.order.get(next) else {
                break;
            };
            let cells = self.plan.shard(shard)?;
            match self.shard(&mut evaluator, shard)? {
                None => break,
                Some(shard) if shard.is_kept => {
                    let cells = cells.end - cells.start;
                    self.monitor.kept.fetch_add(cells, Ordering::Relaxed);
                    self.monitor.done.fetch_add(cells, Ordering::Relaxed);
                    summary.shards_kept += 1;
                }
                Some(shard) => {
                    summary.shards_done += 1;
                    summary.cells += cells.end - cells.start;
                    summary.errors += shard.errors;
                }
            }
        }
        Ok(summary)
    }

    fn is_over(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
            || self.monitor.stop.load(Ordering::Relaxed)
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Computes the shard (part of the sweep) with index `shard` and writes its file, unless a valid file exists. Damaged
    /// files of this shard are removed. Returns `None` if the run was stopped.
    fn shard(
        &self,
        evaluator: &mut Evaluator<'_>,
        shard: u64,
    ) -> Result<Option<Shard>, SweepError> {
        let (mut whole, mut damaged) = (Vec::new(), Vec::new());
        for path in self.listing.files(shard)? {
            match inspect(&path, shard, self.plan.digest())?.condition {
                Condition::Whole => whole.push(path),
                Condition::Damaged => damaged.push(path),
                Condition::Gone => {}
            }
        }
        if let [path] = whole.as_slice() {
            remove_all(&damaged)?;
            return Ok(Some(Shard {
                path: path.clone(),
                is_kept: true,
                errors: 0,
            }));
        }
        let Some((bytes, errors)) = self.compute(evaluator, shard)? else {
            return Ok(None);
        };
        let name = shard_name(shard, &crate::hex(&Sha256::digest(&bytes)));
        let path = self.folder.join(name);
        let existing = if damaged.contains(&path) {
            Existing::Replace
        } else {
            Existing::Keep
        };
        store(
            &shard_temporary(self.folder, shard),
            &path,
            &bytes,
            existing,
        )?;
        // Other files are removed only after the right one exists.
        remove_all(whole.iter().chain(&damaged).filter(|other| **other != path))?;
        Ok(Some(Shard {
            path,
            is_kept: false,
            errors,
        }))
    }

    /// Computes all cells (points of the sweep) in the shard (part of the sweep) with index `shard`. Returns the bytes
    /// of the shard's Parquet file and the number of cells with errors; `None` if the run was stopped.
    fn compute(
        &self,
        evaluator: &mut Evaluator<'_>,
        shard: u64,
    ) -> Result<Option<(Vec<u8>, u64)>, SweepError> {
        let mut rows = Rows::new(&self.plan.schema);
        let mut errors = 0;
        for cell in self.plan.shard(shard)? {
            if self.is_over() {
                return Ok(None);
            }
            evaluator.move_to(cell)?;
            let row = row(evaluator)?;
            rows.push(row.data);
            self.monitor.done.fetch_add(1, Ordering::Relaxed);
            if row.is_error {
                errors += 1;
                self.monitor.errors.fetch_add(1, Ordering::Relaxed);
            }
        }
        let stamp = stamp_of(
            self.plan.digest(),
            &shard.to_string(),
            NUMERICS_VERSION.into(),
        );
        let bytes = encode(&self.plan.schema, stamp, &rows)
            .map_err(|error| SweepError::content(self.folder, error))?;
        Ok(Some((bytes, errors)))
    }
}

/// Removes damaged shard files (parts of the sweep's table) whose index is beyond the last shard of the plan.
fn remove_strays(plan: &Plan, folder: &Path) -> Result<(), SweepError> {
    for (shard, paths) in shards(folder)?.split_off(&plan.n_shards()) {
        for path in paths {
            if inspect(&path, shard, plan.digest())?.condition == Condition::Damaged {
                remove(&path)?;
            }
        }
    }
    Ok(())
}

fn remove_all<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), SweepError> {
    paths.into_iter().try_for_each(|path| remove(path))
}

/// Returns the metadata of a table file as pairs of key and value: format, digest of the plan, shard, and `numerics`, the
/// version of the numerical results.
pub(crate) fn stamp_of(digest: &str, shard: &str, numerics: u64) -> Vec<(&'static str, String)> {
    vec![
        ("carom.format", FORMAT.to_owned()),
        ("carom.plan", digest.to_owned()),
        ("carom.shard", shard.to_owned()),
        ("carom.numerics", numerics.to_string()),
    ]
}
