//! The penny with motors: constant torques between impacts.

use crate::config::{count, finite};
use crate::nonholonomic::hybrid_model::{motion, nonholonomic, path, quantities, status, table};
use crate::nonholonomic::penny_model::{
    FROM_ABOVE, InitialConfig, Law, PennyConfig, TableConfig, drawing, from_above, named,
};
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_billiard::controlled::{ControlledPenny, RIMS};
use carom_billiard::hybrid::{Billiard, Limits, follow};
use carom_report::record::{Color, Mark, PointShape, Record};
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "controlled-penny",
    "the bouncing penny with constant torques about the vertical and the axle",
    "Clark & Bloch",
    "Sec. VII, future work",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    law: Law,
    restitution: f64,
    impacts: usize,
    heading_torque: f64,
    rolling_torque: f64,
    penny: PennyConfig,
    table: TableConfig,
    initial: InitialConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            law: Law::Elastic,
            restitution: 0.6,
            impacts: 5,
            heading_torque: 1.875e-8,
            rolling_torque: 0.0,
            penny: PennyConfig::default(),
            table: TableConfig::default(),
            initial: InitialConfig::default(),
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
law = \"elastic\"            # \"projected\", \"newton\", \"projected-newton\"
restitution = 0.6          # of the last two
impacts = 5
heading_torque = 1.875e-8  # u1, about the vertical, N m
rolling_torque = 0.0       # u2, about the axle, N m

[penny]                    # the paper's Table I
radius = 0.01              # m
mass = 0.0025              # kg
spin_inertia = 1.25e-7     # kg m^2
heading_inertia = 6.25e-8  # kg m^2

[table]
type = \"ellipse\"           # or \"superellipse\", which has an exponent (4.0)
semi_axes = [0.15, 0.20]   # m

[initial]                  # Sec. VI-A
x = 0.0                    # m
y = 0.0                    # m
theta = 0.0                # rad
phi = 1.5707963267948966   # rad
theta_dot = 10.0           # rad/s
phi_dot = 0.2              # rad/s
";
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    count("impacts", config.impacts, 1, 1000)?;
    finite("heading_torque", &[config.heading_torque])?;
    finite("rolling_torque", &[config.rolling_torque])?;
    let disk = config.penny.build()?;
    let start = config.initial.build()?;
    let penny = ControlledPenny::new(
        disk,
        config.table.build()?,
        config.heading_torque,
        config.rolling_torque,
    )
    .map_err(named)?;
    let law = nonholonomic(config.law, config.restitution)?;
    let (hits, ending) =
        follow(&penny, &law, start, Limits::impacts(config.impacts)).map_err(named)?;
    record.status = status(ending);
    record.quantities = quantities(&hits);
    record.tables.push(table(
        &hits,
        "State after each impact; rim 1 is the front, -1 the back.",
        &[
            ("rim", ""),
            ("x", "m"),
            ("y", "m"),
            ("theta", "rad"),
            ("phi", "rad"),
            ("theta_dot_plus", "rad/s"),
            ("phi_dot_plus", "rad/s"),
        ],
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
    let (hit_x, hit_y) = hits
        .iter()
        .filter_map(|hit| {
            let p = disk.rim(&hit.state, *RIMS.get(hit.guard)?);
            Some((p.x, p.y))
        })
        .unzip();
    record.figures.push(
        drawing(
            &config.table,
            "trajectory",
            "Penny with torques",
            "Path of the center and the wall points that the rims hit.",
        )
        .mark(Mark::line("center", x, y, Color::Blue))
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
