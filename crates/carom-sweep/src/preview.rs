//! Preview of a sweep: a few cells are answered first to find columns whose paths do not exist.

use crate::SweepError;
use crate::answer::answer;
use crate::evaluate::Evaluator;
use crate::plan::{CellKind, Column, Plan, Source};
use crate::source::Fault;
use carom_wire::nearest_name;
use serde_json::Value;

/// Largest number of problems that are answered, evenly spaced. A single one could have an error or lack some
/// keys.
const PROBLEMS: u64 = 5;

/// Largest number of scenario runs: they may take long, and their records have equal keys.
const RUNS: u64 = 1;

/// Largest number of paths of an answer that are compared with an unknown path; beyond it, most paths are
/// entries of number tables.
const MAX_PATHS: usize = 10_000;

impl Plan {
    /// Checks the columns of the plan: computes the answers of a few cells and looks up the path of every column in them.
    ///
    /// Paths of optional columns are not checked. If no cell has an answer, nothing is checked.
    ///
    /// # Errors
    ///
    /// [`SweepError::Plan`] for a column whose path does not exist in any answer, with a similar path as
    /// suggestion; [`SweepError::File`] if the file of states cannot be opened any more.
    pub fn check_columns(&self) -> Result<(), SweepError> {
        let asked: Vec<(&Column, &str)> = self.columns.iter().filter_map(asked).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let mut answers = Vec::new();
        let mut evaluator = Evaluator::new(self)?;
        let tried = self.n_cells().min(match self.kind {
            CellKind::Problem { .. } => PROBLEMS,
            CellKind::Scenario(_) => RUNS,
        });
        for i in 0..tried {
            // There are at most 2^40 cells, so that the product does not overflow.
            evaluator.move_to(i * self.n_cells() / tried)?;
            if let Ok(answered) = answer(&mut evaluator)? {
                answers.push(answered.answer);
            }
        }
        let is_known = |path: &str| answers.iter().any(|answer| answer.pointer(path).is_some());
        let unknown = asked.iter().find(|(_, path)| !is_known(path));
        match unknown {
            Some((column, path)) if !answers.is_empty() => {
                Err(refusal(column, path, &answers).located(&self.text))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the column with the JSON pointer that leads to its value in the answer, if a trial run must check that the pointer
/// exists. Returns `None` for derived columns, optional columns, and columns with the `id` of the answer.
fn asked(column: &Column) -> Option<(&Column, &str)> {
    match &column.source {
        Source::Pointer(path) if !column.is_optional && !column.needs_id() => {
            Some((column, path.as_str()))
        }
        _ => None,
    }
}

fn refusal(column: &Column, path: &str, answers: &[Value]) -> Fault {
    let mut paths = Vec::new();
    for answer in answers {
        collect(answer, &mut String::new(), &mut paths);
    }
    let near = nearest_name(path, paths.iter().map(String::as_str)).map_or_else(
        || ". ".to_owned(),
        |near| format!("; did you mean `{near}`? "),
    );
    let tried = answers.len();
    let cells = if tried == 1 { "cell" } else { "cells" };
    Fault {
        place: column.place,
        key: column.key.clone(),
        message: format!(
            "no answer has `{path}` ({tried} {cells} tried){near}If only some cells have it: \
             {{ path = \"{path}\", optional = true }}"
        ),
    }
}

/// Appends to `paths` the JSON pointers of all parts of a value, up to [`MAX_PATHS`] in total. `path` is the pointer of the
/// value itself.
fn collect(value: &Value, path: &mut String, paths: &mut Vec<String>) {
    let length = path.len();
    let mut enter = |key: &str, value: &Value| {
        if paths.len() < MAX_PATHS {
            path.push('/');
            path.push_str(&key.replace('~', "~0").replace('/', "~1"));
            paths.push(path.clone());
            collect(value, path, paths);
            path.truncate(length);
        }
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| enter(key, value)),
        Value::Array(items) => {
            for (k, value) in items.iter().enumerate() {
                enter(&k.to_string(), value);
            }
        }
        _ => (),
    }
}
