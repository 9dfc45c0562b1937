//! A snakeboard that hits a wall with its nose, under every law.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Fraction, Input, Positive};
use carom_contact::{Diagnostics, ImpactError, ImpactOutcome};
use carom_impact::{Nonholonomic, Restitution};
use carom_metric::Tangent;
use carom_motion::billiard::BilliardError;
use carom_motion::billiard::snakeboard::Snakeboard;
use carom_report::record::{Color, Column, Mark, Quantity, Record, Table};
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
    // Both axles roll: the center moves along the board, and the board turns at tan(phi) / r times this speed.
    let (sin, cos) = libm::sincos(config.theta);
    let velocity = [
        config.speed * cos,
        config.speed * sin,
        config.speed * libm::tan(config.phi) / *config.wheel_distance,
        config.rotor_rate,
        config.wheel_rate,
    ];
    // Velocity along the board and angular velocity, before and after the impact.
    let along = |v: &[f64]| [v[0] * cos + v[1] * sin, v[3]];
    let before = along(&velocity);
    let mut table = table();
    let mut plot = Plot::new("snakeboard/velocities").through("before", [before]);
    let laws = laws(*config.restitution);
    for ((name, label, color, restitution), number) in laws.into_iter().zip(1_u32..) {
        let law =
            Nonholonomic::new(restitution).map_err(|e| ScenarioError::value("restitution", e))?;
        let at = board.at_impact(
            config.theta,
            config.phi,
            wall,
            Tangent::from_slice(&velocity),
        )?;
        let answer = Answer::new(at.resolve(&law))?;
        plot.mark(Mark::Arrow {
            from: before,
            to: along(answer.outcome.velocity_plus.0.as_slice()),
            color,
            label: Some(label.to_owned()),
        });
        record.quantities.push(Quantity::new(
            format!("{name}_effective_restitution"),
            answer.effective_restitution,
            "",
        ));
        table.rows.push(answer.row(number));
    }
    record.tables.push(table);
    plot.draw(&mut record)?;
    Ok(record)
}

/// Returns the four restitution laws that the scenario compares. Each entry has the name in the record, the name and the color
/// in the figure, and the law. `e`: coefficient of restitution.
fn laws(e: f64) -> [(&'static str, &'static str, Color, Restitution); 4] {
    [
        ("elastic", "elastic", Color::Blue, Restitution::Elastic),
        (
            "projected",
            "projected",
            Color::Green,
            Restitution::Projected,
        ),
        (
            "newton",
            "Newton",
            Color::Vermillion,
            Restitution::Newton(e),
        ),
        (
            "projected_newton",
            "projected Newton",
            Color::Purple,
            Restitution::ProjectedNewton(e),
        ),
    ]
}

/// Outcome of a law, feasible or not.
struct Answer {
    outcome: ImpactOutcome,
    is_feasible: bool,
    effective_restitution: f64,
}

impl Answer {
    fn new(found: Result<ImpactOutcome, BilliardError>) -> Result<Self, ScenarioError> {
        let (outcome, is_feasible) = match found {
            Ok(outcome) => (outcome, true),
            Err(BilliardError::Impact(ImpactError::InfeasibleLaw {
                found: Some(found), ..
            })) => (*found, false),
            Err(error) => return Err(error.into()),
        };
        let effective = match &outcome.diagnostics {
            Diagnostics::Nonholonomic(d) => d.effective_restitution,
            _ => None,
        };
        let Some(effective_restitution) = effective else {
            return Err(ScenarioError::value(
                "speed",
                "the nose does not approach the wall",
            ));
        };
        Ok(Self {
            outcome,
            is_feasible,
            effective_restitution,
        })
    }

    /// Returns the row of an impact law in the table: number of the law, 1 if its outcome is feasible (otherwise 0), effective
    /// restitution, velocities after the impact, and energy change (J).
    fn row(&self, number: u32) -> Vec<f64> {
        let feasible = f64::from(u8::from(self.is_feasible));
        let mut row = vec![f64::from(number), feasible, self.effective_restitution];
        row.extend(self.outcome.velocity_plus.0.iter());
        row.push(self.outcome.audit.energy_change_j());
        row
    }
}

fn table() -> Table {
    Table::new(
        "laws",
        "Velocity after the impact, one row per law: 1 elastic, 2 projected, 3 Newton, \
         4 projected Newton. An inadmissible law is feasible 0.",
        Column::list(
            "law, feasible, effective_restitution, velocity_x [m/s], velocity_y [m/s], \
             theta_dot [rad/s], psi_dot [rad/s], phi_dot [rad/s], energy_change [J]",
        ),
    )
}
