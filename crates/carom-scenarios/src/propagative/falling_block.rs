//! A block that lands flat on two corners; a rod if its height is zero.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, Positive};
use crate::propagative::model::{System, propagative, row};
use crate::propagative::outcomes;
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    half_width: Positive,
    half_height: f64,
    mass: Positive,
    velocity: [f64; 3],
    restitution: Fraction,
    max_aspect: Positive,
    samples: Count<2, 100_000>,
}

/// Builds the falling block with the coordinates x, y and angle. The two contacts of the block are the left and the right lower
/// corner.
fn block(half_width: f64, half_height: f64, mass: f64) -> Result<System, ScenarioError> {
    let inertia = mass * (half_width * half_width + half_height * half_height) / 3.0;
    let normals = [-half_width, half_width].map(|x| row(3, &[(1, 1.0), (2, x)]));
    System::diagonal(&[mass, mass, inertia], normals.to_vec())
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    if !(config.half_height >= 0.0 && config.half_height.is_finite()) {
        return Err(ScenarioError::value(
            "half_height",
            format!("{} must be at least 0", config.half_height),
        ));
    }
    let system = block(*config.half_width, config.half_height, *config.mass)?;
    let set = system.resolve_all(&config.velocity, &propagative(*config.restitution)?)?;
    let (a2, b2) = (
        (*config.half_width * *config.half_width),
        (config.half_height * config.half_height),
    );
    let pairs = system.uniqueness()?.pairs;
    record
        .quantities
        .push(Quantity::new("cosine", system.cosine()?, "").closed_form(
            (b2 - 2.0 * a2) / (b2 + 4.0 * a2),
            "(b^2 - 2a^2)/(b^2 + 4a^2)",
        ));
    for pair in &pairs {
        record.quantities.push(
            Quantity::new("exponent", pair.exponent, "")
                .note("pi / 2 gamma; an integer means one outcome"),
        );
        record.quantities.push(Quantity::new(
            "worst_indeterminacy",
            pair.worst_indeterminacy,
            "",
        ));
    }
    record.quantities.extend(outcomes::spread(&set));
    let mut table = outcomes::table(
        "Velocities after the impact, one row per outcome.",
        &set,
        "velocity_x [m/s], velocity_y [m/s], angular_velocity [rad/s]",
    );
    table.columns.push(Column::new("energy_change", "J"));
    for (row, outcome) in table.rows.iter_mut().zip(&set.outcomes) {
        row.push(outcome.audit.energy_change_j());
    }
    record.tables.push(table);
    aspects(&config, &mut record)?;
    Ok(record)
}

fn aspects(config: &Config, record: &mut Record) -> Result<(), ScenarioError> {
    let aspects = linspace(0.0, *config.max_aspect, *config.samples);
    let mut table = Table::new(
        "aspect",
        "Indeterminacy against height over width.",
        Column::list("aspect, cosine, worst, falling_flat"),
    );
    for &aspect in &aspects {
        let system = block(0.5, 0.5 * aspect, 1.0)?;
        let set = system.resolve_all(&[0.0, -1.0, 0.0], &propagative(1.0)?)?;
        let pair = system.worst_indeterminacy()?;
        table
            .rows
            .push(vec![aspect, system.cosine()?, pair, set.indeterminacy]);
    }
    Plot::new("falling-block/aspect_indeterminacy")
        .x_range([0.0, *config.max_aspect])
        .of(&table)
        .with("theory: ξ = 0", [0.0, std::f64::consts::SQRT_2], [0.0; 2])
        .draw(record)?;
    record.tables.push(table);
    Ok(())
}
