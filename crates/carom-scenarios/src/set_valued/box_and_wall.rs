//! A box that slides into a wall: Halm & Posa, Table 6, Figs. 5 and 11.

use super::report::{Sampling, report};
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
        if !(self.tilt_deg.abs() < 90.0) {
            let message = format!("{} must lie between -90 and 90", self.tilt_deg);
            return Err(ScenarioError::value("tilt_deg", message));
        }
        // A square has the same corners after a quarter of a turn. For a tilt in (0, 90) the corner in the direction
        // -45 - tilt is the lowest one and the corner in the direction 45 - tilt the foremost one.
        let tilt = if self.tilt_deg < 0.0 {
            self.tilt_deg + 90.0
        } else {
            self.tilt_deg
        };
        // Corner relative to the center: at half a diagonal.
        let radius = *self.side * 0.5f64.sqrt();
        let corner = |degrees: f64| {
            let (sin, cos) = libm::sincos(degrees.to_radians());
            (radius * cos, radius * sin)
        };
        let floor = |name, degrees| {
            let (x, y) = corner(degrees);
            NamedContact {
                name,
                normal: vec![0.0, 1.0, x],
                tangent: vec![1.0, 0.0, -y],
            }
        };
        let wall = |name, degrees| {
            let (x, y) = corner(degrees);
            NamedContact {
                name,
                normal: vec![-1.0, 0.0, y],
                tangent: vec![0.0, 1.0, x],
            }
        };
        let contacts = if tilt == 0.0 {
            vec![
                floor("A1", -135.0),
                floor("A2", -45.0),
                wall("B1", -45.0),
                wall("B2", 45.0),
            ]
        } else {
            vec![floor("A", -45.0 - tilt), wall("B", 45.0 - tilt)]
        };
        let inertia = *self.mass * *self.side * *self.side / 6.0;
        Ok(FrictionalSystem {
            mass: DMatrix::from_diagonal(&nalgebra::dvector![*self.mass, *self.mass, inertia]),
            contacts,
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
    // Normal row of the first contact at the wall: half of the contacts are on the floor, with two rows each.
    let wall = system.contacts.len();
    report(
        &mut record,
        &system,
        &sampling,
        &[
            ("box-and-wall/fig11_normal", [0, wall]),
            ("box-and-wall/fig11_floor", [1, 0]),
            ("box-and-wall/fig11_wall", [wall + 1, wall]),
        ],
        input.progress,
    )?;
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_impact::frictional::all_simultaneous;

    fn config(tilt: f64) -> Config {
        let defaults = include_str!("box-and-wall.toml");
        let text = defaults.replace("tilt_deg = 10.0", &format!("tilt_deg = {tilt:?}"));
        toml::from_str(&text).unwrap()
    }

    /// The corners of the rotated square, found without the rows of the scenario: none that touches floor or wall moves in.
    #[test]
    fn no_corner_that_touches_moves_in() {
        for tilt in [-80.0, -45.0, -30.0, -10.0, 0.0, 1.0, 10.0, 45.0, 80.0] {
            let system = config(tilt).system().unwrap();
            let corners: Vec<[f64; 2]> = [45.0, 135.0, 225.0, 315.0f64]
                .iter()
                .map(|angle| {
                    let (sin, cos) = libm::sincos((angle - tilt).to_radians());
                    [0.5f64.sqrt() * cos, 0.5f64.sqrt() * sin]
                })
                .collect();
            let lowest = corners.iter().map(|c| c[1]).fold(f64::INFINITY, f64::min);
            let foremost = corners.iter().map(|c| c[0]).fold(0.0, f64::max);
            let touches = |a: f64, b: f64| (a - b).abs() <= 1e-12;
            let floor = corners.iter().filter(|c| touches(c[1], lowest)).count();
            let wall = corners.iter().filter(|c| touches(c[0], foremost)).count();
            assert_eq!(system.contacts.len(), floor + wall, "tilt {tilt}");
            let outcomes = all_simultaneous(&system.problem().unwrap()).unwrap();
            assert!(!outcomes.is_empty());
            for found in outcomes {
                let v = &found.outcome.velocity_plus.0;
                for [x, y] in &corners {
                    let (vx, vy) = (v[0] - v[2] * y, v[1] + v[2] * x);
                    assert!(!touches(*y, lowest) || vy >= -1e-9, "tilt {tilt}: {vy}");
                    assert!(!touches(*x, foremost) || vx <= 1e-9, "tilt {tilt}: {vx}");
                }
            }
        }
    }

    #[test]
    fn a_quarter_of_a_turn_changes_nothing() {
        let [a, b] = [-10.0, 80.0].map(|tilt| config(tilt).system().unwrap());
        for (a, b) in a.contacts.iter().zip(&b.contacts) {
            assert_eq!((&a.normal, &a.tangent), (&b.normal, &b.tangent));
        }
        assert!(config(90.0).system().is_err());
    }
}
