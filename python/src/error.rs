//! Errors of `carom-wire` as Python exceptions.

use carom_wire::WireError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the error as the exception `carom.CaromError`.
pub(crate) fn raised(py: Python<'_>, error: &WireError) -> PyErr {
    match exception(py, error) {
        Ok(exception) => PyErr::from_value(exception),
        Err(fault) => fault,
    }
}

/// Returns the error as an exception object that is not raised, for lists of errors.
pub(crate) fn exception<'py>(py: Python<'py>, error: &WireError) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "carom._errors", "CaromError")?;
    let argument = None::<&str>;
    class.call1((
        &error.kind,
        &error.message,
        error.index,
        argument,
        error.limit,
        error.digits,
    ))
}

/// Creates the error of an invalid argument.
pub(crate) fn invalid(message: impl Into<String>) -> WireError {
    WireError::new("invalid-input", message.into())
}

/// Runs `work`; a panic, which should never happen, becomes an error of kind `internal`.
pub(crate) fn isolated<T>(work: impl FnOnce() -> Result<T, WireError>) -> Result<T, WireError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(internal(payload.as_ref())))
}

fn internal(payload: &(dyn Any + Send)) -> WireError {
    let message = payload
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown cause".to_owned());
    let message = format!("a fault of carom, please report it: {message}");
    WireError::new("internal", message)
}
