//! A ball hits a row of touching balls in an arbitrary direction in space.

use crate::ScenarioError;
use crate::config::{Count, Input, NonNegative, Positive};
use crate::motion::figures::{MOST_LINES, Series, against_time};
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Scene, propagative};
use carom_geometry::{Ellipsoid, Shape};
use carom_report::record::{Quantity, Record};
use nalgebra::Vector3;
use serde::Deserialize;

const FRAMES: usize = 120;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    balls: Count<2, 30>,
    radius: Positive,
    mass: Positive,
    direction: [f64; 3],
    speed: Positive,
    distance: NonNegative,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let Some(direction) = Vector3::from(config.direction).try_normalize(0.0) else {
        return Err(ScenarioError::value("direction", "[0, 0, 0] has none"));
    };
    let (r, n) = (*config.radius, *config.balls);
    let mut scene = Scene::new(0.0, 1.0, 1e-3).watched(input.progress);
    scene.spec.gravity = Vector3::zeros();
    let sphere = Ellipsoid::sphere(r, Vector3::zeros())
        .map_err(|error| ScenarioError::value("radius", error))?;
    for k in 0..n {
        let back = if k == 0 { *config.distance } else { 0.0 };
        let place = direction * (2.0 * r * k as f64 - back);
        let shape = Shape::Ellipsoid(sphere);
        let ball = scene.body(format!("ball-{}", k + 1), shape, Some(*config.mass), place)?;
        if k == 0 {
            ball.velocity = direction * *config.speed;
        }
    }
    let course = scene.run(&propagative, *config.duration, usize::MAX, FRAMES)?;
    let speed = |body: usize| {
        let state = course.last(body);
        state.map_or(0.0, |state| state.linear_momentum.norm() / *config.mass)
    };
    let others = (0..n - 1).map(speed).fold(0.0, f64::max);
    let hits: Vec<f64> = course.impacts.iter().map(|impact| impact.time).collect();
    let arrives = *config.distance / *config.speed < *config.duration;
    let mut last = Quantity::new("last_speed", speed(n - 1), "m/s");
    let mut rest = Quantity::new("largest_other_speed", others, "m/s");
    if arrives {
        let source = "equal masses exchange their velocities";
        last = last.closed_form(*config.speed, source);
        rest = rest.closed_form(0.0, source);
    }
    record.quantities.extend([
        last,
        rest,
        Quantity::new("instants_of_impact", hits.len() as f64, ""),
        Quantity::new(
            "energy_max_error_j",
            course.of_end(|end| end.balance.energy_error),
            "J",
        ),
    ]);
    let shown: Vec<usize> = if n <= MOST_LINES {
        (0..n).collect()
    } else {
        vec![0, 1, n / 2, n - 2, n - 1]
    };
    let series: Vec<Series> = shown
        .iter()
        .map(|body| {
            let along = course.of_body(*body, |state| direction.dot(&state.position));
            Series::new(format!("ball {}", body + 1), along)
        })
        .collect();
    let crosses: Vec<(usize, f64)> = hits.iter().map(|time| (0, *time)).collect();
    against_time(
        "cradle-in-space/positions",
        &course.times(),
        &series,
        &crosses,
    )
    .draw(&mut record)?;
    let shown: Vec<Hit> = course.impacts.iter().map(Hit::from).collect();
    playback(&scene.spec, &course.frames, &shown, &mut record);
    Ok(record)
}
