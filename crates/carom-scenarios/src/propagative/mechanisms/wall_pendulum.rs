//! A pendulum that hits a wall: convergence order of the integrator.

use super::report::{Motion, Times, describe, figure, simulate};
use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Input, Positive};
use crate::propagative::model::propagative;
use crate::propagative::played::Played;
use carom_mechanism::systems::Pendulum;
use carom_report::animation::{Animation, Outline};
use carom_report::record::{Color, Column, Quantity, Record, ReferenceKind, Table};
use serde::Deserialize;
use std::f64::consts::{FRAC_PI_2, PI};

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    length: f64,
    mass: f64,
    gravity: Positive,
    angle: Positive,
    impacts: Count<1, 1000>,
    time_step: Positive,
    halvings: Count<1, 10>,
}

/// Errors of the time of the third impact in the default runs (s), from an independent implementation.
const REFERENCE: [f64; 3] = [
    7.568408918379177e-4,
    1.9153437942447836e-4,
    4.792601351955028e-5,
];

/// Returns a quarter of the pendulum's period (s), $\sqrt{L/g}K(\sin(\theta_0/2))$, by the arithmetic-geometric mean. $L$ is
/// the length, $g$ gravity, $\theta_0$ the initial angle, and $K$ the complete elliptic integral of the first kind.
fn quarter_period(config: &Config) -> f64 {
    let (mut a, mut b) = (1.0, libm::cos(0.5 * *config.angle));
    for _ in 0..40 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    (config.length / *config.gravity).sqrt() * PI / (2.0 * a)
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    if *config.angle >= PI {
        return Err(ScenarioError::value(
            "angle",
            format!("{} must be below pi, or it does not fall", *config.angle),
        ));
    }
    let pendulum = Pendulum::new(config.length, config.mass, *config.gravity, 0.0)?;
    let quarter = quarter_period(&config);
    let last = (2 * *config.impacts - 1) as f64 * quarter;
    record.quantities.push(
        Quantity::new("last_impact_exact_time_s", last, "s")
            .note("sqrt(L/g) K(sin(angle/2)) for each quarter of a period"),
    );
    let mut table = Table::new(
        "convergence",
        "Error of the last impact against the time step.",
        Column::list("time_step [s], time [s], error [s], ratio"),
    );
    let mut before = None;
    let law = propagative(1.0)?;
    for k in 0..=*config.halvings {
        let step = *config.time_step * carom_numeric::power(0.5f64, k as i32);
        // Long enough for the last impact despite the error of the integrator.
        let times = Times::new(step, last + quarter)?;
        let motion = simulate(&pendulum, &law, &[*config.angle], &[0.0], times)?;
        let Some(time) = motion.impact_times().get(*config.impacts - 1).copied() else {
            return Err(ScenarioError::value(
                "time_step",
                format!("{} is too long: impacts are missing", times.step),
            ));
        };
        let error = (time - last).abs();
        let ratio = before.map_or(0.0, |before: f64| before / error);
        table.rows.push(vec![times.step, time, error, ratio]);
        let name = format!("error_of_last_impact_{k}_s");
        let quantity = Quantity::new(name, error, "s");
        let reference = REFERENCE.get(k).filter(|_| input.is_default_but_for(&[]));
        record.quantities.push(match reference {
            Some(value) => quantity.independent(*value, "another implementation, same step"),
            None => quantity,
        });
        if before.is_some() {
            record
                .quantities
                .push(Quantity::new(format!("error_ratio_{k}"), ratio, "").note("4 for order two"));
        }
        before = Some(error);
        if k == *config.halvings {
            describe(
                &mut record,
                &motion,
                &[],
                (ReferenceKind::Independent, ""),
                "angle [rad]",
            );
            let ends = [-0.1 * *config.angle, FRAC_PI_2.min(1.2 * *config.angle)];
            let plot = figure("wall-pendulum/angle", &motion, &[(0, "angle")]);
            plot.y_range(ends).draw(&mut record)?;
            record.animations.push(played(config.length, &motion));
        }
    }
    convergence(&table, *config.time_step).draw(&mut record)?;
    record.tables.push(table);
    Ok(record)
}

/// Draws the error of the last impact against the time step, with a line of slope two through the error of the first `step` (s).
fn convergence(table: &Table, step: f64) -> Plot {
    let error = table.column(2).first().copied().unwrap_or(1.0);
    let steps = table.column(0).into_iter();
    let slope = steps.map(|h| [h, error * (h / step) * (h / step)]);
    let plot = Plot::new("wall-pendulum/convergence").through("slope 2", slope);
    plot.of(table)
}

/// Radius of the drawn bob divided by the length of the rod; the mass is a point.
const DRAWN_RADIUS: f64 = 0.08;

fn played(length: f64, motion: &Motion) -> Animation {
    let radius = DRAWN_RADIUS * length;
    let pendulum = vec![
        Outline::line([[0.0, 0.0], [0.0, -length]], Color::Gray),
        Outline::disk([0.0, -length], radius, Color::Blue),
    ];
    let played = Played::new(&motion.trajectory);
    played
        .animation(
            "motion",
            "A pendulum against a wall",
            "In the run with the shortest step. The wall stands where the drawn bob touches it.",
        )
        .fixed(Outline::line(
            [[-radius, -1.2 * length], [-radius, -0.7 * length]],
            Color::Gray,
        ))
        .body(played.body(pendulum, |q| [0.0, 0.0, q[0]]))
}
