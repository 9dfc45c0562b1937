//! Isolation of panics: a panic while one line is answered becomes an error of this line only.
//!
//! No input is known to make the library panic. If one does, the other lines are still
//! answered.

use carom_wire::{Line, WireError, refuse};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once};

/// Source location of the last panic; samples of one line may panic on another thread.
static PLACE: Mutex<String> = Mutex::new(String::new());

thread_local! {
    /// True if this thread answers lines.
    static ANSWERS: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as one that answers lines of input. The location of a panic in such a thread is recorded instead of
/// printed.
pub(super) fn keep_panics_of_this_thread() {
    ANSWERS.set(true);
}

/// Installs a panic hook for the process. On threads that answer lines of input it records the location of a panic; on
/// other threads a panic is printed as usual.
pub(super) fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !ANSWERS.get() {
                return others(panic);
            }
            let place = panic.location().map(ToString::to_string);
            if let Ok(mut last) = PLACE.lock() {
                *last = place.unwrap_or_default();
            }
        }));
    });
}

/// Calls `answer` to answer one line of input. If this call panics, returns an answer with an error of kind `internal` instead.
/// `text` is the line; the `id` in the line is copied to this answer.
pub(super) fn isolated(text: &str, answer: impl FnOnce() -> Line) -> Line {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .map(|message| (*message).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "unknown cause".to_owned());
        let place = PLACE.lock().map(|place| place.clone()).unwrap_or_default();
        let message = format!("a fault of carom, please report it: {message} ({place})");
        refuse(text, &WireError::new("internal", message))
    })
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_its_line_and_says_where() {
        keep_panics();
        keep_panics_of_this_thread();
        let line = isolated(r#"{"id": "a", "law": 1}"#, || panic!("index {}", 7));
        assert!(!line.is_solved);
        let value: serde_json::Value = serde_json::from_str(&line.text).unwrap();
        assert_eq!(value["id"], "a");
        assert_eq!(value["error"]["kind"], "internal");
        let message = value["error"]["message"].as_str().unwrap();
        assert!(message.contains("index 7") && message.contains("isolation.rs:"));
    }
}
