//! The JSON forms of carom: what stands between text and the library.
//!
//! An impact problem, an outcome to be judged or a linear complementarity problem comes in as one
//! JSON object and goes out as one. The crate starts no threads and opens no files, so that the
//! command line, bindings of other languages and a page in a browser give the same bytes.
//!
//! | from | by | to |
//! | --- | --- | --- |
//! | a line of text | [`answer_line`] | a line of text |
//! | a JSON value | [`solve`] | the fields of the answer, or a [`WireError`] |
//! | a [`Problem`] | [`resolve`] | a [`Resolved`], which [writes itself](Resolved::to_value) |
//!
//! # Examples
//!
//! ```
//! use carom_wire::{Command, answer_line};
//! let line = r#"{"id": 1, "law": "plastic", "mass_matrix": [[2]], "velocity": [-1],
//!     "contacts": [{"normal": [1]}]}"#;
//! let answer = answer_line(Command::Resolve, 1, line);
//! assert!(answer.is_solved);
//! assert!(answer.text.starts_with(r#"{"id":1,"law":"plastic","velocity_plus":[0.0]"#));
//! ```

mod bodies;
mod error;
mod frictional;
mod judge;
mod lcp;
mod resolve;
mod simultaneous;

pub use error::WireError;
pub use resolve::{ContactInput, Problem, Resolved, resolve};

use serde_json::{Map, Value, json};

/// What is asked of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Resolve an impact by a law.
    Resolve,
    /// Judge the velocity after an impact that somebody else computed.
    Judge,
    /// Solve a linear complementarity problem.
    Lcp,
}

/// The fields of an answer but its `id`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Keys and values in the order in which they are written.
    pub fields: Map<String, Value>,
    /// False if the problem was understood but has no solution that could be found.
    pub is_solved: bool,
}

/// One line of answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Whether the line above was solved; an error is not.
    pub is_solved: bool,
    /// A complete JSON object without a line feed.
    pub text: String,
}

/// Is told how many samples of a set-valued impact are drawn, and of how many.
pub type Progress<'a> = &'a dyn Fn(u64, u64);

/// Tells nobody.
const SILENT: Progress<'static> = &|_, _| {};

/// Answers a problem.
///
/// # Errors
///
/// A [`WireError`] that names the key, option or value at fault, or says why there is no answer.
pub fn solve(command: Command, problem: Value) -> Result<Answer, WireError> {
    solve_with_progress(command, problem, SILENT)
}

fn solve_with_progress(
    command: Command,
    problem: Value,
    progress: Progress<'_>,
) -> Result<Answer, WireError> {
    match command {
        Command::Resolve => resolve::answer(problem, progress),
        Command::Judge => judge::judge(problem),
        Command::Lcp => lcp::solve(problem),
    }
}

/// Answers one line; `line_number` is what an error calls it.
pub fn answer_line(command: Command, line_number: usize, line: &str) -> Line {
    answer_line_with_progress(command, line_number, line, SILENT)
}

/// The same, for work that takes long.
pub fn answer_line_with_progress(
    command: Command,
    line_number: usize,
    line: &str,
    progress: Progress<'_>,
) -> Line {
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) => {
            return refusal(Value::Null, &not_json(line_number, &error));
        }
    };
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    match solve_with_progress(command, value, progress) {
        Ok(mut answer) => {
            answer.fields.shift_insert(0, "id".to_owned(), id);
            Line {
                is_solved: answer.is_solved,
                text: Value::Object(answer.fields).to_string(),
            }
        }
        Err(error) => refusal(id, &error),
    }
}

/// The parser sees one line and calls it the first.
fn not_json(number: usize, error: &serde_json::Error) -> WireError {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    let message = format!("line {number} column {}: {message}", error.column());
    WireError::new("invalid-json", message)
}

fn refusal(id: Value, error: &WireError) -> Line {
    Line {
        is_solved: false,
        text: json!({ "id": id, "error": error.to_value() }).to_string(),
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
