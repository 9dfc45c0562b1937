//! Thread pools that work after a fork, and work that Ctrl-C can end.
//!
//! The threads of a pool do not exist in a forked process, where work passed to them would wait for
//! ever. Each pool is therefore stored with the id of the process that made it, in a list that only grows and
//! has no lock that a fork could leave locked.

use crate::error::{isolated, raised};
use carom_wire::WireError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Largest number of threads in a pool.
const MAX_THREADS: usize = 1024;

/// Time between two checks for signals.
const PATIENCE: Duration = Duration::from_millis(20);

/// A pool with its process and its number of threads, an entry of a linked list.
struct Entry {
    process: u32,
    threads: usize,
    pool: ThreadPool,
    next: OnceLock<Box<Entry>>,
}

static FIRST: OnceLock<Box<Entry>> = OnceLock::new();

/// Returns the pool of this process with this number of threads; 0 means one per core.
fn pool(threads: usize) -> Result<&'static ThreadPool, WireError> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads };
    if threads > MAX_THREADS {
        let message = format!("threads: {threads} exceed the limit of {MAX_THREADS}");
        return Err(WireError::new("too-large", message));
    }
    let process = std::process::id();
    let mut place = &FIRST;
    let mut unplaced = None;
    loop {
        while let Some(entry) = place.get() {
            if entry.process == process && entry.threads == threads {
                return Ok(&entry.pool);
            }
            place = &entry.next;
        }
        let entry = match unplaced.take() {
            Some(entry) => entry,
            None => {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build();
                let pool = pool
                    .map_err(|error| WireError::new("no-threads", format!("threads: {error}")))?;
                Box::new(Entry {
                    process,
                    threads,
                    pool,
                    next: OnceLock::new(),
                })
            }
        };
        // If another thread has appended an entry meanwhile, the search continues behind that entry.
        unplaced = place.set(entry).err();
    }
}

/// Unwinds the work to its start, without a message, if it was stopped.
pub(crate) fn unwind_if(is_stopped: &AtomicBool) {
    if is_stopped.load(Ordering::Relaxed) {
        resume_unwind(Box::new("stopped"));
    }
}

/// Runs work on a pool while this thread checks for signals. Ctrl-C raises the flag and returns at once;
/// the abandoned work ends when it next reads the flag.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, WireError> + Send + 'static,
) -> PyResult<T> {
    let pool = pool(threads).map_err(|error| raised(py, &error))?;
    let is_stopped = Arc::new(AtomicBool::new(false));
    let (send, mut receive) = sync_channel(1);
    let flag = Arc::clone(&is_stopped);
    pool.spawn(move || {
        // After Ctrl-C nothing receives the result.
        let _ = send.send(isolated(|| work(&flag)));
    });
    loop {
        let (returned, found) = py.detach(move || {
            let found = receive.recv_timeout(PATIENCE);
            (receive, found)
        });
        receive = returned;
        match found {
            Ok(result) => return result.map_err(|error| raised(py, &error)),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = py.check_signals() {
                    is_stopped.store(true, Ordering::Relaxed);
                    return Err(interrupt);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let error = WireError::new("internal", "a thread ended without an answer");
                return Err(raised(py, &error));
            }
        }
    }
}
