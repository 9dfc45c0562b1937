//! The Chaplygin sleigh in a circular arena.

use crate::config::{count, finite, positive};
use crate::nonholonomic::hybrid_model::{motion, nonholonomic, path, quantities, status, table};
use crate::nonholonomic::penny_model::{Law, TableConfig, drawing};
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_billiard::hybrid::{Billiard, Limits, follow};
use carom_billiard::sleigh::{Sleigh, SleighState};
use carom_report::animation::Outline;
use carom_report::record::{Color, Mark, PointShape, Quantity, Record};
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "chaplygin-sleigh",
    "a sleigh on a blade with a round bumper bounces in a circular arena",
    "Clark & Bloch",
    "Sec. IV on another classical system",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    law: Law,
    restitution: f64,
    impacts: usize,
    mass: f64,
    inertia: f64,
    offset: f64,
    bumper: f64,
    arena: f64,
    phi: f64,
    speed: f64,
    phi_dot: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            law: Law::Elastic,
            restitution: 0.5,
            impacts: 8,
            mass: 1.0,
            inertia: 0.1,
            offset: 0.2,
            bumper: 0.1,
            arena: 2.0,
            phi: 0.3,
            speed: 1.0,
            phi_dot: 1.5,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
law = \"elastic\"     # \"projected\", \"newton\", \"projected-newton\"
restitution = 0.5   # of the last two
impacts = 8
mass = 1.0          # kg
inertia = 0.1       # about the center of mass, kg m^2
offset = 0.2        # of the center of mass ahead of the blade, m
bumper = 0.1        # radius about the center of mass, m
arena = 2.0         # radius, m
phi = 0.3           # heading at the start, rad; the blade is in the middle
speed = 1.0         # m/s
phi_dot = 1.5       # rad/s
";
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    count("impacts", config.impacts, 1, 10_000)?;
    positive("mass", &[config.mass])?;
    positive("inertia", &[config.inertia])?;
    positive("offset", &[config.offset])?;
    positive("bumper", &[config.bumper])?;
    positive("arena", &[config.arena])?;
    finite("phi", &[config.phi])?;
    finite("speed", &[config.speed])?;
    finite("phi_dot", &[config.phi_dot])?;
    let sleigh = Sleigh::new(
        config.mass,
        config.inertia,
        config.offset,
        config.bumper,
        config.arena,
    )?;
    let start = SleighState {
        phi: config.phi,
        speed: config.speed,
        phi_dot: config.phi_dot,
        ..SleighState::default()
    };
    let law = nonholonomic(config.law, config.restitution)?;
    let (hits, ending) = follow(&sleigh, &law, start, Limits::impacts(config.impacts))?;
    record.status = status(ending);
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
        &[
            ("x", "m"),
            ("y", "m"),
            ("phi", "rad"),
            ("speed", "m/s"),
            ("phi_dot", "rad/s"),
        ],
        |hit| {
            let s = &hit.state;
            vec![s.x, s.y, s.phi, s.speed, s.phi_dot]
        },
    ));
    let arena = TableConfig {
        semi_axes: [config.arena; 2],
        ..TableConfig::default()
    };
    let center = |s: &SleighState| {
        let c = sleigh.center(s);
        [c.x, c.y]
    };
    let (x, y) = path(&start, &hits, 60, |s, t| sleigh.flow(s, t), center);
    let (hit_x, hit_y) = hits
        .iter()
        .map(|hit| {
            let c = sleigh.center(&hit.state) * (config.arena / (config.arena - config.bumper));
            (c.x, c.y)
        })
        .unzip();
    // The blade is the origin of the moving axes, which look where the sleigh heads.
    let ahead = config.offset;
    let outlines = vec![
        Outline::disk([ahead, 0.0], config.bumper, Color::Blue),
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
    record.figures.push(
        drawing(
            &arena,
            "trajectory",
            "Chaplygin sleigh in an arena",
            "Path of the center of mass and the wall points that the bumper hits.",
        )
        .mark(Mark::line("center of mass", x, y, Color::Blue))
        .mark(Mark::Points {
            label: Some("hits".to_owned()),
            x: hit_x,
            y: hit_y,
            shape: PointShape::Circle,
            color: Color::Vermillion,
        }),
    );
    Ok(record)
}
