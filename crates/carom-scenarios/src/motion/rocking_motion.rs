//! A block rocks from one edge to the other.

use crate::ScenarioError;
use crate::config::{Fraction, Input, Positive};
use crate::motion::count_steps;
use crate::motion::figures::{Series, against_time, extent, with_dashes};
use crate::motion::pivot::Pivot;
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Scene, moreau};
use carom_geometry::{Cuboid, Shape};
use carom_lie::So3;
use carom_report::record::{Quantity, Record};
use nalgebra::Vector3;
use serde::Deserialize;

const FRAMES: usize = 400;

/// Number of landings that are compared.
const LANDINGS: usize = 3;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    half_width: Positive,
    half_depth: Positive,
    half_height: Positive,
    mass: Positive,
    friction: Positive,
    tilt: Fraction,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let (b, h) = (*config.half_width, *config.half_height);
    count_steps("duration", *config.duration, *config.time_step, 1_000_000)?;
    let (delta, radius) = (libm::atan2(b, h), libm::hypot(b, h));
    let tilt = delta * *config.tilt;
    let mut scene = Scene::new(*config.friction, 0.0, *config.time_step).watched(input.progress);
    let shape = Cuboid::new([b, *config.half_depth, h])
        .map_err(|error| ScenarioError::value("half_width", error))?;
    let block = scene.body(
        "block",
        Shape::Cuboid(shape),
        Some(*config.mass),
        Vector3::zeros(),
    )?;
    // At the start the block stands on its right edge, at the origin.
    block.configuration.rotation = So3::exp(&Vector3::new(0.0, tilt, 0.0));
    let arm = block
        .configuration
        .rotation
        .rotate(&Vector3::new(b, 0.0, -h));
    block.configuration.translation = -arm;
    scene.plane("floor", Vector3::z(), 0.0)?;
    let course = scene.run(&moreau, *config.duration, usize::MAX, FRAMES)?;
    let ratio = 1.0 - 1.5 * carom_numeric::power(libm::sin(delta), 2);
    let mut landing = Pivot {
        radius,
        upright: delta,
        angle: tilt,
        rate: 0.0,
        time: 0.0,
    };
    for (k, impact) in course.impacts.iter().take(LANDINGS).enumerate() {
        let Some(landed) = landing.reach(0.0) else {
            break;
        };
        landing = landed;
        let kept = (impact.energy_plus / impact.energy_minus).sqrt();
        record.quantities.extend([
            Quantity::new(format!("landing_{}_s", k + 1), impact.time, "s").note(format!(
                "{:.6} by Runge and Kutta on the inverted pendulum; a step has order 2",
                landing.time
            )),
            Quantity::new(format!("rate_kept_{}", k + 1), kept, "")
                .closed_form(ratio, "1 - 3/2 sin^2 delta (Housner 1963)"),
        ]);
        (landing.angle, landing.rate) = (0.0, -ratio * landing.rate);
    }
    record.quantities.extend([
        Quantity::new("landings", course.impacts.len() as f64, ""),
        Quantity::new(
            "energy_max_error_j",
            course.of_end(|end| end.balance.energy_error),
            "J",
        )
        .note("the energy with what landings took, against the start"),
    ]);
    let times = course.times();
    let angle = course.of_body(0, |state| {
        let (w, v) = state.rotation.quaternion();
        2.0 * libm::atan2(v.y, w).to_degrees()
    });
    let hits: Vec<f64> = course.impacts.iter().map(|impact| impact.time).collect();
    let series = [Series::new("angle", angle)];
    let plot = against_time("rocking-motion/angle", &times, &series, &[]);
    with_dashes(plot, &hits, extent(&series)).draw(&mut record)?;
    let shown: Vec<Hit> = course.impacts.iter().map(Hit::from).collect();
    playback(&scene.spec, &course.frames, &shown, &mut record);
    Ok(record)
}
