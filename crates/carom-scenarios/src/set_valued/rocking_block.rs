//! A rocking block dropped flat: Halm & Posa, Table 4, Figs. 1 and 9.

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
    width: Positive,
    height: Positive,
    mass: Positive,
    gravity: Positive,
    drop: Positive,
    friction: NonNegative,
    impulse_step: Positive,
    samples: NonZeroU64,
    seed: u64,
    max_steps: Count<1, 100_000>,
}

impl Config {
    pub(super) fn system(&self) -> Result<FrictionalSystem, ScenarioError> {
        let speed = (2.0 * *self.gravity * *self.drop).sqrt();
        Ok(block(
            *self.width,
            *self.height,
            *self.mass,
            *self.friction,
            speed,
        ))
    }
}

/// Builds a uniform block that falls flat onto the floor at the velocity `speed` (m/s), with contacts at its two lower
/// corners.
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
            ("rocking-block/fig9_normal", [0, 2]),
            ("rocking-block/fig9_corner_a", [1, 0]),
        ],
        input.progress,
    )?;
    if *config.width == 1.0 && *config.height == 2.0 && *config.friction == 1.0 {
        let speed = (2.0 * *config.gravity * *config.drop).sqrt();
        let sequential = record.tables.iter().find(|t| t.name == "sequential");
        if let Some(lift) = sequential.and_then(|t| t.rows.first()?.get(3).copied()) {
            record.quantities.push(
                Quantity::new("sequential_lift_m_per_s", lift, "m/s")
                    .closed_form(0.21 * speed, "closed form: 0.21 of the speed of the drop"),
            );
        }
    }
    Ok(record)
}
