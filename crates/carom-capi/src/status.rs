//! Statuses of calls, and the failure of the last call of a thread.

use carom_lcp::LcpError;
use carom_scenarios::carom_world::SessionError;
use serde_json::json;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Status of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::enum_variant_names)] // The names in C have a prefix.
pub enum CaromStatus {
    /// The call did what it says.
    CaromOk = 0,
    /// An argument, a text or bytes are at fault; nothing has changed.
    CaromInvalid = 1,
    /// The run stopped or has ended, or the problem has no answer.
    CaromFailed = 2,
    /// A fault of carom: please report it.
    CaromPanic = 3,
}

/// Version of the library.
const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

thread_local! {
    /// Failure of the last call, or an empty text.
    static FAILURE: RefCell<CString> = RefCell::default();
}

/// Reason for which a call has no result.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: CaromStatus,
    kind: String,
    message: String,
}

impl Refusal {
    /// Creates the refusal of an argument.
    pub(crate) fn invalid(message: String) -> Self {
        Self::new(CaromStatus::CaromInvalid, "invalid-input", message)
    }

    pub(crate) fn new(status: CaromStatus, kind: &str, message: String) -> Self {
        Self {
            status,
            kind: kind.to_owned(),
            message,
        }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn null(name: &str) -> Self {
        Self::invalid(format!("{name} is NULL"))
    }

    /// Creates the refusal of a state that its world does not allow.
    pub(crate) fn of_argument(error: &SessionError) -> Self {
        Self::new(CaromStatus::CaromInvalid, error.kind(), error.to_string())
    }
}

impl From<SessionError> for Refusal {
    fn from(error: SessionError) -> Self {
        let status = match error {
            SessionError::Motion(_) | SessionError::Ended { .. } | SessionError::Finished => {
                CaromStatus::CaromFailed
            }
            _ => CaromStatus::CaromInvalid,
        };
        Self::new(status, error.kind(), error.to_string())
    }
}

impl From<LcpError> for Refusal {
    fn from(error: LcpError) -> Self {
        Self::new(CaromStatus::CaromInvalid, error.kind(), error.to_string())
    }
}

fn note(failure: CString) {
    // Without the memory of its thread a failure has no text.
    let _ = FAILURE.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = failure;
        }
    });
}

fn fail(refusal: &Refusal) -> CaromStatus {
    let text = json!({"kind": refusal.kind, "message": refusal.message}).to_string();
    note(CString::new(text).unwrap_or_default());
    refusal.status
}

/// Carries out a call: notes its failure, and stops a panic.
pub(crate) fn call(act: impl FnOnce() -> Result<(), Refusal>) -> CaromStatus {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => {
            note(CString::default());
            CaromStatus::CaromOk
        }
        Ok(Err(refusal)) => fail(&refusal),
        Err(payload) => {
            let text = payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
            let text = text.unwrap_or_else(|| "unknown cause".to_owned());
            // Its destructor might panic, too.
            std::mem::forget(payload);
            let message = format!("a fault of carom, please report it: {text}");
            fail(&Refusal::new(CaromStatus::CaromPanic, "internal", message))
        }
    }
}

/// Carries out a call that cannot fail, or returns `otherwise` after a panic.
pub(crate) fn look<T>(otherwise: T, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|payload| {
        std::mem::forget(payload);
        otherwise
    })
}

/// Version of the library, as `0.1.0`.
#[unsafe(no_mangle)]
pub extern "C" fn carom_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Last failure in this thread, {"kind":"..","message":".."}, until its next call; "" after success.
#[unsafe(no_mangle)]
pub extern "C" fn carom_error() -> *const c_char {
    let empty = c"".as_ptr();
    let last = FAILURE.try_with(|last| last.try_borrow().map_or(empty, |last| last.as_ptr()));
    last.unwrap_or(empty)
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use super::*;

    fn failure() -> String {
        FAILURE.with_borrow(|last| last.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_panic_is_a_status_and_has_a_text_until_the_next_success() {
        assert_eq!(call(|| panic!("index {}", 7)), CaromStatus::CaromPanic);
        assert!(
            failure().starts_with(r#"{"kind":"internal","message":"#)
                && failure().contains("index 7")
        );
        assert_eq!(call(|| Ok(())), CaromStatus::CaromOk);
        assert_eq!(failure(), "");
        assert_eq!(look(3, || panic!("no")), 3);
    }
}
