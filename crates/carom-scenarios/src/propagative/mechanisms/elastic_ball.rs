//! A ball that falls and bounces, without and with loss of energy.

use super::report::{Motion, Times, describe, figure, simulate};
use crate::ScenarioError;
use crate::config::{Fraction, Input, Positive};
use crate::propagative::model::propagative;
use crate::propagative::played::Played;
use carom_mechanism::systems::Block;
use carom_report::animation::{Animation, Outline};
use carom_report::record::{Color, Quantity, Record, ReferenceKind};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    height: Positive,
    gravity: Positive,
    restitution: Fraction,
    time_step: Positive,
    duration: Positive,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let times = Times::new(*config.time_step, *config.duration)?;
    let ball = Block::ball(1.0, [0.0, -*config.gravity])?;
    let start = [0.0, *config.height, 0.0];
    let elastic = simulate(&ball, &propagative(1.0)?, &start, &[0.0; 3], times)?;
    let fall = (2.0 * *config.height / *config.gravity).sqrt();
    let bounces: Vec<f64> = (0..elastic.impact_times().len())
        .map(|k| fall * (2 * k + 1) as f64)
        .collect();
    describe(
        &mut record,
        &elastic,
        &bounces,
        (ReferenceKind::ClosedForm, "free fall, sqrt(2h/g) (2k + 1)"),
        "x [m], height [m], angle [rad]",
    );
    record.quantities.push(Quantity::new(
        "max_abs_energy_error_j",
        elastic.energy_error(),
        "J",
    ));
    let r = *config.restitution;
    let resting = simulate(&ball, &propagative(r)?, &start, &[0.0; 3], times)?;
    let mut expected = fall;
    for (k, time) in resting.impact_times().into_iter().enumerate() {
        let name = format!("restitution_impact_{}_time_s", k + 1);
        record.quantities.push(
            Quantity::new(name, time, "s")
                .closed_form(expected, "free fall, shrinking by restitution"),
        );
        expected += 2.0 * fall * carom_numeric::power(r, k as i32 + 1);
    }
    let plastic = resting.trajectory.impacts().filter(|i| i.accumulated);
    record.quantities.push(
        Quantity::new("plastic_impacts", plastic.count() as f64, "")
            .note("the third hit in a row after a flight shorter than the time step"),
    );
    if r < 1.0 {
        record.quantities.push(
            Quantity::new("accumulation_time_s", fall * (1.0 + r) / (1.0 - r), "s")
                .note("closed form: where infinitely many bounces would end"),
        );
    }
    let (times, heights) = resting.coordinate(1);
    figure("elastic-ball/height", &elastic, &[(1, "elastic")])
        .with("with restitution", times, heights)
        .draw(&mut record)?;
    let text = (
        "elastic",
        "The elastic ball",
        "It comes back to its height.",
    );
    record
        .animations
        .push(played(text, &elastic, *config.height, Color::Blue));
    let text = (
        "restitution",
        "The ball with restitution",
        "Shorter and shorter flights, then rest: once they are shorter than the time step, the impact \
         is made plastic.",
    );
    record
        .animations
        .push(played(text, &resting, *config.height, Color::Orange));
    Ok(record)
}

/// Radius of the drawn ball divided by the height of its fall; the coordinate is the height of its lowest point.
const DRAWN_RADIUS: f64 = 0.1;

fn played(
    (name, title, caption): (&str, &str, &str),
    motion: &Motion,
    height: f64,
    color: Color,
) -> Animation {
    let radius = DRAWN_RADIUS * height;
    let played = Played::new(&motion.trajectory);
    let disk = vec![Outline::disk([0.0, radius], radius, color)];
    played
        .animation(name, title, caption)
        .fixed(Outline::line(
            [[-0.5 * height, 0.0], [0.5 * height, 0.0]],
            Color::Gray,
        ))
        .body(played.body(disk, |q| [q[0], q[1], 0.0]))
}
