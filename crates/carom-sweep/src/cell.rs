//! Cells of a plan as lines.

use crate::evaluate::Evaluator;
use crate::{Plan, SweepError};
use carom_wire::WireError;
use serde_json::Value;

/// A cell: the line that is answered for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its number.
    pub index: u64,
    /// The line, as JSON; or the reason that it could not be made.
    pub input: Result<Value, WireError>,
}

impl Cell {
    /// The line as text: what `carom resolve` and its like take, or `{"id", "error"}`.
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
    /// A cell.
    ///
    /// # Errors
    ///
    /// [`SweepError::OutOfRange`]; [`SweepError::File`] if the file of states has gone.
    pub fn cell(&self, index: u64) -> Result<Cell, SweepError> {
        let mut evaluator = Evaluator::new(self)?;
        evaluator.move_to(index)?;
        Ok(Cell {
            index,
            input: evaluator.line()?,
        })
    }
}
