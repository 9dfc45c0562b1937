//! Tables and figures of the outcomes of one impact, shared by several scenarios.

use crate::propagative::model::diagnostics;
use carom_contact::OutcomeSet;
use carom_report::record::{Column, Quantity, Table};

/// Returns the number of outcomes of an impact, and the largest relative distance between two of them (indeterminacy).
pub(crate) fn spread(set: &OutcomeSet) -> [Quantity; 2] {
    [
        Quantity::new("outcomes", set.outcomes.len() as f64, ""),
        Quantity::new("indeterminacy", set.indeterminacy, ""),
    ]
}

/// Builds a table with one row per outcome of an impact. The columns are the number of elementary impacts, the number of
/// orders that lead to the outcome, and the velocities. `velocities`: names and units of the velocities.
pub(crate) fn table(caption: &str, set: &OutcomeSet, velocities: &str) -> Table {
    let columns = Column::list(&format!("impacts, sequences, {velocities}"));
    let mut table = Table::new("outcomes", caption, columns);
    for outcome in &set.outcomes {
        let diagnostics = diagnostics(outcome);
        let mut row = vec![diagnostics.impacts as f64, diagnostics.n_sequences as f64];
        row.extend(outcome.velocity_plus.0.iter());
        table.rows.push(row);
    }
    table
}
