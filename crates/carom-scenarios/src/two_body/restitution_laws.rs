//! Comparison of the three laws of restitution at one contact.

use crate::ScenarioError;
use crate::common::linspace;
use crate::config::{Count, Input, NonNegative};
use crate::two_body::sliding::{ICOSAHEDRON_TETRAHEDRON, Setup};
use carom_impact::two_body::RestitutionLaw;
use carom_report::record::{Axis, Color, Column, Figure, Mark, Quantity, Record, Table};
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
        (
            RestitutionLaw::Energetic,
            "energetic (Stronge)",
            Color::Blue,
        ),
        (RestitutionLaw::Poisson, "kinetic (Poisson)", Color::Green),
        (
            RestitutionLaw::Newton,
            "kinematic (Newton)",
            Color::Vermillion,
        ),
    ];
    let mut columns = vec![Column::new("restitution", "")];
    let mut figure = Figure::new(
        "energy_change",
        "Energy change under three laws of restitution",
        "The icosahedron on the tetrahedron. Above zero, energy is created.",
        Axis::linear("coefficient of restitution", ""),
        Axis::linear("change of kinetic energy", "J"),
    );
    let coefficients = linspace(0.0, 1.0, *config.samples);
    let mut rows: Vec<Vec<f64>> = coefficients.iter().map(|e| vec![*e]).collect();
    for (law, label, color) in laws {
        let name = law.name();
        columns.push(Column::new(name, "J"));
        let mut changes = Vec::with_capacity(*config.samples);
        for (row, &e) in rows.iter_mut().zip(&coefficients) {
            let mut setup = Setup::new(
                &ICOSAHEDRON_TETRAHEDRON,
                config.velocity,
                *config.friction,
                e,
            )?;
            setup.law = law;
            let impact = setup.trace()?.impact;
            let change = impact.energy_change();
            row.push(change);
            changes.push(change);
        }
        if let Some(&last) = changes.last() {
            record.quantities.push(Quantity::new(
                format!("{name}_elastic_energy_change_j"),
                last,
                "J",
            ));
        }
        figure
            .marks
            .push(Mark::line(label, coefficients.clone(), changes, color));
    }
    let mut table = Table::new(
        "energy_change",
        "Change of kinetic energy against the coefficient of restitution.",
        columns,
    );
    table.rows = rows;
    record.tables.push(table);
    record.figures.push(figure);
    Ok(record)
}
