//! A disk falls onto two disks: Halm & Posa, Table 8 and Fig. 14.

use super::report::{Plane, Sampling, report};
use super::system::{FrictionalSystem, NamedContact};
use crate::config::positive;
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_report::record::Record;
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "disk-stack",
    "a disk falls onto two disks that lie side by side: five contacts",
    "Halm & Posa",
    "Table 8, Fig. 14, Table 3",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    radius: f64,
    mass: f64,
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
            radius: 1.0,
            mass: 1.0,
            speed: 1.0,
            friction: 3f64.sqrt(),
            impulse_step: 1.0,
            samples: 1 << 14,
            seed: 0,
            max_steps: 10,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
# Three equal uniform disks; the upper one falls between two that lie side by side on the floor.
# Contacts: A left disk on the floor, B right disk on the floor, C left and upper disk, D right and
# upper disk, E left and right disk.
radius = 1.0                   # m
mass = 1.0                     # kg, each; the samples of the paper were made with 5 kg
speed = 1.0                    # m/s, downwards
friction = 1.7320508075688772

# Samples of the set of outcomes.
impulse_step = 1.0             # N s, largest cap on an impulse in one step
samples = 16384                # the paper: 2^20
seed = 0
max_steps = 10                # steps allowed to a sample; the search takes ten times as many
";
}

impl Config {
    fn system(&self) -> Result<FrictionalSystem, ScenarioError> {
        positive("radius", &[self.radius])?;
        positive("mass", &[self.mass])?;
        positive("speed", &[self.speed])?;
        let inertia = 0.5 * self.mass * self.radius * self.radius;
        let masses = [self.mass, self.mass, inertia].repeat(3);
        // Bodies: upper, left, right, each x, y, angle.
        const UPPER: usize = 0;
        const LEFT: usize = 1;
        const RIGHT: usize = 2;
        let floor = |name, body: usize| {
            let (mut normal, mut tangent) = (vec![0.0; 9], vec![0.0; 9]);
            normal[3 * body + 1] = 1.0;
            tangent[3 * body] = 1.0;
            tangent[3 * body + 2] = self.radius;
            NamedContact {
                name,
                normal,
                tangent,
            }
        };
        // The normal points from the first body to the second, the tangent is it turned clockwise.
        let pair = |name, first: usize, second: usize, n: [f64; 2]| {
            let (mut normal, mut tangent) = (vec![0.0; 9], vec![0.0; 9]);
            for (body, sign) in [(first, -1.0), (second, 1.0)] {
                normal[3 * body] = sign * n[0];
                normal[3 * body + 1] = sign * n[1];
                tangent[3 * body] = sign * n[1];
                tangent[3 * body + 1] = -sign * n[0];
                tangent[3 * body + 2] = self.radius;
            }
            NamedContact {
                name,
                normal,
                tangent,
            }
        };
        let up = 3f64.sqrt() / 2.0;
        let mut velocity = vec![0.0; 9];
        velocity[3 * UPPER + 1] = -self.speed;
        Ok(FrictionalSystem {
            mass: DMatrix::from_diagonal(&nalgebra::DVector::from_vec(masses)),
            contacts: vec![
                floor("A", LEFT),
                floor("B", RIGHT),
                pair("C", LEFT, UPPER, [0.5, up]),
                pair("D", RIGHT, UPPER, [-0.5, up]),
                pair("E", LEFT, RIGHT, [1.0, 0.0]),
            ],
            friction: self.friction,
            velocity,
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
        9.04,
        &[
            Plane {
                name: "fig14_floor",
                title: "Disk stack: the lower disks on the floor",
                x: 0,
                y: 2,
            },
            Plane {
                name: "fig14_upper",
                title: "Disk stack: the upper disk on the lower ones",
                x: 4,
                y: 6,
            },
        ],
        &overrides.progress,
    )?;
    Ok(record)
}
