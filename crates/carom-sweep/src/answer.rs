//! Computes the answer of a cell as a row of the table.

use crate::SweepError;
use crate::derived::derived;
use crate::evaluate::Evaluator;
use crate::plan::{CellKind, Column, ScenarioCells, Source};
use crate::table::{ColumnType, Datum};
use carom_wire::{Command, Problem, WireError, resolve, solve};
use serde::Deserialize;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Row of the table. `is_error` is true if the cell has an error.
pub(crate) struct Row {
    pub(crate) data: Vec<Datum>,
    pub(crate) is_error: bool,
}

/// Answer of a cell, and its problem in generalized velocities if there is one.
pub(crate) struct Answered {
    pub(crate) answer: Value,
    problem: Option<Problem>,
}

/// Computes one row of the sweep's table: the answer of the cell to which the evaluator was moved. A cell is one
/// combination of the varied values; its error, if any, goes into the row.
pub(crate) fn row(evaluator: &mut Evaluator<'_>) -> Result<Row, SweepError> {
    let plan = evaluator.plan;
    let mut data: Vec<Datum> = evaluator.coordinates().collect();
    let before = data.len();
    let mut fault = None;
    match answer(evaluator)? {
        Ok(mut answered) => {
            if plan.columns.iter().any(Column::needs_id)
                && let Value::Object(fields) = &mut answered.answer
            {
                fields.shift_insert(0, "id".to_owned(), Value::String(evaluator.id()));
            }
            for column in &plan.columns {
                let found = value(column, &answered);
                data.push(found.unwrap_or_else(|error| {
                    fault.get_or_insert(error);
                    Datum::Null
                }));
            }
        }
        Err(error) => fault = Some(error),
    }
    data.resize(before + plan.columns.len(), Datum::Null);
    let is_error = fault.is_some();
    match fault {
        Some(error) => data.extend([Datum::Text(error.kind), Datum::Text(error.message)]),
        None => data.extend([Datum::Null, Datum::Null]),
    }
    Ok(Row { data, is_error })
}

/// Computes the answer of the cell (one combination of the varied values) to which the evaluator was moved. The inner
/// result is the answer, or the error of this cell; the outer error stops the whole sweep.
pub(crate) fn answer(
    evaluator: &mut Evaluator<'_>,
) -> Result<Result<Answered, WireError>, SweepError> {
    let kind = &evaluator.plan.kind;
    let input = match evaluator.input()? {
        Ok(input) => input,
        Err(error) => return Ok(Err(error)),
    };
    // A panic of a law in one cell must not end the other cells.
    let answered = catch_unwind(AssertUnwindSafe(|| match kind {
        CellKind::Problem { command, .. } => command_answer(*command, input),
        CellKind::Scenario(cells) => scenario_answer(cells, input),
    }));
    Ok(answered.unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .map(|message| (*message).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "unknown cause".to_owned());
        let message = format!("a fault of carom, please report it: {message}");
        Err(WireError::new("internal", message))
    }))
}

fn command_answer(command: Command, input: &Value) -> Result<Answered, WireError> {
    // Fast path: the problem is parsed without key names for messages, which are needed for errors only.
    if command == Command::Resolve
        && let Ok(problem) = Problem::deserialize(input)
    {
        let answer = Value::Object(resolve(&problem)?.into_fields());
        return Ok(Answered {
            answer,
            problem: Some(problem),
        });
    }
    let answer = solve(command, input.clone())?;
    Ok(Answered {
        answer: Value::Object(answer.fields),
        problem: None,
    })
}

fn scenario_answer(cells: &ScenarioCells, input: &Value) -> Result<Answered, WireError> {
    let overrides = cells.overrides(input);
    let record = cells.scenario.run(&overrides).map_err(|error| {
        let kind = if error.is_configuration() {
            "invalid-configuration"
        } else {
            "not-solved"
        };
        WireError::new(kind, cells.without_folder(&error.to_string()))
    })?;
    let answer =
        serde_json::to_value(&record).map_err(|error| WireError::new("internal", error))?;
    Ok(Answered {
        answer,
        problem: None,
    })
}

fn value(column: &Column, answered: &Answered) -> Result<Datum, WireError> {
    match &column.source {
        Source::Pointer(pointer) => match answered.answer.pointer(pointer) {
            None | Some(Value::Null) => Ok(Datum::Null),
            Some(value) => typed(value, column).ok_or_else(|| {
                let Column { name, kind, .. } = column;
                let (found, kind) = (what(value), kind.name());
                let message = format!("column `{name}`: {pointer} is {found}, not of type {kind}");
                WireError::new("column-type", message)
            }),
        },
        Source::Derived(asked) => derived(
            *asked,
            column.kind,
            &answered.answer,
            answered.problem.as_ref(),
        ),
        // Plans with such a column are refused.
        Source::Unknown(_) => Ok(Datum::Null),
    }
}

fn typed(value: &Value, column: &Column) -> Option<Datum> {
    match (column.kind, value) {
        (ColumnType::Float, Value::Number(number)) => number.as_f64().map(Datum::Float),
        (ColumnType::Integer, Value::Number(number)) => number.as_i64().map(Datum::Integer),
        (ColumnType::Text, Value::String(text)) => Some(Datum::Text(text.clone())),
        (ColumnType::Bool, Value::Bool(value)) => Some(Datum::Bool(*value)),
        (ColumnType::List, Value::Array(items)) => {
            let mut numbers = Vec::new();
            let left_out = column.last.map_or(0, |n| items.len().saturating_sub(n));
            flatten(items.get(left_out..).unwrap_or_default(), &mut numbers)?;
            Some(Datum::List(numbers))
        }
        _ => None,
    }
}

/// Appends all numbers of nested JSON lists to `numbers`, in their order in the text. Returns `None` if an entry is neither
/// a number nor a list. The JSON parser limits the depth of the recursion.
fn flatten(items: &[Value], numbers: &mut Vec<f64>) -> Option<()> {
    for item in items {
        match item {
            Value::Number(number) => numbers.push(number.as_f64()?),
            Value::Array(items) => flatten(items, numbers)?,
            _ => return None,
        }
    }
    Some(())
}

fn what(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Bool(_) => "a boolean",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        Value::Null => "null",
    }
}
