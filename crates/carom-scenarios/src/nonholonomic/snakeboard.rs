//! A snakeboard hits a wall with its nose, under every law.

use crate::ScenarioError;
use crate::config::{Fraction, Input, Positive};
use carom_impact::{Diagnostics, ImpactError, Nonholonomic, Restitution};
use carom_metric::Tangent;
use carom_motion::billiard::snakeboard::Snakeboard;
use carom_report::record::{Axis, Color, Column, Figure, Mark, Quantity, Record, Table};
use nalgebra::Vector2;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    mass: Positive,
    inertia: Positive,
    rotor_inertia: Positive,
    wheel_inertia: Positive,
    wheel_distance: Positive,
    nose_distance: Positive,
    theta: f64,
    phi: f64,
    wall_normal: [f64; 2],
    speed: f64,
    rotor_rate: f64,
    wheel_rate: f64,
    restitution: Fraction,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let board = Snakeboard::new(
        *config.mass,
        *config.inertia,
        *config.rotor_inertia,
        *config.wheel_inertia,
        *config.wheel_distance,
        *config.nose_distance,
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
        config.speed * config.phi.tan() / *config.wheel_distance,
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
    let e = *config.restitution;
    let laws = [
        ("elastic", ("elastic", Color::Blue), Restitution::Elastic),
        (
            "projected",
            ("projected", Color::Green),
            Restitution::Projected,
        ),
        (
            "newton",
            ("Newton", Color::Vermillion),
            Restitution::Newton(e),
        ),
        (
            "projected_newton",
            ("projected Newton", Color::Purple),
            Restitution::ProjectedNewton(e),
        ),
    ];
    // The board moves along itself, before and after.
    let along = |v: &[f64]| [v[0] * cos + v[1] * sin, v[3]];
    let before = along(&velocity);
    let mut figure = Figure::new(
        "velocities",
        "Snakeboard: what each law does to its motion",
        "From the velocities before the impact to those after it, under each law, also those that are \
         inadmissible (see the table).",
        Axis::linear("velocity along the board", "m/s"),
        Axis::linear("rate of the rotor", "rad/s"),
    )
    .mark(Mark::points(
        "before",
        vec![before[0]],
        vec![before[1]],
        Color::Black,
    ));
    for ((name, label, restitution), number) in laws.into_iter().zip(1_u32..) {
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
            Err(carom_motion::billiard::BilliardError::Impact(ImpactError::InfeasibleLaw {
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
        let (label, color) = label;
        figure.marks.push(Mark::Arrow {
            from: before,
            to: along(outcome.velocity_plus.0.as_slice()),
            color,
            label: Some(label.to_owned()),
        });
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
    record.figures.push(figure);
    Ok(record)
}
