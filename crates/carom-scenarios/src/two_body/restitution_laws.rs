//! The three laws of restitution at one contact.

use crate::common::linspace;
use crate::config::count;
use crate::scenario::{Configuration, begin};
use crate::two_body::sliding::{ICOSAHEDRON_TETRAHEDRON, LawName, Setup};
use crate::{Overrides, Scenario, ScenarioError};
use carom_report::record::{Axis, Color, Column, Figure, Mark, Quantity, Record, Table};
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "restitution-laws",
    "Stronge's, Poisson's and Newton's restitution: Newton's can create energy",
    "Jia & Wang",
    "section 1, energetic inconsistency of Newton's hypothesis",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    velocity: [f64; 3],
    friction: f64,
    samples: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            velocity: [-0.7733755372, -0.6339481670, -0.8380414992],
            friction: 0.5,
            samples: 51,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
velocity = [-0.7733755372, -0.6339481670, -0.8380414992]    # m/s; our choice
friction = 0.5
samples = 51      # coefficients of restitution in [0, 1]
";
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    count("samples", config.samples, 2, 10_000)?;
    let laws = [
        (LawName::Energetic, "energetic", Color::Blue),
        (LawName::Poisson, "poisson", Color::Green),
        (LawName::Newton, "newton", Color::Vermillion),
    ];
    let mut columns = vec![Column::new("restitution", "")];
    let mut figure = Figure::new(
        "energy_change",
        "Energy change under three laws of restitution",
        "The icosahedron on the tetrahedron. Above zero, energy is created.",
        Axis::linear("coefficient of restitution", ""),
        Axis::linear("change of kinetic energy", "J"),
    );
    let coefficients = linspace(0.0, 1.0, config.samples);
    let mut rows: Vec<Vec<f64>> = coefficients.iter().map(|e| vec![*e]).collect();
    for (law, name, color) in laws {
        columns.push(Column::new(name, "J"));
        let mut changes = Vec::with_capacity(config.samples);
        for (row, &e) in rows.iter_mut().zip(&coefficients) {
            let mut setup = Setup::new(
                &ICOSAHEDRON_TETRAHEDRON,
                config.velocity,
                config.friction,
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
        let label = match law {
            LawName::Energetic => "energetic (Stronge)",
            LawName::Poisson => "kinetic (Poisson)",
            LawName::Newton => "kinematic (Newton)",
        };
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
