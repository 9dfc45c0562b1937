//! A rocking block dropped flat: Halm & Posa, Table 4, Figs. 1 and 9.

use super::report::{Plane, Sampling, report};
use super::system::{FrictionalSystem, NamedContact};
use crate::config::positive;
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_report::record::{Quantity, Record};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "rocking-block",
    "a block dropped flat on two corners rests or rocks, depending on who pushes first",
    "Halm & Posa",
    "Table 4, Figs. 1 and 9, Table 3",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    width: f64,
    height: f64,
    mass: f64,
    gravity: f64,
    drop: f64,
    friction: f64,
    impulse_step: f64,
    samples: u64,
    seed: u64,
    max_steps: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            width: 1.0,
            height: 2.0,
            mass: 1.0,
            gravity: 9.81,
            drop: 0.01,
            friction: 1.0,
            impulse_step: 0.3,
            samples: 1 << 14,
            seed: 0,
            max_steps: 10,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
# A uniform block falls flat on its lower corners A (left) and B (right).
width = 1.0                    # m
height = 2.0                   # m
mass = 1.0                     # kg
gravity = 9.81                 # m/s^2
drop = 0.01                    # m
friction = 1.0

# Samples of the set of outcomes.
impulse_step = 0.3             # N s, largest cap on an impulse in one step
samples = 16384                # the paper: 2^14
seed = 0
max_steps = 10                # steps allowed to a sample; the search takes ten times as many
";
}

impl Config {
    fn system(&self) -> Result<FrictionalSystem, ScenarioError> {
        for (key, value) in [
            ("width", self.width),
            ("height", self.height),
            ("mass", self.mass),
            ("gravity", self.gravity),
            ("drop", self.drop),
        ] {
            positive(key, &[value])?;
        }
        let speed = (2.0 * self.gravity * self.drop).sqrt();
        Ok(block(
            self.width,
            self.height,
            self.mass,
            self.friction,
            speed,
        ))
    }
}

/// A uniform block that falls flat at a speed.
pub(super) fn block(
    width: f64,
    height: f64,
    mass: f64,
    friction: f64,
    speed: f64,
) -> FrictionalSystem {
    let inertia = mass * (width * width + height * height) / 12.0;
    let corner = |name, x: f64| NamedContact {
        name,
        normal: vec![0.0, 1.0, x],
        tangent: vec![1.0, 0.0, 0.5 * height],
    };
    FrictionalSystem {
        mass: DMatrix::from_diagonal(&nalgebra::dvector![mass, mass, inertia]),
        contacts: vec![corner("A", -0.5 * width), corner("B", 0.5 * width)],
        friction,
        velocity: vec![0.0, -speed, 0.0],
    }
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    let system = config.system()?;
    let sampling = Sampling {
        impulse_step: config.impulse_step,
        samples: config.samples,
        seed: config.seed,
        max_steps: config.max_steps,
    };
    report(
        &mut record,
        &system,
        &sampling,
        2.67,
        &[
            Plane {
                name: "fig9_normal",
                title: "Rocking block: normal velocities of the corners",
                x: 0,
                y: 2,
            },
            Plane {
                name: "fig9_corner_a",
                title: "Rocking block: corner A",
                x: 1,
                y: 0,
            },
        ],
        &overrides.progress,
    )?;
    if config.width == 1.0 && config.height == 2.0 && config.friction == 1.0 {
        let speed = (2.0 * config.gravity * config.drop).sqrt();
        let sequential = record.tables.iter().find(|t| t.name == "sequential");
        if let Some(lift) = sequential.and_then(|t| t.rows.first()?.get(3).copied()) {
            record.quantities.push(
                Quantity::new("sequential_lift_m_per_s", lift, "m/s")
                    .paper(0.21 * speed, "closed form: 0.21 of the speed of the drop"),
            );
        }
    }
    Ok(record)
}
