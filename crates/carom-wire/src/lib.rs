//! JSON interface of carom: problems and answers as text.
//!
//! The input is one JSON object: an impact problem, an outcome to judge or a linear complementarity
//! problem. The output is one JSON object. The crate starts no threads and opens no files, so that the
//! command line, bindings of other languages and a web page give equal bytes.
//!
//! | input | item | output |
//! | --- | --- | --- |
//! | a line of text | [`answer_line`] | a line of text |
//! | lines, or a document, as bytes | a [`Splitter`] | the [text](RawText) of each problem, which [answers](RawText::answer) |
//! | a JSON value | [`solve`] | the fields of the answer, or a [`WireError`] |
//! | a [`Problem`] | [`resolve`] | a [`Resolved`], which [writes itself](Resolved::to_value) |
//! | many velocities at one configuration | a [`Request`], a [`JudgeRequest`] | the same answers, common parts computed once |
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

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod bodies;
mod bounds;
mod choice;
mod derivative;
mod differentiated;
mod error;
mod frictional;
mod ignored;
mod judge;
mod judge_options;
mod judge_steps;
mod keys;
mod lcp;
mod limits;
mod line;
mod matrix;
mod options;
mod outcome;
mod problem;
mod propagative;
mod reading;
mod refusal;
mod resolve;
mod simultaneous;
mod solved;
mod splitter;
mod state;
mod time_step;
mod trace;
mod verdict;
mod zeros;

pub use carom_numeric::nearest_name;
pub use choice::{Choice, choice, choices};
pub use differentiated::Differentiated;
pub use error::WireError;
pub use judge::{Claim, JudgeRequest};
pub use keys::{KeyInfo, example, keys};
pub use limits::{
    MAX_CONTACTS, MAX_DIMENSION, MAX_LINE_BYTES, MAX_NESTING, MAX_SAMPLES, MAX_STEPS, MAX_WRITTEN,
};
pub use line::{Place, answer_line, answer_text, breaks_off, refuse, refuse_long_text};
pub use problem::{ContactInput, Problem, contact_set, metric, pose};
pub use reading::read_impact;
pub use resolve::{Request, Resolved, resolve};
pub use solved::{Single, Solved};
pub use splitter::{RawText, Splitter};
pub use state::MeasuredImpact;

use serde_json::{Map, Value};

/// Kind of problem that a line of JSON states: resolve an impact, judge an outcome, or solve a linear complementarity problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Resolve an impact by a law.
    Resolve,
    /// Judge the velocity after an impact that somebody else computed.
    Judge,
    /// Solve a linear complementarity problem.
    Lcp,
}

impl Command {
    /// Returns the name of the command on the command line: `resolve`, `judge` or `lcp`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Judge => "judge",
            Self::Lcp => "lcp",
        }
    }
}

/// Answer to a problem as JSON fields, without the `id` of the problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Keys and values in output order.
    pub fields: Map<String, Value>,
    /// False if the problem is valid, but no solution was found.
    pub is_solved: bool,
}

/// Answer to one line of JSON Lines, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// True if the problem in that line was solved; false for an error.
    pub is_solved: bool,
    /// A complete JSON object without a line feed.
    pub text: String,
}

/// Callback for the progress of a set-valued impact: its arguments are the number of samples drawn so far, and the total number
/// of samples.
pub type Progress<'a> = &'a dyn Fn(u64, u64);

/// Solves a problem given as a JSON value: an impact, a judgement or a linear complementarity problem, as `command` says.
///
/// # Errors
///
/// A [`WireError`] that names the faulty key, option or value, or the reason why there is no answer.
pub fn solve(command: Command, problem: Value) -> Result<Answer, WireError> {
    solve_with_progress(command, problem, &|_, _| {})
}

fn solve_with_progress(
    command: Command,
    problem: Value,
    progress: Progress<'_>,
) -> Result<Answer, WireError> {
    let mut answer = match command {
        Command::Resolve => resolve::answer(problem, progress),
        Command::Judge => {
            if let Some(Value::Object(options)) = problem.get("options") {
                limits::check_options(options)?;
            }
            judge::judge(problem)
        }
        Command::Lcp => lcp::solve(problem),
    }?;
    zeros::drop_signs_of_zeros(&mut answer.fields);
    Ok(answer)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
