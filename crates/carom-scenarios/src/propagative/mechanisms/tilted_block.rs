//! A block falls on one corner.

use super::report::{Motion, Times, describe, figure, simulate};
use crate::config::{finite, positive};
use crate::propagative::model::propagative;
use crate::propagative::played::Played;
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_mechanism::systems::Block;
use carom_report::animation::{Animation, Outline};
use carom_report::record::{Axis, Color, Quantity, Record};
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "tilted-block",
    "an elastic block falls on one corner: flights without step error, energy kept in every impact",
    "Seghete & Murphey",
    "Sec. VI on a system with exact flights",
    run,
);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    half_width: f64,
    half_height: f64,
    mass: f64,
    height: f64,
    tilt: f64,
    gravity: f64,
    restitution: f64,
    corners: Corners,
    time_step: f64,
    duration: f64,
}

/// Which corners hit the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Corners {
    Lower,
    All,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            half_width: 0.5,
            half_height: 0.5,
            mass: 1.0,
            height: 1.2,
            tilt: 0.1,
            gravity: 9.81,
            restitution: 1.0,
            corners: Corners::Lower,
            time_step: 0.01,
            duration: 2.0,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
half_width = 0.5     # m
half_height = 0.5    # m; 0 is a rod
mass = 1.0           # kg
height = 1.2         # m, of the center, released at rest
tilt = 0.1           # rad
gravity = 9.81       # m/s^2
restitution = 1.0    # of a whole event
corners = \"lower\"    # \"lower\": two contacts, as in the reference run; \"all\": four
time_step = 0.01     # s
duration = 2.0       # s
";
}

/// Impacts of the default run, by bisection of the closed-form gaps between impacts.
const REFERENCE: [f64; 5] = [
    0.364752079246287,
    0.385420909074086,
    1.105872864442463,
    1.356033886404616,
    1.436372447021781,
];

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    let times = Times {
        step: config.time_step,
        duration: config.duration,
    };
    times.check()?;
    positive("half_width", &[config.half_width])?;
    positive("mass", &[config.mass])?;
    finite("height, tilt", &[config.height, config.tilt])?;
    let gravity = [0.0, -config.gravity];
    let block = Block::new(config.half_width, config.half_height, config.mass, gravity)?;
    let block = match config.corners {
        Corners::Lower => block.with_lower_corners(),
        Corners::All => block,
    };
    let law = propagative(config.restitution)?;
    let start = [0.0, config.height, config.tilt];
    let motion = simulate(&block, &law, &start, &[0.0; 3], times)?;
    // The flights have no step error, so the reference holds for every step.
    let changed = Config {
        time_step: Config::default().time_step,
        ..config
    } != Config::default();
    let reference = if changed { &[][..] } else { &REFERENCE };
    let coordinates = [("x", "m"), ("y", "m"), ("angle", "rad")];
    describe(
        &mut record,
        &motion,
        reference,
        "exact flights between impacts",
        &coordinates,
    );
    record.quantities.push(Quantity::new(
        "max_abs_energy_error_j",
        motion.energy_error(),
        "J",
    ));
    record.quantities.push(Quantity::new(
        "max_abs_impact_energy_change_j",
        motion.impact_energy_error(),
        "J",
    ));
    record.figures.push(figure(
        "motion",
        "A block falls on one corner",
        "Height of the center and angle over time.",
        Axis::linear("height (m), angle (rad)", ""),
        &motion,
        &[(1, "height"), (2, "angle")],
    ));
    record.animations.push(played(&config, &motion));
    Ok(record)
}

fn played(config: &Config, motion: &Motion) -> Animation {
    let (a, b) = (config.half_width, config.half_height);
    let corners = [[-a, -b], [a, -b], [a, b], [-a, b]];
    let hitting = match config.corners {
        Corners::Lower => &corners[..2],
        Corners::All => &corners[..],
    };
    let size = a.hypot(b);
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
