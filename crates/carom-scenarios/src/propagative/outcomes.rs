//! Tables and figures of the outcomes of one impact, for several scenarios.

use crate::propagative::model::diagnostics;
use carom_contact::OutcomeSet;
use carom_report::record::{Column, Quantity, Table};

/// The number of outcomes, and how far apart they are.
pub(crate) fn spread(set: &OutcomeSet) -> [Quantity; 2] {
    [
        Quantity::new("outcomes", set.outcomes.len() as f64, ""),
        Quantity::new("indeterminacy", set.indeterminacy, ""),
    ]
}

/// One row per outcome: how many impacts lead there, in how many orders, and the velocities, whose
/// names and units are given.
pub(crate) fn table(caption: &str, set: &OutcomeSet, velocities: &[(&str, &str)]) -> Table {
    let counts = [("impacts", ""), ("sequences", "")];
    let columns = counts.iter().chain(velocities);
    let mut table = Table::new(
        "outcomes",
        caption,
        columns
            .map(|(name, unit)| Column::new(*name, *unit))
            .collect(),
    );
    for outcome in &set.outcomes {
        let diagnostics = diagnostics(outcome);
        let mut row = vec![diagnostics.impacts as f64, diagnostics.n_sequences as f64];
        row.extend(outcome.velocity_plus.0.iter());
        table.rows.push(row);
    }
    table
}
