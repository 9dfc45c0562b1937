//! A disk that bounces in a strip without slipping at the walls.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Input, Positive};
use crate::nonholonomic::hybrid_model::{motion, name_laws, note, path, quantities, table};
use carom_motion::hybrid::Limits;

use carom_contact::ImpactLaw;
use carom_impact::Rough;
use carom_motion::billiard::no_slip_disk::{DiskState, NoSlipDisk};
use carom_motion::billiard::system::{Billiard, follow};
use carom_report::animation::Outline;
use carom_report::record::{Color, Quantity, Record};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    impacts: Count<1, 100_000>,
    width: Positive,
    radius: Positive,
    mass: Positive,
    inertia: Positive,
    velocity: [f64; 2],
    spin: f64,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let disk = NoSlipDisk::new(*config.mass, *config.radius, *config.inertia, *config.width)
        .map_err(|e| ScenarioError::value("width", e))?;
    let [x_dot, y_dot] = config.velocity;
    let start = DiskState {
        x: 0.0,
        y: *config.radius,
        x_dot,
        y_dot,
        spin: config.spin,
    };
    let rough = Rough::new(1.0)?;
    let (hits, ending) = follow(&disk, &rough, start, Limits::impacts(*config.impacts))?;
    note("", (&hits, ending), *config.impacts, &mut record)?;
    name_laws(&[rough.name()], &mut record);
    record.quantities = quantities(&hits);
    let (low, high) = hits.iter().fold((0.0f64, 0.0f64), |(low, high), hit| {
        (low.min(hit.state.x), high.max(hit.state.x))
    });
    record.quantities.extend([
        Quantity::new("lowest_x_m", low, "m"),
        Quantity::new("highest_x_m", high, "m"),
    ]);
    record.tables.push(table(
        &hits,
        "State after each impact; wall 0 is the lower one.",
        "wall, x [m], velocity_x [m/s], velocity_y [m/s], spin [rad/s]",
        |hit| {
            let s = &hit.state;
            vec![hit.guard as f64, s.x, s.x_dot, s.y_dot, s.spin]
        },
    ));
    let (x, y) = path(&start, &hits, 1, |s, t| disk.flow(s, t), |s| [s.x, s.y]);
    let mut played = motion(
        ("motion", "The run", "The first impacts."),
        &start,
        &hits,
        |s, t| disk.flow(s, t),
        vec![Outline::disk([0.0; 2], *config.radius, Color::Blue)],
        |s| [s.x, s.y, 0.0],
    );
    let ends = [low - 2.0 * *config.radius, high + 2.0 * *config.radius];
    for wall in [0.0, *config.width] {
        played = played.fixed(Outline::line(ends.map(|x| [x, wall]), Color::Gray));
    }
    record.animations.push(played);
    let mut plot = Plot::new("no-slip-disk/trajectory");
    for wall in [0.0, *config.width] {
        plot = plot.with("wall", ends, [wall; 2]);
    }
    plot.with("center", x, y).draw(&mut record)?;
    Ok(record)
}
