//! A disk that falls onto two disks: Halm & Posa, Table 8 and Fig. 14.

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
    radius: Positive,
    mass: Positive,
    speed: Positive,
    friction: NonNegative,
    impulse_step: Positive,
    samples: NonZeroU64,
    seed: u64,
    max_steps: Count<1, 100_000>,
}

impl Config {
    pub(super) fn system(&self) -> Result<FrictionalSystem, ScenarioError> {
        let inertia = 0.5 * *self.mass * *self.radius * *self.radius;
        let masses = [*self.mass, *self.mass, inertia].repeat(3);
        // Indices of the bodies: upper, left, right disk, each with coordinates x, y, angle.
        const UPPER: usize = 0;
        const LEFT: usize = 1;
        const RIGHT: usize = 2;
        let floor = |name, body: usize| {
            let (mut normal, mut tangent) = (vec![0.0; 9], vec![0.0; 9]);
            normal[3 * body + 1] = 1.0;
            tangent[3 * body] = 1.0;
            tangent[3 * body + 2] = *self.radius;
            NamedContact {
                name,
                normal,
                tangent,
            }
        };
        // The normal points from the first body to the second; the tangent is the normal rotated clockwise by 90 degrees.
        let pair = |name, first: usize, second: usize, n: [f64; 2]| {
            let (mut normal, mut tangent) = (vec![0.0; 9], vec![0.0; 9]);
            for (body, sign) in [(first, -1.0), (second, 1.0)] {
                normal[3 * body] = sign * n[0];
                normal[3 * body + 1] = sign * n[1];
                tangent[3 * body] = sign * n[1];
                tangent[3 * body + 1] = -sign * n[0];
                tangent[3 * body + 2] = *self.radius;
            }
            NamedContact {
                name,
                normal,
                tangent,
            }
        };
        let up = 3f64.sqrt() / 2.0;
        let mut velocity = vec![0.0; 9];
        velocity[3 * UPPER + 1] = -*self.speed;
        Ok(FrictionalSystem {
            mass: DMatrix::from_diagonal(&nalgebra::DVector::from_vec(masses)),
            contacts: vec![
                floor("A", LEFT),
                floor("B", RIGHT),
                pair("C", LEFT, UPPER, [0.5, up]),
                pair("D", RIGHT, UPPER, [-0.5, up]),
                pair("E", LEFT, RIGHT, [1.0, 0.0]),
            ],
            friction: *self.friction,
            velocity,
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
    let plain = report(
        &mut record,
        &system,
        &sampling,
        &[
            ("disk-stack/fig14_floor", [0, 2]),
            ("disk-stack/fig14_upper", [4, 6]),
            ("disk-stack/fig14c_A", [0, 1]),
            ("disk-stack/fig14c_C", [4, 5]),
            ("disk-stack/fig14c_E", [8, 9]),
        ],
        input.progress,
    )?;
    // Velocities below this are rounding of a closed contact.
    let rest = 1e-9 * *config.speed;
    let leaves = |rows: &&Vec<f64>| [4, 6].iter().all(|&row| rows.get(row) > Some(&rest));
    let left = plain.velocities.iter().filter(leaves).count();
    record.quantities.push(
        Quantity::new(
            "top_leaves_both_share",
            left as f64 / plain.velocities.len().max(1) as f64,
            "",
        )
        .note(format!(
            "{left} of {} samples that ended",
            plain.velocities.len()
        )),
    );
    Ok(record)
}
