//! Table of contact forces in the record of a world.

use super::output::OutputConfig;
use carom_world::ContactForce;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Columns: place (m), and force on `first` (N).
const COLUMNS: [&str; 9] = ["time", "first", "second", "x", "y", "z", "fx", "fy", "fz"];

/// Contact forces at the times of the samples after the start.
pub(super) struct ForcesTable {
    is_wanted: bool,
    rows: Vec<Value>,
    /// Time of the latest sample (s).
    latest: f64,
}

impl ForcesTable {
    pub(super) fn new(output: &OutputConfig) -> Self {
        Self {
            is_wanted: output.forces,
            rows: Vec::new(),
            latest: 0.0,
        }
    }

    /// Adds the forces at `time` (s), if that is later than the latest sample. `name` names a body or plane.
    pub(super) fn note<'n>(
        &mut self,
        time: f64,
        forces: &[ContactForce],
        name: impl Fn(usize) -> &'n str,
    ) {
        if !(self.is_wanted && time > self.latest) {
            return;
        }
        self.latest = time;
        self.rows.extend(forces.iter().map(|it| {
            let ([x, y, z], [fx, fy, fz]) = (it.point.into(), it.force.into());
            json!([time, name(it.first), name(it.second), x, y, z, fx, fy, fz])
        }));
    }

    /// Adds the table to the results of a run.
    pub(super) fn report(&self, results: &mut BTreeMap<String, Value>) {
        if self.is_wanted {
            let table = json!({"columns": COLUMNS, "rows": self.rows});
            results.insert("contact_forces".to_owned(), table);
        }
    }
}
