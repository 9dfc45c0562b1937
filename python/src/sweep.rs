//! Sweeps: shards for an external scheduler, and points of an optimizer.

use crate::error::raised;
use crate::json::{object, to_python};
use crate::pool::interruptible;
use carom_sweep::{Asked, Monitor, Plan, SweepError, run_shard_until};
use carom_wire::WireError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Converts the error of a sweep to the error type of answers.
fn wire(error: SweepError) -> WireError {
    WireError::new(error.kind(), error)
}

/// Prepares a folder for a plan; returns the number of cells, the number of shards, and the shards that the folder lacks.
#[pyfunction]
pub(crate) fn prepare(
    py: Python<'_>,
    plan: PathBuf,
    out: PathBuf,
) -> PyResult<(u64, u64, Vec<u64>)> {
    interruptible(py, 1, move |_| {
        let plan = Plan::read(&plan).map_err(wire)?;
        let status = carom_sweep::prepare(&plan, &out).map_err(wire)?;
        let mut lacking: Vec<u64> = status.missing.iter().chain(status.damaged.iter()).collect();
        lacking.sort_unstable();
        Ok((status.cells, status.shards, lacking))
    })
}

/// Computes a shard into a folder; returns the name of its file, the number of its cells and of those with an error, or
/// zeros if the shard was already there.
#[pyfunction]
pub(crate) fn run_shard(
    py: Python<'_>,
    plan: PathBuf,
    out: PathBuf,
    shard: u64,
) -> PyResult<(String, u64, u64)> {
    interruptible(py, 1, move |is_stopped| {
        let plan = Plan::read(&plan).map_err(wire)?;
        let monitor = Monitor {
            stop: Arc::clone(is_stopped),
            ..Monitor::default()
        };
        let done = run_shard_until(&plan, shard, &out, &monitor).map_err(wire)?;
        // Happens only after Ctrl-C, when nothing receives the result.
        let done = done.ok_or_else(|| WireError::new("stopped", "the shard was given up"))?;
        let name = done.path.file_name().unwrap_or_default();
        let cells = plan.shard(shard).map_err(wire)?;
        let cells = if done.is_kept {
            0
        } else {
            cells.end - cells.start
        };
        Ok((name.to_string_lossy().into_owned(), cells, done.errors))
    })
}

/// Answers points of an optimizer.
#[pyclass(frozen, module = "carom._native")]
pub(crate) struct Ask {
    state: Arc<Mutex<State>>,
}

struct State {
    /// Journal; `None` after it was closed.
    journal: Option<Asked>,
    /// Number of points asked so far.
    points: usize,
}

impl State {
    fn tell(&mut self, point: &Value, is_stopped: &AtomicBool) -> Result<Value, WireError> {
        let mut journal = self.journal.take().ok_or_else(|| {
            WireError::new(
                "closed",
                "the journal was closed, or a point interrupted; ask anew",
            )
        })?;
        self.points += 1;
        let text = point.to_string();
        let told = journal.answer_line(self.points, &text);
        // After an interruption the answer was not delivered, so the journal stays closed; a new one replays it.
        if !is_stopped.load(Ordering::Relaxed) {
            self.journal = Some(journal);
        }
        let told = told.map_err(wire)?;
        let answer: Value =
            serde_json::from_str(&told.text).map_err(|error| WireError::new("internal", error))?;
        match answer.get("error").filter(|_| answer["cell"].is_null()) {
            None => Ok(answer),
            Some(error) => {
                let part = |key: &str| error[key].as_str().unwrap_or_default();
                Err(WireError::new(part("kind"), part("message")))
            }
        }
    }
}

#[pymethods]
impl Ask {
    #[new]
    fn new(py: Python<'_>, plan: PathBuf, out: PathBuf) -> PyResult<Self> {
        let journal = interruptible(py, 1, move |_| {
            let plan = Plan::read(&plan).map_err(wire)?;
            Asked::open(plan, &out).map_err(wire)
        })?;
        let state = State {
            journal: Some(journal),
            points: 0,
        };
        Ok(Self {
            state: Arc::new(Mutex::new(state)),
        })
    }

    /// Answers a point; returns the row of its cell.
    fn tell<'py>(&self, py: Python<'py>, point: &Bound<'_, PyDict>) -> PyResult<Bound<'py, PyAny>> {
        let point = Value::Object(object(Some(point), "point")?);
        let state = Arc::clone(&self.state);
        let answer = interruptible(py, 1, move |is_stopped| {
            let mut state = state.lock().map_err(|_| broken())?;
            state.tell(&point, is_stopped)
        })?;
        to_python(py, &answer)
    }

    /// Closes the journal, so that others can use the folder.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let closed = py.detach(|| {
            self.state
                .lock()
                .map(|mut state| state.journal = None)
                .is_ok()
        });
        if closed {
            Ok(())
        } else {
            Err(raised(py, &broken()))
        }
    }
}

fn broken() -> WireError {
    WireError::new("internal", "an earlier answer ended without an end")
}
