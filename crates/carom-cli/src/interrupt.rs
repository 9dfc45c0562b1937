//! Handling of Ctrl-C: the process ends at once, but not in the middle of a write.
//!
//! A run has nothing to save, so no loop of the library needs to stop: the process exits during the computation.
//! Only a write in progress is completed first, see [`whole`].

use crate::progress;
use crate::writing::{WRITING, alone};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, TryLockError};
use std::time::{Duration, Instant};

/// Signals that end the process, with the exit status: 128 plus the number of the signal, the convention of shells.
const SIGNALS: [(i32, i32); 2] = [(SIGINT, 130), (SIGTERM, 143)];

/// Time between two checks for signals.
const PATIENCE: Duration = Duration::from_millis(20);

/// Longest time for which a signal waits for a write in progress, such as one to a pipe that nobody reads.
const LONGEST_WRITE: Duration = Duration::from_millis(300);

/// True if the process has written results.
static WROTE: AtomicBool = AtomicBool::new(false);

/// Runs `write`, which writes results, and returns its result. A signal such as Ctrl-C ends the process only when `write` is
/// done, or after [`LONGEST_WRITE`]. A progress line on the terminal is erased before.
pub(crate) fn whole<T>(write: impl FnOnce() -> T) -> T {
    alone(|| {
        progress::erase();
        let written = write();
        WROTE.store(true, Ordering::Relaxed);
        written
    })
}

/// Prints the results of a run on stdout: `text`, and unless it is JSON (`is_json`) a line that names the folder `out` with the
/// `written` files, or the option for one. Nothing is printed if the files are all that is wanted (`is_quiet`).
pub(crate) fn print(
    text: &str,
    is_json: bool,
    is_quiet: bool,
    out: Option<(&Path, usize)>,
) -> std::io::Result<()> {
    if is_quiet && !is_json && out.is_some() {
        return Ok(());
    }
    let end = match out {
        _ if is_json => String::new(),
        Some((dir, written)) => format!("\nwrote {written} files to {}\n", dir.display()),
        None => "\nadd --out DIR for figures, tables and the record\n".to_owned(),
    };
    let mut stdout = std::io::stdout().lock();
    whole(|| {
        write!(stdout, "{text}{end}")?;
        stdout.flush()
    })
}

/// Installs handlers for SIGINT and SIGTERM. The first signal ends the process within half a second, a second signal ends
/// it at once.
///
/// # Errors
///
/// If the system rejects a handler or the thread that checks for signals.
pub(crate) fn end_on_signals() -> std::io::Result<()> {
    static IS_WATCHED: OnceLock<()> = OnceLock::new();
    if IS_WATCHED.set(()).is_err() {
        return Ok(());
    }
    let mut asked = Vec::new();
    for (signal, status) in SIGNALS {
        let is_asked = Arc::new(AtomicBool::new(false));
        // In this order of registration the first signal only raises the flag.
        flag::register_conditional_shutdown(signal, status, Arc::clone(&is_asked))?;
        flag::register(signal, Arc::clone(&is_asked))?;
        asked.push((is_asked, status));
    }
    let watch = move || {
        loop {
            let found = asked.iter().find(|(is, _)| is.load(Ordering::Relaxed));
            if let Some((_, status)) = found {
                end(*status);
            }
            std::thread::sleep(PATIENCE);
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(watch)?;
    Ok(())
}

/// Ends the process with the exit status `status` as soon as no output is being written, at the latest after
/// [`LONGEST_WRITE`]. No further write can begin, because the lock for writing is held.
fn end(status: i32) -> ! {
    let start = Instant::now();
    loop {
        let writing = WRITING.try_lock();
        let is_busy = matches!(writing, Err(TryLockError::WouldBlock));
        if !is_busy || start.elapsed() >= LONGEST_WRITE {
            progress::stopped(is_busy || WROTE.load(Ordering::Relaxed));
            // Exits while other threads compute, without freeing the memory that they use.
            low_level::exit(status);
        }
        std::thread::sleep(PATIENCE);
    }
}
