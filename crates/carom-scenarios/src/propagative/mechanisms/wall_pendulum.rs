//! A pendulum against a wall: the order of the integrator.

use super::report::{Motion, Times, describe, figure, simulate};
use crate::config::{count, finite, positive};
use crate::propagative::model::propagative;
use crate::propagative::played::Played;
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_mechanism::systems::Pendulum;
use carom_report::animation::{Animation, Outline};
use carom_report::record::{Axis, Color, Column, Figure, LineStyle, Mark, Quantity, Record, Table};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, PI};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "wall-pendulum",
    "an elastic pendulum against a wall: times of impact are of order two in the step",
    "Seghete & Murphey",
    "Sec. VI on a system with known times of impact",
    run,
);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    length: f64,
    mass: f64,
    gravity: f64,
    angle: f64,
    impacts: usize,
    time_step: f64,
    halvings: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            length: 1.0,
            mass: 1.0,
            gravity: 9.81,
            angle: 0.5,
            impacts: 3,
            time_step: 0.02,
            halvings: 2,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
length = 1.0        # m
mass = 1.0          # kg
gravity = 9.81      # m/s^2
angle = 0.5         # rad, released at rest; the wall is at 0
impacts = 3         # whose times are compared
time_step = 0.02    # s, of the coarsest run
halvings = 2        # of the time step
";
}

/// Errors of the third impact in the default runs (s), by an independent implementation.
const REFERENCE: [f64; 3] = [
    7.568408918379177e-4,
    1.9153437942447836e-4,
    4.792601351955028e-5,
];

/// A quarter of the period: $\sqrt{L/g}K(\sin(\theta_0/2))$ by the arithmetic-geometric mean.
fn quarter_period(config: &Config) -> f64 {
    let (mut a, mut b) = (1.0, (0.5 * config.angle).cos());
    for _ in 0..40 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    (config.length / config.gravity).sqrt() * PI / (2.0 * a)
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    positive("gravity", &[config.gravity])?;
    positive("angle", &[config.angle])?;
    finite("length", &[config.length])?;
    count("impacts", config.impacts, 1, 1000)?;
    count("halvings", config.halvings, 1, 10)?;
    if config.angle >= PI {
        return Err(ScenarioError::value(
            "angle",
            format!("{} must be below pi, or it does not fall", config.angle),
        ));
    }
    let pendulum = Pendulum::new(config.length, config.mass, config.gravity, 0.0)?;
    let quarter = quarter_period(&config);
    let last = (2 * config.impacts - 1) as f64 * quarter;
    record.quantities.push(
        Quantity::new("last_impact_exact_time_s", last, "s")
            .note("sqrt(L/g) K(sin(angle/2)) for each quarter of a period"),
    );
    let mut table = Table::new(
        "convergence",
        "Error of the last impact against the time step.",
        vec![
            Column::new("time_step", "s"),
            Column::new("time", "s"),
            Column::new("error", "s"),
            Column::new("ratio", ""),
        ],
    );
    let mut before = None;
    let law = propagative(1.0)?;
    for k in 0..=config.halvings {
        let times = Times {
            step: config.time_step * 0.5f64.powi(k as i32),
            // Far enough for the last impact also with the error of the step.
            duration: last + quarter,
        };
        times.check()?;
        let motion = simulate(&pendulum, &law, &[config.angle], &[0.0], times)?;
        let Some(time) = motion.impact_times().get(config.impacts - 1).copied() else {
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
        let reference = REFERENCE.get(k).filter(|_| config == Config::default());
        record.quantities.push(match reference {
            Some(value) => quantity.paper(*value, "independent implementation, same step"),
            None => quantity,
        });
        if before.is_some() {
            record
                .quantities
                .push(Quantity::new(format!("error_ratio_{k}"), ratio, "").note("4 for order two"));
        }
        before = Some(error);
        if k == config.halvings {
            describe(&mut record, &motion, &[], "", &[("angle", "rad")]);
            record.figures.push(figure(
                "angle",
                "A pendulum against a wall",
                "Angle over time, in the run with the shortest step.",
                Axis::linear("angle", "rad")
                    .range(-0.1 * config.angle, FRAC_PI_2.min(1.2 * config.angle)),
                &motion,
                &[(0, "angle")],
            ));
            record.animations.push(played(config.length, &motion));
        }
    }
    let steps: Vec<f64> = table.rows.iter().map(|row| row[0]).collect();
    let errors: Vec<f64> = table.rows.iter().map(|row| row[2]).collect();
    let (step, error) = (config.time_step, errors.first().copied().unwrap_or(1.0));
    let slope = steps
        .iter()
        .map(|h| error * (h / step) * (h / step))
        .collect();
    let mut drawing = Figure::new(
        "convergence",
        "Order of the times of impact",
        "Error of the last time of impact against the time step; the line has slope two.",
        Axis::log("time step", "s"),
        Axis::log("error", "s"),
    );
    drawing.marks.push(Mark::Line {
        label: Some("slope 2".to_owned()),
        x: steps.clone(),
        y: slope,
        style: LineStyle::Dashed,
        color: Color::Gray,
    });
    drawing
        .marks
        .push(Mark::points("carom", steps, errors, Color::Blue));
    record.figures.push(drawing);
    record.tables.push(table);
    Ok(record)
}

/// Radius of the drawn bob over the length of the rod; the mass is a point.
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
