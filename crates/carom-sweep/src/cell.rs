//! Cells of a plan as lines of input.

use crate::evaluate::Evaluator;
use crate::plan::CellKind;
use crate::{Plan, SweepError};
use carom_wire::WireError;
use serde_json::Value;

/// Cell of a sweep: one combination of axis values, with the input that a command such as `carom resolve` gets for this
/// combination. Returned by [`Plan::cell`].
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Index of the cell.
    pub index: u64,
    /// Input as JSON, or the error that prevented it.
    pub input: Result<Value, WireError>,
}

impl Cell {
    /// Returns the input of the cell as a line of JSON, as `carom resolve` and similar commands read it. If the input could not
    /// be made, the line is `{"id", "error"}`.
    pub fn line(&self) -> String {
        match &self.input {
            Ok(value) => value.to_string(),
            Err(error) => {
                let id = format!("cell-{}", self.index);
                serde_json::json!({ "id": id, "error": error.to_value() }).to_string()
            }
        }
    }
}

impl Plan {
    /// Returns the configuration of a cell of a plan that runs a scenario, as TOML: the file of the plan with the values of the cell.
    /// A run of the scenario with this file has the cell's columns. Paths in it are absolute.
    ///
    /// # Errors
    ///
    /// The errors of [`cell`](Self::cell), and [`SweepError::Unsuitable`] for a plan of problems and for a cell without a
    /// configuration.
    pub fn cell_toml(&self, index: u64) -> Result<String, SweepError> {
        let CellKind::Scenario(cells) = &self.kind else {
            let message = "a cell of [problem] or [states] is a line of JSON, without --toml";
            return Err(SweepError::Unsuitable(message.to_owned()));
        };
        let input = self.cell(index)?.input;
        let input = input.map_err(|error| SweepError::Unsuitable(error.message))?;
        let text = cells.scenario.configuration(&cells.overrides(&input));
        text.map_err(|error| SweepError::Unsuitable(error.to_string()))
    }

    /// Returns the cell of the plan (one combination of axis values) with the given index, counted from 0.
    ///
    /// # Errors
    ///
    /// [`SweepError::OutOfRange`]; [`SweepError::File`] if the file of states cannot be opened any more.
    pub fn cell(&self, index: u64) -> Result<Cell, SweepError> {
        let mut evaluator = Evaluator::new(self)?;
        evaluator.move_to(index)?;
        Ok(Cell {
            index,
            input: evaluator.line()?,
        })
    }
}
