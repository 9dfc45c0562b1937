//! A compass gait walker puts its foot down: Halm & Posa, Table 5, Figs. 4 and 10.

use super::report::{Plane, Sampling, report};
use super::system::{FrictionalSystem, NamedContact};
use crate::config::{finite, positive};
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_report::record::Record;
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "compass-gait",
    "a two-legged walker takes a wide step: the trailing foot sticks, slides or lifts",
    "Halm & Posa",
    "Table 5, Figs. 4 and 10, Table 3",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    leg_length: f64,
    mass: f64,
    mass_height: f64,
    leading_angle_deg: f64,
    trailing_angle_deg: f64,
    angular_velocity: f64,
    friction: f64,
    impulse_step: f64,
    samples: u64,
    seed: u64,
    max_steps: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            leg_length: 1.0,
            mass: 1.0,
            mass_height: 0.5,
            leading_angle_deg: -78.0,
            trailing_angle_deg: 78.0,
            angular_velocity: 0.25,
            friction: 5.0,
            impulse_step: 0.25,
            samples: 1 << 14,
            seed: 0,
            max_steps: 5,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
# Two massless legs, hinged at the hip, with a point mass on each. Angles from straight down.
leg_length = 1.0               # m
mass = 1.0                     # kg, on each leg
mass_height = 0.5              # m, from the foot up
leading_angle_deg = -78.0      # foot A comes down
trailing_angle_deg = 78.0      # foot B is at rest
angular_velocity = 0.25        # rad/s, of both legs
friction = 5.0

# Samples of the set of outcomes.
impulse_step = 0.25             # N s, largest cap on an impulse in one step
samples = 16384                # the paper: 2^20
seed = 0
max_steps = 5                # steps allowed to a sample; the search takes ten times as many
";
}

impl Config {
    fn system(&self) -> Result<FrictionalSystem, ScenarioError> {
        positive("leg_length", &[self.leg_length])?;
        positive("mass", &[self.mass])?;
        finite("mass_height", &[self.mass_height])?;
        finite("leading_angle_deg", &[self.leading_angle_deg])?;
        finite("trailing_angle_deg", &[self.trailing_angle_deg])?;
        finite("angular_velocity", &[self.angular_velocity])?;
        // Coordinates: hip x, y, leading and trailing angle. A point at d down a leg lies at
        // hip + d (sin, -cos).
        let angles = [self.leading_angle_deg, self.trailing_angle_deg].map(f64::to_radians);
        let d = self.leg_length - self.mass_height;
        let mut mass = DMatrix::zeros(4, 4);
        for (leg, angle) in angles.iter().enumerate() {
            let (sin, cos) = angle.sin_cos();
            for (axis, arm) in [(0, d * cos), (1, d * sin)] {
                let mut row = nalgebra::RowDVector::zeros(4);
                row[axis] = 1.0;
                row[2 + leg] = arm;
                mass += self.mass * row.transpose() * row;
            }
        }
        let foot = |name, leg: usize| {
            let (sin, cos) = angles[leg].sin_cos();
            let (mut normal, mut tangent) = (vec![0.0; 4], vec![0.0; 4]);
            normal[1] = 1.0;
            normal[2 + leg] = self.leg_length * sin;
            tangent[0] = 1.0;
            tangent[2 + leg] = self.leg_length * cos;
            NamedContact {
                name,
                normal,
                tangent,
            }
        };
        let (sin, cos) = angles[1].sin_cos();
        let turn = self.angular_velocity;
        let speed = turn * self.leg_length;
        Ok(FrictionalSystem {
            mass,
            contacts: vec![foot("A", 0), foot("B", 1)],
            friction: self.friction,
            velocity: vec![-speed * cos, -speed * sin, turn, turn],
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
        2.27,
        &[
            Plane {
                name: "fig10_normal",
                title: "Compass gait: normal velocities of the feet",
                x: 0,
                y: 2,
            },
            Plane {
                name: "fig10_leading",
                title: "Compass gait: leading foot A",
                x: 1,
                y: 0,
            },
            Plane {
                name: "fig10_trailing",
                title: "Compass gait: trailing foot B",
                x: 3,
                y: 2,
            },
        ],
        &overrides.progress,
    )?;
    Ok(record)
}
