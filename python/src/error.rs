//! Errors of `carom-wire` as Python exceptions.

use crate::json::to_python;
use carom_wire::WireError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
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
    let fields = PyDict::new(py);
    fields.set_item("index", error.index)?;
    fields.set_item("limit", error.limit)?;
    fields.set_item("digits", error.digits)?;
    fields.set_item("residual", error.residual)?;
    if let Some((key, part)) = error.evidence.as_deref() {
        fields.set_item(key, to_python(py, part)?)?;
    }
    class.call((&error.kind, &error.message), Some(&fields))
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
