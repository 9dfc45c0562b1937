//! A knife edge on an incline above a wall.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, Positive};
use crate::nonholonomic::hybrid_model::{motion, nonholonomic, note, path, quantities, table};
use crate::nonholonomic::penny_model::Law;
use carom_motion::hybrid::Limits;

use carom_motion::billiard::knife_edge::{KnifeEdge, KnifeState};
use carom_motion::billiard::system::{Billiard, follow};
use carom_report::animation::Outline;
use carom_report::record::{Color, Quantity, Record};
use serde::Deserialize;
use std::f64::consts::FRAC_PI_2;

/// Half length of the drawn blade, as a share of the width of the run.
const BLADE: f64 = 0.03;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    law: Law,
    restitution: Fraction,
    impacts: Count<1, 10_000>,
    mass: Positive,
    inertia: Positive,
    pull: Positive,
    wall: Positive,
    phi: f64,
    speed: f64,
    phi_dot: f64,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let blade = KnifeEdge::new(*config.mass, *config.inertia, *config.pull, *config.wall)?;
    let start = KnifeState {
        phi: config.phi,
        speed: config.speed,
        phi_dot: config.phi_dot,
        ..KnifeState::default()
    };
    let law = nonholonomic(config.law, *config.restitution)?;
    let (hits, ending) = follow(&blade, &law, start, Limits::impacts(*config.impacts))?;
    note("", (&hits, ending), *config.impacts, &mut record)?;
    record.quantities = quantities(&hits);
    if let Some(first) = hits.first() {
        // Conservation of energy: half the square of the speed grows by the drop times the pull.
        let speed = (config.speed * config.speed + 2.0 * *config.pull * *config.wall).sqrt();
        record.quantities.push(
            Quantity::new("first_speed_m_per_s", first.before.speed.abs(), "m/s")
                .closed_form(speed, "conservation of energy"),
        );
    }
    record.tables.push(table(
        &hits,
        "State after each impact.",
        "y [m], phi [rad], speed_minus [m/s], speed_plus [m/s]",
        |hit| {
            vec![
                hit.state.y,
                hit.state.phi,
                hit.before.speed,
                hit.state.speed,
            ]
        },
    ));
    // The downhill direction points down in the figure.
    let (y, height) = path(&start, &hits, 80, |s, t| blade.flow(s, t), |s| [s.y, -s.x]);
    let (low, high) = y.iter().fold((f64::MAX, f64::MIN), |(low, high), y| {
        (low.min(*y), high.max(*y))
    });
    let half = BLADE * (high - low);
    let ends = |x: [f64; 2]| x.map(|x| [x, -*config.wall]);
    let played = motion(
        (
            "motion",
            "The run",
            "The blade slides along itself only; its front is marked, and it is drawn longer than \
             the point that it is.",
        ),
        &start,
        &hits,
        |s, t| blade.flow(s, t),
        vec![
            Outline::line([[-half, 0.0], [half, 0.0]], Color::Blue),
            Outline::disk([half, 0.0], 0.1 * half, Color::Vermillion),
        ],
        |s| [s.y, -s.x, s.phi - FRAC_PI_2],
    );
    let wall = Outline::line(ends([low - half, high + half]), Color::Gray);
    record.animations.push(played.fixed(wall));
    Plot::new("knife-edge/trajectory")
        .with("wall", [low, high], [-*config.wall; 2])
        .with("blade", y, height)
        .through("hits", hits.iter().map(|hit| [hit.state.y, -hit.state.x]))
        .draw(&mut record)?;
    Ok(record)
}
