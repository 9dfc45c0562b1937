//! A block that falls on one corner.

use super::report::{Motion, Times, describe, figure, simulate};
use crate::ScenarioError;
use crate::config::{Fraction, Input, Positive};
use crate::propagative::model::propagative;
use crate::propagative::played::Played;
use carom_mechanism::systems::Block;
use carom_report::animation::{Animation, Outline};
use carom_report::record::{Color, Record, ReferenceKind};
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    half_width: Positive,
    half_height: f64,
    mass: Positive,
    height: f64,
    tilt: f64,
    gravity: f64,
    restitution: Fraction,
    corners: Corners,
    time_step: Positive,
    duration: Positive,
}

/// Set of corners that can hit the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Corners {
    Lower,
    All,
}

/// Times of the impacts in the default run (s), by bisection of the closed-form gaps between impacts.
const REFERENCE: [f64; 5] = [
    0.364752079246287,
    0.385420909074086,
    1.105872864442463,
    1.356033886404616,
    1.436372447021781,
];

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let times = Times::new(*config.time_step, *config.duration)?;
    let gravity = [0.0, -config.gravity];
    let block = Block::new(
        *config.half_width,
        config.half_height,
        *config.mass,
        gravity,
    )?;
    let block = match config.corners {
        Corners::Lower => block.with_lower_corners(),
        Corners::All => block,
    };
    let law = propagative(*config.restitution)?;
    let start = [0.0, config.height, config.tilt];
    let motion = simulate(&block, &law, &start, &[0.0; 3], times)?;
    // Flights have no discretization error, so the reference is valid for every time step.
    let reference = if input.is_default_but_for(&["time_step"]) {
        &REFERENCE[..]
    } else {
        &[]
    };
    describe(
        &mut record,
        &motion,
        reference,
        (ReferenceKind::Independent, "exact flights between impacts"),
        "x [m], y [m], angle [rad]",
    );
    record.quantities.extend(motion.energy_quantities());
    let lines = [(1, "height"), (2, "angle")];
    figure("tilted-block/motion", &motion, &lines).draw(&mut record)?;
    record.animations.push(played(&config, &motion));
    Ok(record)
}

fn played(config: &Config, motion: &Motion) -> Animation {
    let (a, b) = (*config.half_width, config.half_height);
    let corners = [[-a, -b], [a, -b], [a, b], [-a, b]];
    let hitting = match config.corners {
        Corners::Lower => &corners[..2],
        Corners::All => &corners[..],
    };
    let size = libm::hypot(a, b);
    let marks = hitting
        .iter()
        .map(|corner| Outline::disk(*corner, 0.04 * size, Color::Vermillion));
    let block = Outline::polygon(corners, Color::Blue);
    let outlines = std::iter::once(block).chain(marks).collect();
    let played = Played::new(&motion.trajectory);
    played
        .animation(
            "fall",
            "A block falls on one corner",
            "Only the marked corners hit the floor.",
        )
        .fixed(Outline::line(
            [[-2.0 * size, 0.0], [2.0 * size, 0.0]],
            Color::Gray,
        ))
        .body(played.body(outlines, |q| [q[0], q[1], q[2]]))
}
