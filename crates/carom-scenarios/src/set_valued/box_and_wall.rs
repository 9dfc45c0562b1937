//! A box that slides into a wall: Halm & Posa, Table 6, Figs. 5 and 11.

use super::report::{Plane, Sampling, report};
use super::system::{FrictionalSystem, NamedContact};
use crate::ScenarioError;
use crate::config::{Count, Input, NonNegative, Positive};
use carom_report::record::Record;
use nalgebra::DMatrix;
use serde::Deserialize;
use std::num::NonZeroU64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    side: Positive,
    mass: Positive,
    tilt_deg: f64,
    speed: f64,
    friction: NonNegative,
    impulse_step: Positive,
    samples: NonZeroU64,
    seed: u64,
    max_steps: Count<1, 100_000>,
}

impl Config {
    pub(super) fn system(&self) -> Result<FrictionalSystem, ScenarioError> {
        if self.tilt_deg.abs() >= 45.0 {
            let message = format!("{} must lie between -45 and 45", self.tilt_deg);
            return Err(ScenarioError::value("tilt_deg", message));
        }
        // Lowest vertex and wall vertex relative to the center: at half a diagonal, in directions at a right angle.
        let radius = *self.side * 0.5f64.sqrt();
        let vertex = |degrees: f64| {
            let (sin, cos) = libm::sincos(degrees.to_radians());
            (radius * cos, radius * sin)
        };
        let (a, b) = (vertex(-45.0 - self.tilt_deg), vertex(45.0 - self.tilt_deg));
        let inertia = *self.mass * *self.side * *self.side / 6.0;
        Ok(FrictionalSystem {
            mass: DMatrix::from_diagonal(&nalgebra::dvector![*self.mass, *self.mass, inertia]),
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
            friction: *self.friction,
            velocity: vec![self.speed, 0.0, 0.0],
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
            Plane::new("fig11_normal", "Box and wall: normal velocities", [0, 2]),
            Plane::new("fig11_floor", "Box and wall: corner A on the floor", [1, 0]),
            Plane::new("fig11_wall", "Box and wall: corner B at the wall", [3, 2]),
        ],
        input.progress,
    )?;
    Ok(record)
}
