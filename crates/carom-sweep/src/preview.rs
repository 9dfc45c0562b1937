//! Preview of a sweep: a few cells are answered first to find columns whose paths, and axes whose keys do not exist.

use crate::SweepError;
use crate::answer::answer;
use crate::evaluate::Evaluator;
use crate::plan::{CellKind, Column, Derived, Plan, Setting, Source, refused};
use crate::source::Fault;
use carom_wire::nearest_name;
use serde_json::Value;

/// Largest number of problems that are answered, evenly spaced. A single one could have an error or lack some
/// keys.
const PROBLEMS: u64 = 5;

/// Largest number of paths of an answer that are compared with an unknown path; beyond it, most paths are
/// entries of number tables.
const MAX_PATHS: usize = 10_000;

impl Plan {
    /// Checks the columns of the plan: computes the answers of a few cells and looks up the path of every column in them. In a
    /// plan that runs a scenario, the names of the axes are checked, too: each must be a key of the scenario.
    ///
    /// Paths of optional columns are not checked. If no cell has an answer, paths are not checked.
    ///
    /// # Errors
    ///
    /// [`SweepError::Plan`] for a column whose path does not exist in any answer and for an axis that is no key, with a similar
    /// name as suggestion ([`SweepError::Content`] if the plan was read from a file); [`SweepError::File`] if the file of states
    /// cannot be opened any more.
    pub fn check_columns(&self) -> Result<(), SweepError> {
        let asked: Vec<(&Column, &str)> = self.columns.iter().filter_map(asked).collect();
        if asked.is_empty() && !matches!(self.kind, CellKind::Scenario(_)) {
            return Ok(());
        }
        let preview = self.preview()?;
        let answers = &preview.answers;
        if let Some(fault) = preview.errors.iter().find_map(|e| self.unknown_key(e)) {
            return Err(self.located(fault));
        }
        let is_known = |path: &str| answers.iter().any(|answer| answer.pointer(path).is_some());
        let unknown = asked.iter().find(|(_, path)| !is_known(path));
        match unknown {
            Some((column, path)) if !answers.is_empty() => {
                Err(self.located(refusal(column, path, answers)))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if a column is neither a path nor the name of a derived column. Answers of a few cells are computed to
    /// find the path that was meant.
    pub(crate) fn refuse_unknown(&self) -> Result<(), SweepError> {
        let unknown = self.columns.iter().find_map(|column| match &column.source {
            Source::Unknown(text) => Some((column, text)),
            _ => None,
        });
        let Some((column, text)) = unknown else {
            return Ok(());
        };
        let derived = Derived::ALL.map(Derived::name);
        let paths = paths(&self.preview()?.answers);
        let known = paths.iter().map(String::as_str).chain(derived);
        let near = nearest_name(text, known);
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let names = derived.join(", ");
        let message = format!(
            "`{text}` is neither a JSON pointer, which begins with `/`, nor one of {names}{hint}"
        );
        Err(self.located(Fault {
            place: column.place,
            key: column.key.clone(),
            message,
        }))
    }

    /// Computes the answers of a few cells.
    fn preview(&self) -> Result<Preview, SweepError> {
        let mut preview = Preview::default();
        let mut evaluator = Evaluator::new(self)?;
        let tried = self.n_cells().min(match self.kind {
            CellKind::Problem { .. } => PROBLEMS,
            // Runs may take long, and their records have equal keys.
            CellKind::Scenario(_) => 1,
        });
        for i in 0..tried {
            // There are at most 2^40 cells, so that the product does not overflow.
            evaluator.move_to(i * self.n_cells() / tried)?;
            match answer(&mut evaluator)? {
                Ok(answered) => preview.answers.push(answered.answer),
                Err(error) => preview.errors.push(error.message),
            }
        }
        Ok(preview)
    }

    /// Converts the error message of a cell to a fault of the plan, if the message is about a setting that is no key of the
    /// scenario.
    fn unknown_key(&self, message: &str) -> Option<Fault> {
        let axes = self.axes.iter().map(|axis| Setting {
            name: axis.name.clone(),
            place: axis.place,
            table: "axes",
        });
        let random = self.random.iter().flat_map(|random| &random.columns);
        let random = random.map(|column| Setting {
            name: column.name.clone(),
            place: column.place,
            table: "random",
        });
        refused(message, &axes.chain(random).collect::<Vec<_>>(), true)
    }

    /// Returns the error about a fault of this plan, with the name of its file.
    fn located(&self, fault: Fault) -> SweepError {
        let error = fault.located(&self.text);
        match &self.file {
            Some(file) => error.in_file(file),
            None => error,
        }
    }
}

/// Answers of the cells that were tried, and the error messages of cells without an answer.
#[derive(Default)]
struct Preview {
    answers: Vec<Value>,
    errors: Vec<String>,
}

/// Returns the JSON pointers of all parts of some answers, up to [`MAX_PATHS`] in total.
fn paths(answers: &[Value]) -> Vec<String> {
    let mut paths = Vec::new();
    for answer in answers {
        collect(answer, &mut String::new(), &mut paths);
    }
    paths
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
    let paths = paths(answers);
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
