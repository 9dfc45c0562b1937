//! The Chaplygin sleigh in a circular arena.

use crate::ScenarioError;
use crate::config::{Count, Fraction, Input, Positive};
use crate::nonholonomic::hybrid_model::{motion, nonholonomic, note, path, quantities, table};
use crate::nonholonomic::penny_model::{Law, TableConfig, drawing};
use carom_motion::hybrid::Limits;

use carom_motion::billiard::sleigh::{Sleigh, SleighState};
use carom_motion::billiard::system::{Billiard, follow};
use carom_report::animation::Outline;
use carom_report::record::{Color, Quantity, Record};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    law: Law,
    restitution: Fraction,
    impacts: Count<1, 10_000>,
    mass: Positive,
    inertia: Positive,
    offset: Positive,
    bumper: Positive,
    arena: Positive,
    phi: f64,
    speed: f64,
    phi_dot: f64,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let sleigh = Sleigh::new(
        *config.mass,
        *config.inertia,
        *config.offset,
        *config.bumper,
        *config.arena,
    )?;
    let start = SleighState {
        phi: config.phi,
        speed: config.speed,
        phi_dot: config.phi_dot,
        ..SleighState::default()
    };
    let law = nonholonomic(config.law, *config.restitution)?;
    let (hits, ending) = follow(&sleigh, &law, start, Limits::impacts(*config.impacts))?;
    note("", (&hits, ending), *config.impacts, &mut record)?;
    record.quantities = quantities(&hits);
    if let Some(last) = hits.last() {
        record.quantities.push(Quantity::new(
            "invariant_speed_ratio",
            sleigh.invariant_speed(&last.state) / sleigh.invariant_speed(&start),
            "",
        ));
    }
    record.tables.push(table(
        &hits,
        "State after each impact; x and y are the blade's.",
        "x [m], y [m], phi [rad], speed [m/s], phi_dot [rad/s]",
        |hit| {
            let s = &hit.state;
            vec![s.x, s.y, s.phi, s.speed, s.phi_dot]
        },
    ));
    let arena = TableConfig::ellipse([*config.arena; 2]);
    let center = |s: &SleighState| {
        let c = sleigh.center(s);
        [c.x, c.y]
    };
    let (x, y) = path(&start, &hits, 60, |s, t| sleigh.flow(s, t), center);
    let walls = hits.iter().map(|hit| {
        let c = sleigh.center(&hit.state) * (*config.arena / (*config.arena - *config.bumper));
        [c.x, c.y]
    });
    // The origin of the body axes is the contact point of the blade; the first axis points forward.
    let ahead = *config.offset;
    let outlines = vec![
        Outline::disk([ahead, 0.0], *config.bumper, Color::Blue),
        Outline::line([[-0.5 * ahead, 0.0], [0.5 * ahead, 0.0]], Color::Vermillion),
        Outline::line([[0.0, 0.0], [ahead, 0.0]], Color::Gray),
    ];
    let motion = motion(
        (
            "motion",
            "The run",
            "The bumper is round about the center of mass; the blade behind it does not slip \
             sideways.",
        ),
        &start,
        &hits,
        |s, t| sleigh.flow(s, t),
        outlines,
        |s| [s.x, s.y, s.phi],
    );
    record.animations.push(motion.fixed(arena.wall()));
    drawing(&arena, "chaplygin-sleigh/trajectory")
        .with("center of mass", x, y)
        .through("hits", walls)
        .draw(&mut record)?;
    Ok(record)
}
