//! A light ball between a wall and a heavy block: the number of impacts gives the digits of π.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Input, Positive};
use crate::propagative::model::{System, diagnostics, propagative, relative_energy_change, row};
use carom_contact::ImpactOutcome;
use carom_report::animation::{Animation, Outline, PlaneBody};
use carom_report::record::{Color, Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    digits: Count<0, 7>,
    mass_ratio: Positive,
}

/// Velocities of ball and block before the impact (m/s).
const APPROACH: [f64; 2] = [0.0, -1.0];

/// Builds a ball between a wall and a block. The first contact is between ball and wall, the second between block and ball.
/// `ratio`: mass of the block divided by the mass of the ball.
fn between_wall_and_block(ratio: f64) -> Result<System, ScenarioError> {
    let normals = vec![row(2, &[(0, 1.0)]), row(2, &[(0, -1.0), (1, 1.0)])];
    System::diagonal(&[1.0, ratio], normals)
}

/// Resolves the impact of a block against a ball that touches block and wall. Returns the outcome and the exponent $X$ of the
/// two contacts: the outcome does not depend on the order of impacts exactly if $X$ is an integer of at least 2. `ratio`: mass
/// of the block divided by that of the ball.
fn collide(ratio: f64) -> Result<(ImpactOutcome, f64), ScenarioError> {
    let system = between_wall_and_block(ratio)?;
    let exponent = system
        .uniqueness()?
        .pairs
        .first()
        .map_or(0.0, |pair| pair.exponent);
    Ok((system.resolve(&APPROACH, &propagative(1.0)?)?, exponent))
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let mut table = Table::new(
        "impacts",
        "Elementary impacts against the mass of the block.",
        Column::list("mass_ratio, impacts, sharp_bound, energy_error"),
    );
    let mut push = |ratio: f64| -> Result<(f64, ImpactOutcome), ScenarioError> {
        let (outcome, exponent) = collide(ratio)?;
        let impacts = diagnostics(&outcome).impacts as f64;
        let energy = relative_energy_change(&outcome);
        table
            .rows
            .push(vec![ratio, impacts, exponent.ceil(), energy]);
        Ok((impacts, outcome))
    };
    for k in 0..=*config.digits {
        let (impacts, _) = push(carom_numeric::power(100.0, k as i32))?;
        let digits = (std::f64::consts::PI * carom_numeric::power(10.0, k as i32)).floor();
        record.quantities.push(
            Quantity::new(format!("impacts_100_to_the_{k}"), impacts, "")
                .closed_form(digits, "digits of pi (Galperin 2003)"),
        );
    }
    let (impacts, outcome) = push(*config.mass_ratio)?;
    record
        .quantities
        .push(Quantity::new("impacts_mass_ratio", impacts, ""));
    for (name, v) in ["ball", "block"].iter().zip(outcome.velocity_plus.0.iter()) {
        record.quantities.push(Quantity::new(
            format!("velocity_plus_{name}_m_per_s"),
            *v,
            "m/s",
        ));
    }
    let decades = linspace(0.0, 2.0 * config.digits.max(1) as f64, 101);
    let bound = decades.into_iter().map(|decade| {
        let ratio = libm::pow(10.0, decade);
        [ratio, std::f64::consts::PI / libm::atan(1.0 / ratio.sqrt())]
    });
    Plot::new("light-ball/impacts")
        .through("π / arctan √(m/M)", bound)
        .of(&table)
        .draw(&mut record)?;
    record.tables.push(table);
    record.animations.push(apart()?);
    Ok(record)
}

/// Mass of the block divided by that of the ball in the animation.
const PLAYED_RATIO: f64 = 100.0;

/// Animates the sequence of impacts of a block, a ball and a wall that are apart at the start.
///
/// The velocities are those of the chain that resolves all contacts at once. Between two impacts there is
/// no acceleration, so each time of impact is a gap divided by its rate.
fn apart() -> Result<Animation, ScenarioError> {
    let (outcome, _) = collide(PLAYED_RATIO)?;
    let sequence = diagnostics(&outcome).sequence.unwrap_or_default();
    let chain = between_wall_and_block(PLAYED_RATIO)?.chain(&APPROACH, &sequence)?;
    // Distances between ball and wall and between block and ball, measured between surfaces.
    let mut places = [1.0, 2.0];
    let mut frames = vec![(0.0, places)];
    for (contact, velocity) in sequence.iter().zip(&chain) {
        let [Some(ball), Some(block)] = [0, 1].map(|k| velocity.get(k).copied()) else {
            break;
        };
        let [gap, rate] = match contact {
            0 => [places[0], ball],
            _ => [places[1] - places[0], block - ball],
        };
        let wait = -gap / rate;
        places = [places[0] + wait * ball, places[1] + wait * block];
        let time = frames.last().map_or(0.0, |(time, _)| *time);
        frames.push((time + wait, places));
    }
    let impacts: Vec<f64> = frames.iter().skip(1).map(|(time, _)| *time).collect();
    if let (Some(velocity), Some((time, _))) = (chain.last(), frames.last().copied()) {
        let leave = |k: usize| places[k] + velocity.get(k).copied().unwrap_or(0.0);
        frames.push((time + 1.0, [leave(0), leave(1)]));
    }
    let radius = 0.05;
    let half = 0.2;
    let ball = vec![Outline::disk([radius, radius], radius, Color::Orange)];
    let (left, right) = (2.0 * radius, 2.0 * (radius + half));
    let block = vec![Outline::polygon(
        [
            [left, 0.0],
            [right, 0.0],
            [right, 2.0 * half],
            [left, 2.0 * half],
        ],
        Color::Blue,
    )];
    let times = frames.iter().map(|(time, _)| *time).collect();
    let body = |outlines, k: usize| {
        PlaneBody::new(outlines, frames.iter().map(|(_, at)| [at[k], 0.0, 0.0]))
    };
    Ok(Animation::plane(
        "apart",
        "The digits of π",
        format!(
            "A block {PLAYED_RATIO} times as heavy as the ball: {} impacts one after another, as many as \
             when all touch at once.",
            impacts.len()
        ),
        times,
        impacts,
    )
    .fixed(Outline::line([[0.0, 0.6], [0.0, 0.0], [3.0, 0.0]], Color::Gray))
    .body(body(ball, 0))
    .body(body(block, 1)))
}
