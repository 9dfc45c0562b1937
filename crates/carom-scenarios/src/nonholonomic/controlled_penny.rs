//! The penny driven by motors with constant torques between impacts.

use crate::ScenarioError;
use crate::config::{Count, Fraction, Input};
use crate::nonholonomic::hybrid_model::{motion, nonholonomic, note, path, quantities, table};
use crate::nonholonomic::penny_model::{
    FROM_ABOVE, InitialConfig, Law, PennyConfig, TableConfig, drawing, from_above, named,
};
use carom_motion::billiard::controlled::{ControlledPenny, RIMS};
use carom_motion::hybrid::Limits;

use carom_motion::billiard::system::{Billiard, follow};
use carom_report::record::Record;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    law: Law,
    restitution: Fraction,
    impacts: Count<1, 1000>,
    heading_torque: f64,
    rolling_torque: f64,
    penny: PennyConfig,
    table: TableConfig,
    initial: InitialConfig,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let disk = config.penny.build()?;
    let start = config.initial.build()?;
    let penny = ControlledPenny::new(
        disk,
        config.table.build()?,
        config.heading_torque,
        config.rolling_torque,
    )
    .map_err(named)?;
    let law = nonholonomic(config.law, *config.restitution)?;
    let (hits, ending) =
        follow(&penny, &law, start, Limits::impacts(*config.impacts)).map_err(named)?;
    note("", (&hits, ending), *config.impacts, &mut record)?;
    record.quantities = quantities(&hits);
    record.tables.push(table(
        &hits,
        "State after each impact; rim 1 is the front, -1 the back.",
        "rim, x [m], y [m], theta [rad], phi [rad], theta_dot_plus [rad/s], phi_dot_plus [rad/s]",
        |hit| {
            let s = &hit.state;
            let rim = RIMS.get(hit.guard).map_or(0.0, |rim| rim.sign());
            vec![rim, s.x, s.y, s.theta, s.phi, s.theta_dot, s.phi_dot]
        },
    ));
    let (x, y) = path(&start, &hits, 80, |s, t| penny.flow(s, t), |s| [s.x, s.y]);
    let played = motion(
        ("motion", "The run", FROM_ABOVE),
        &start,
        &hits,
        |s, t| penny.flow(s, t),
        from_above(disk.radius()),
        |s| [s.x, s.y, s.phi],
    );
    record.animations.push(played.fixed(config.table.wall()));
    let walls = hits.iter().filter_map(|hit| {
        let p = disk.rim(&hit.state, *RIMS.get(hit.guard)?);
        Some([p.x, p.y])
    });
    drawing(&config.table, "controlled-penny/trajectory")
        .with("center", x, y)
        .through("hits", walls)
        .draw(&mut record)?;
    Ok(record)
}
