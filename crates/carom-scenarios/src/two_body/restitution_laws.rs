//! Comparison of the three laws of restitution at one contact.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Input, NonNegative};
use crate::two_body::sliding::{ICOSAHEDRON_TETRAHEDRON, Setup};
use carom_impact::two_body::RestitutionLaw;
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    velocity: [f64; 3],
    friction: NonNegative,
    samples: Count<2, 10_000>,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let laws = [
        RestitutionLaw::Energetic,
        RestitutionLaw::Poisson,
        RestitutionLaw::Newton,
    ];
    let mut table = Table::new(
        "energy_change",
        "Change of kinetic energy against the coefficient of restitution.",
        Column::list("restitution"),
    );
    let coefficients = linspace(0.0, 1.0, *config.samples);
    table.rows = coefficients.iter().map(|e| vec![*e]).collect();
    for law in laws {
        let name = law.name();
        table.columns.push(Column::new(name, "J"));
        let mut change = None;
        for row in &mut table.rows {
            let setup = Setup::new(
                &ICOSAHEDRON_TETRAHEDRON,
                config.velocity,
                *config.friction,
                row[0],
            )?;
            let impact = Setup { law, ..setup }.trace()?.impact;
            row.push(*change.insert(impact.energy_change()));
        }
        record.quantities.extend(
            change.map(|last| Quantity::new(format!("{name}_elastic_energy_change_j"), last, "J")),
        );
    }
    let plot = Plot::new("restitution-laws/energy_change").of(&table);
    plot.draw(&mut record)?;
    record.tables.push(table);
    Ok(record)
}
