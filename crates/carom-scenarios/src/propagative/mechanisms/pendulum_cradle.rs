//! Newton's cradle with balls on strings.

use super::report::{Motion, Times, describe, figure, simulate};
use crate::ScenarioError;
use crate::config::{Count, Fraction, Input, Positive, count};
use crate::propagative::model::propagative;
use crate::propagative::played::Played;
use carom_mechanism::systems::PendulumCradle;
use carom_report::animation::{Animation, Outline};
use carom_report::record::{Color, Record, ReferenceKind};
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    balls: Count<1, 20>,
    raised: usize,
    angle: f64,
    length: f64,
    radius: f64,
    mass: f64,
    gravity: f64,
    restitution: Fraction,
    time_step: Positive,
    duration: Positive,
}

/// Times of the impacts in the default run (s), from an independent implementation with equal time step.
const REFERENCE: [f64; 2] = [0.509505349099, 1.528515965599];

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let times = Times::new(*config.time_step, *config.duration)?;
    count("raised", config.raised, 0, *config.balls)?;
    let cradle = PendulumCradle::new(
        *config.balls,
        config.length,
        config.radius,
        config.mass,
        config.gravity,
    )?;
    let law = propagative(*config.restitution)?;
    let mut start = vec![0.0; *config.balls];
    for angle in start.iter_mut().take(config.raised) {
        *angle = -config.angle;
    }
    let velocity = vec![0.0; *config.balls];
    let motion = simulate(&cradle, &law, &start, &velocity, times)?;
    let reference = if input.is_default_but_for(&[]) {
        &REFERENCE[..]
    } else {
        &[]
    };
    let names: Vec<String> = (1..=*config.balls)
        .map(|i| format!("angle_{i} [rad]"))
        .collect();
    describe(
        &mut record,
        &motion,
        reference,
        (
            ReferenceKind::Independent,
            "another implementation, same step",
        ),
        &names.join(", "),
    );
    record.quantities.extend(motion.energy_quantities());
    let labels: Vec<String> = (1..=*config.balls).map(|i| format!("ball {i}")).collect();
    let lines: Vec<_> = labels.iter().map(String::as_str).enumerate().collect();
    figure("pendulum-cradle/angles", &motion, &lines).draw(&mut record)?;
    record.animations.push(played(&config, &motion));
    Ok(record)
}

fn played(config: &Config, motion: &Motion) -> Animation {
    let pivot = |i: usize| 2.0 * config.radius * i as f64;
    let played = Played::new(&motion.trajectory);
    let mut animation = played
        .animation(
            "motion",
            "Newton's cradle",
            "The first ball swings in, the last one out, and back.",
        )
        .fixed(Outline::line(
            [
                [pivot(0) - config.radius, 0.0],
                [pivot(*config.balls) - config.radius, 0.0],
            ],
            Color::Gray,
        ));
    for i in 0..*config.balls {
        let ball = vec![
            Outline::line([[0.0, 0.0], [0.0, -config.length]], Color::Gray),
            Outline::disk([0.0, -config.length], config.radius, Color::Blue),
        ];
        animation = animation.body(played.body(ball, |q| [pivot(i), 0.0, q[i]]));
    }
    animation
}
