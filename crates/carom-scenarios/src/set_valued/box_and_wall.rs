//! A box slides into a wall: Halm & Posa, Table 6, Figs. 5 and 11.

use super::report::{Plane, Sampling, report};
use super::system::{FrictionalSystem, NamedContact};
use crate::config::{finite, positive};
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_report::record::Record;
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "box-and-wall",
    "a box that slides on a corner hits a wall: it rests, slides on or leaves the wall",
    "Halm & Posa",
    "Table 6, Figs. 5 and 11, Table 3",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    side: f64,
    mass: f64,
    tilt_deg: f64,
    speed: f64,
    friction: f64,
    impulse_step: f64,
    samples: u64,
    seed: u64,
    max_steps: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            side: 1.0,
            mass: 1.0,
            tilt_deg: 10.0,
            speed: 1.0,
            friction: 1.0,
            impulse_step: 2.0,
            samples: 1 << 14,
            seed: 0,
            max_steps: 5,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
# A uniform square box on its corner A slides on the floor into a wall, which it meets at B.
side = 1.0                     # m
mass = 1.0                     # kg
tilt_deg = 10.0                # between bottom face and floor, in (-45, 45)
speed = 1.0                    # m/s, towards the wall
friction = 1.0

# Samples of the set of outcomes.
impulse_step = 2.0             # N s, largest cap on an impulse in one step
samples = 16384                # the paper: 2^18
seed = 0
max_steps = 5                # steps allowed to a sample; the search takes ten times as many
";
}

impl Config {
    fn system(&self) -> Result<FrictionalSystem, ScenarioError> {
        positive("side", &[self.side])?;
        positive("mass", &[self.mass])?;
        finite("speed", &[self.speed])?;
        finite("tilt_deg", &[self.tilt_deg])?;
        if self.tilt_deg.abs() >= 45.0 {
            let message = format!("{} must lie between -45 and 45", self.tilt_deg);
            return Err(ScenarioError::value("tilt_deg", message));
        }
        // Lowest vertex and wall vertex from the center, on half diagonals a right angle apart.
        let radius = self.side * 0.5f64.sqrt();
        let vertex = |degrees: f64| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            (radius * cos, radius * sin)
        };
        let (a, b) = (vertex(-45.0 - self.tilt_deg), vertex(45.0 - self.tilt_deg));
        let inertia = self.mass * self.side * self.side / 6.0;
        Ok(FrictionalSystem {
            mass: DMatrix::from_diagonal(&nalgebra::dvector![self.mass, self.mass, inertia]),
            contacts: vec![
                NamedContact {
                    name: "A",
                    normal: vec![0.0, 1.0, a.0],
                    tangent: vec![1.0, 0.0, -a.1],
                },
                NamedContact {
                    name: "B",
                    normal: vec![-1.0, 0.0, b.1],
                    tangent: vec![0.0, 1.0, b.0],
                },
            ],
            friction: self.friction,
            velocity: vec![self.speed, 0.0, 0.0],
        })
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
        1.97,
        &[
            Plane {
                name: "fig11_normal",
                title: "Box and wall: normal velocities",
                x: 0,
                y: 2,
            },
            Plane {
                name: "fig11_floor",
                title: "Box and wall: corner A on the floor",
                x: 1,
                y: 0,
            },
            Plane {
                name: "fig11_wall",
                title: "Box and wall: corner B at the wall",
                x: 3,
                y: 2,
            },
        ],
        &overrides.progress,
    )?;
    Ok(record)
}
