//! One thread writes at a time: results, or a line of progress.

use std::sync::{Mutex, PoisonError};

/// Lock held during a write that must not be cut in two.
pub(crate) static WRITING: Mutex<()> = Mutex::new(());

/// Runs `write` while no other thread writes.
pub(crate) fn alone<T>(write: impl FnOnce() -> T) -> T {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    write()
}
