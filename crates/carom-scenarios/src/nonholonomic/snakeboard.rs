//! A snakeboard hits a wall with its nose, under every law.

use crate::config::{finite, positive};
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_billiard::snakeboard::Snakeboard;
use carom_impact::{Diagnostics, ImpactError, Nonholonomic, Restitution};
use carom_metric::Tangent;
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::Vector2;
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "snakeboard",
    "a snakeboard hits a wall with its nose: four laws side by side",
    "Clark & Bloch",
    "Sec. IV with two constraints in five coordinates",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    mass: f64,
    inertia: f64,
    rotor_inertia: f64,
    wheel_inertia: f64,
    wheel_distance: f64,
    nose_distance: f64,
    theta: f64,
    phi: f64,
    wall_normal: [f64; 2],
    speed: f64,
    rotor_rate: f64,
    wheel_rate: f64,
    restitution: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mass: 6.0,
            inertia: 0.4,
            rotor_inertia: 0.6,
            wheel_inertia: 0.02,
            wheel_distance: 0.3,
            nose_distance: 0.35,
            theta: 0.3,
            phi: 0.4,
            wall_normal: [0.8, 0.6],
            speed: 1.0,
            rotor_rate: -0.66,
            wheel_rate: -0.3,
            restitution: 0.5,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
mass = 6.0                # kg
inertia = 0.4             # of the board, kg m^2
rotor_inertia = 0.6       # kg m^2
wheel_inertia = 0.02      # of one axle, kg m^2
wheel_distance = 0.3      # m, from the center
nose_distance = 0.35      # m
theta = 0.3               # board angle, rad
phi = 0.4                 # wheel angle, rad
wall_normal = [0.8, 0.6]  # out of the free side
speed = 1.0               # of the center along its admissible direction, m/s
rotor_rate = -0.66        # rad/s
wheel_rate = -0.3         # rad/s
restitution = 0.5         # of Newton's laws
";
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    for (key, value) in [
        ("mass", config.mass),
        ("inertia", config.inertia),
        ("rotor_inertia", config.rotor_inertia),
        ("wheel_inertia", config.wheel_inertia),
        ("wheel_distance", config.wheel_distance),
        ("nose_distance", config.nose_distance),
    ] {
        positive(key, &[value])?;
    }
    finite("theta", &[config.theta])?;
    finite("phi", &[config.phi])?;
    finite("wall_normal", &config.wall_normal)?;
    finite("speed", &[config.speed])?;
    finite("rotor_rate", &[config.rotor_rate])?;
    finite("wheel_rate", &[config.wheel_rate])?;
    let board = Snakeboard::new(
        config.mass,
        config.inertia,
        config.rotor_inertia,
        config.wheel_inertia,
        config.wheel_distance,
        config.nose_distance,
    )?;
    let wall = Vector2::from(config.wall_normal);
    if wall.norm() == 0.0 {
        return Err(ScenarioError::value("wall_normal", "must not be zero"));
    }
    let wall = wall.normalize();
    // Both axles roll: the center moves along the board, which turns by tan(phi) / r.
    let (sin, cos) = config.theta.sin_cos();
    let velocity = [
        config.speed * cos,
        config.speed * sin,
        config.speed * config.phi.tan() / config.wheel_distance,
        config.rotor_rate,
        config.wheel_rate,
    ];
    let mut table = Table::new(
        "laws",
        "Velocity after the impact, one row per law: 1 elastic, 2 projected, 3 Newton, \
         4 projected Newton. An inadmissible law is feasible 0.",
        [
            ("law", ""),
            ("feasible", ""),
            ("effective_restitution", ""),
            ("velocity_x", "m/s"),
            ("velocity_y", "m/s"),
            ("theta_dot", "rad/s"),
            ("psi_dot", "rad/s"),
            ("phi_dot", "rad/s"),
            ("energy_change", "J"),
        ]
        .map(|(name, unit)| Column::new(name, unit))
        .to_vec(),
    );
    let e = config.restitution;
    let laws = [
        ("elastic", Restitution::Elastic),
        ("projected", Restitution::Projected),
        ("newton", Restitution::Newton(e)),
        ("projected_newton", Restitution::ProjectedNewton(e)),
    ];
    for ((name, restitution), number) in laws.into_iter().zip(1_u32..) {
        let law =
            Nonholonomic::new(restitution).map_err(|e| ScenarioError::value("restitution", e))?;
        let at = board.at_impact(
            config.theta,
            config.phi,
            wall,
            Tangent::from_slice(&velocity),
        )?;
        let (outcome, feasible) = match at.resolve(&law) {
            Ok(outcome) => (outcome, 1.0),
            Err(carom_billiard::BilliardError::Impact(ImpactError::InfeasibleLaw {
                found,
                ..
            })) => (*found, 0.0),
            Err(error) => return Err(error.into()),
        };
        let effective = match &outcome.diagnostics {
            Diagnostics::Nonholonomic(d) => d.effective_restitution,
            _ => None,
        };
        let Some(effective) = effective else {
            return Err(ScenarioError::value(
                "speed",
                "the nose does not approach the wall",
            ));
        };
        record.quantities.push(Quantity::new(
            format!("{name}_effective_restitution"),
            effective,
            "",
        ));
        let mut row = vec![f64::from(number), feasible, effective];
        row.extend(outcome.velocity_plus.0.iter());
        row.push(outcome.audit.energy_change_j());
        table.rows.push(row);
    }
    record.tables.push(table);
    Ok(record)
}
