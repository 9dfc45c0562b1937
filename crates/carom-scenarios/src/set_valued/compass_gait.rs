//! A compass gait walker that puts a foot down: Halm & Posa, Table 5, Figs. 4 and 10.

use super::report::{Sampling, report};
use super::system::{FrictionalSystem, NamedContact};
use crate::ScenarioError;
use crate::config::{Count, Input, NonNegative, Positive};
use carom_report::record::{Quantity, Record};
use nalgebra::DMatrix;
use serde::Deserialize;
use std::num::NonZeroU64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    leg_length: Positive,
    mass: Positive,
    mass_height: f64,
    leading_angle_deg: f64,
    trailing_angle_deg: f64,
    angular_velocity: f64,
    friction: NonNegative,
    impulse_step: Positive,
    samples: NonZeroU64,
    seed: u64,
    max_steps: Count<1, 100_000>,
}

impl Config {
    pub(super) fn system(&self) -> Result<FrictionalSystem, ScenarioError> {
        // Coordinates: hip x, y, leading and trailing leg angle. A point at the distance d down a leg of angle a lies at
        // hip + d (sin a, -cos a).
        let angles = [self.leading_angle_deg, self.trailing_angle_deg].map(f64::to_radians);
        let d = *self.leg_length - self.mass_height;
        let mut mass = DMatrix::zeros(4, 4);
        for (leg, angle) in angles.iter().enumerate() {
            let (sin, cos) = libm::sincos(*angle);
            for (axis, arm) in [(0, d * cos), (1, d * sin)] {
                let mut row = nalgebra::RowDVector::zeros(4);
                row[axis] = 1.0;
                row[2 + leg] = arm;
                mass += *self.mass * row.transpose() * row;
            }
        }
        let foot = |name, leg: usize| {
            let (sin, cos) = libm::sincos(angles[leg]);
            let (mut normal, mut tangent) = (vec![0.0; 4], vec![0.0; 4]);
            normal[1] = 1.0;
            normal[2 + leg] = *self.leg_length * sin;
            tangent[0] = 1.0;
            tangent[2 + leg] = *self.leg_length * cos;
            NamedContact {
                name,
                normal,
                tangent,
            }
        };
        let (sin, cos) = libm::sincos(angles[1]);
        let turn = self.angular_velocity;
        let speed = turn * *self.leg_length;
        Ok(FrictionalSystem {
            mass,
            contacts: vec![foot("A", 0), foot("B", 1)],
            friction: *self.friction,
            velocity: vec![-speed * cos, -speed * sin, turn, turn],
        })
    }
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let system = config.system()?;
    let sampling = Sampling::new(
        config.impulse_step,
        config.samples,
        config.seed,
        config.max_steps,
    );
    report(
        &mut record,
        &system,
        &sampling,
        &[
            ("compass-gait/fig10_normal", [0, 2]),
            ("compass-gait/fig10_leading", [1, 0]),
            ("compass-gait/fig10_trailing", [3, 2]),
        ],
        input.progress,
    )?;
    let height = |angle: f64| -*config.leg_length * libm::cos(angle.to_radians());
    let step = height(config.leading_angle_deg) - height(config.trailing_angle_deg);
    if step != 0.0 {
        record.quantities.push(
            Quantity::new("step_height_m", step, "m")
                .note("of the ground under the leading foot A over that under B"),
        );
    }
    Ok(record)
}
