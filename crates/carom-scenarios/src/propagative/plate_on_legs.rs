//! A plate that lands on four legs at once: more contacts than degrees of freedom at the contacts.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Input, Positive};
use crate::propagative::model::{System, diagnostics, propagative, row};
use crate::propagative::outcomes;
use carom_report::record::{Quantity, Record};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    half_sides: Positive<[f64; 2]>,
    mass: Positive,
    momentum: [f64; 3],
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let [a, b] = *config.half_sides;
    // Coordinates (z, rotation about x, rotation about y); the height of the corner (x, y) is
    // z + y θx − x θy.
    let masses = [
        *config.mass,
        *config.mass * b * b / 3.0,
        *config.mass * a * a / 3.0,
    ];
    let corners = [[a, b], [a, -b], [-a, b], [-a, -b]];
    let normals = corners.map(|[x, y]| row(3, &[(0, 1.0), (1, y), (2, -x)]));
    let system = System::diagonal(&masses, normals.to_vec())?;
    let velocity: Vec<f64> = config
        .momentum
        .iter()
        .zip(masses)
        .map(|(p, m)| p / m)
        .collect();
    let set = system.resolve_all(&velocity, &propagative(1.0)?)?;
    let lengths: Vec<u64> = set
        .outcomes
        .iter()
        .flat_map(|o| diagnostics(o).lengths)
        .collect();
    let bound =
        |pick: fn(u64, u64) -> u64| lengths.iter().copied().reduce(pick).unwrap_or(0) as f64;
    let [outcomes, indeterminacy] = outcomes::spread(&set);
    record.quantities.extend([
        Quantity::new("cosine", system.cosine()?, ""),
        outcomes,
        Quantity::new("shortest_sequence", bound(u64::min), ""),
        Quantity::new("longest_sequence", bound(u64::max), ""),
        indeterminacy,
    ]);
    let table = outcomes::table(
        "One row per outcome.",
        &set,
        "velocity_z [m/s], angular_velocity_x [rad/s], angular_velocity_y [rad/s]",
    );
    let mut plot = Plot::new("plate-on-legs/outcomes");
    let mut impacts = table.column(0);
    impacts.sort_by(f64::total_cmp);
    impacts.dedup();
    for (k, count) in impacts.iter().enumerate() {
        let rows = table.rows.iter().filter(|row| row[0] == *count);
        let rates = rows.map(|row| [row[3], row[4]]);
        plot.numbered("impacts", k, &format!("{count} impacts"), rates);
    }
    plot.draw(&mut record)?;
    record.tables.push(table);
    Ok(record)
}
