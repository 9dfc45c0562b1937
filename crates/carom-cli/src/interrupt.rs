//! Ctrl-C: the process ends at once, between two whole writes.
//!
//! A run has nothing to save, so no loop of the library is asked to stop: the process exits, whatever it computes.
//! Only what is being written is waited for, see [`whole`].

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Signals that end the process, with the exit status: 128 and the number of the signal, as shells count.
const SIGNALS: [(i32, i32); 2] = [(SIGINT, 130), (SIGTERM, 143)];

/// Between two looks at signals.
const PATIENCE: Duration = Duration::from_millis(20);

/// Longest wait for a write under way: a pipe that nobody reads, or a folder of many files.
const LONGEST_WRITE: Duration = Duration::from_millis(300);

/// Held while something is written that must be whole.
static WRITING: Mutex<()> = Mutex::new(());

/// Does a write that a signal does not cut in two, unless it takes longer than [`LONGEST_WRITE`].
pub(crate) fn whole<T>(write: impl FnOnce() -> T) -> T {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    write()
}

/// From now on a signal ends the process within half a second, and a second signal at once.
///
/// # Errors
///
/// Handlers or a thread that the system refuses.
pub(crate) fn end_on_signals() -> std::io::Result<()> {
    static IS_WATCHED: OnceLock<()> = OnceLock::new();
    if IS_WATCHED.set(()).is_err() {
        return Ok(());
    }
    let mut asked = Vec::new();
    for (signal, status) in SIGNALS {
        let is_asked = Arc::new(AtomicBool::new(false));
        // In this order the first signal only raises the flag.
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

/// Ends the process between two writes: the lock is never given back.
fn end(status: i32) -> ! {
    let start = Instant::now();
    loop {
        let writing = WRITING.try_lock();
        let is_busy = matches!(writing, Err(TryLockError::WouldBlock));
        if !is_busy || start.elapsed() >= LONGEST_WRITE {
            // Threads still compute: memory that they use is not taken down first.
            low_level::exit(status);
        }
        std::thread::sleep(PATIENCE);
    }
}
