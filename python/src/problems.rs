//! Problems without a configuration, and the command line itself.

use crate::answer::Answer;
use crate::error::{invalid, raised};
use crate::json::from_python;
use crate::pool::interruptible;
use carom_wire::{Command, WireError};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::{Cursor, Error, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn command(py: Python<'_>, name: &str) -> PyResult<Command> {
    match name {
        "resolve" => Ok(Command::Resolve),
        "judge" => Ok(Command::Judge),
        "lcp" => Ok(Command::Lcp),
        _ => {
            let message = format!("command: unknown command `{name}`; known: resolve, judge, lcp");
            Err(raised(py, &invalid(message)))
        }
    }
}

/// Solves a problem given in its JSON form.
#[pyfunction]
pub(crate) fn solve(py: Python<'_>, name: &str, problem: &Bound<'_, PyAny>) -> PyResult<Answer> {
    let command = command(py, name)?;
    let problem = from_python(problem, "problem")?;
    let answer = interruptible(py, 0, move |_| carom_wire::solve(command, problem))?;
    Ok(Answer::new(answer.fields))
}

/// Buffer of bytes; writing fails after the work was stopped.
struct Sink {
    bytes: Vec<u8>,
    is_stopped: Arc<AtomicBool>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err(Error::other("stopped"));
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Answers lines of JSON.
#[pyfunction]
pub(crate) fn json_lines(
    py: Python<'_>,
    name: &str,
    text: Vec<u8>,
    threads: usize,
) -> PyResult<String> {
    let command = command(py, name)?;
    interruptible(py, threads, move |is_stopped| {
        let mut sink = Sink {
            bytes: Vec::new(),
            is_stopped: Arc::clone(is_stopped),
        };
        let unanswered = |error: String| WireError::new("unreadable", format!("text: {error}"));
        carom_cli::answer_lines(Box::new(Cursor::new(text)), command, threads, &mut sink)
            .map_err(|error| unanswered(error.to_string()))?;
        String::from_utf8(sink.bytes).map_err(|error| unanswered(error.to_string()))
    })
}

/// Runs the command line and returns its exit status; `program` are the words that run this program, `arguments` begin with its
/// name.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, program: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| carom_cli::main_within(&program, arguments))
}
