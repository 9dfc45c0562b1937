//! A row of dominoes: the first is pushed over, and a wave runs along the row; by event-driven integration, and by time stepping.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, NonNegative, Positive};
use crate::motion::count_steps;
use crate::motion::figures::{MOST_LINES, Series, against_time};
use crate::motion::pivot::Pivot;
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Course, Scene, moreau};
use carom_geometry::{Cuboid, Shape};
use carom_report::record::{Column, Quantity, Record, Table};
use carom_world::{ImpactContact, Surface};
use nalgebra::Vector3;
use serde::Deserialize;

const FRAMES: usize = 250;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    dominoes: Count<2, 40>,
    half_thickness: Positive,
    half_width: Positive,
    half_height: Positive,
    mass: Positive,
    spacing: Positive,
    friction: NonNegative,
    floor_friction: NonNegative,
    restitution: Fraction,
    push: Positive,
}

/// Runs the scenario `dominoes` by event-driven integration, which finds the time of every impact.
pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    played(input, &|scene, duration| {
        scene.run(&moreau, duration, usize::MAX, FRAMES)
    })
}

/// Runs the scenario `domino-row` by time stepping, until all dominoes have fallen.
pub(crate) fn row(input: &Input<'_>) -> Result<Record, ScenarioError> {
    played(input, &|scene, duration| {
        scene.run_in_steps(duration, FRAMES)
    })
}

fn played(
    input: &Input<'_>,
    run: &dyn Fn(&Scene, f64) -> Result<Course, ScenarioError>,
) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    count_steps("duration", *config.duration, *config.time_step, 100_000)?;
    if *config.spacing >= 2.0 * *config.half_height {
        let message = format!(
            "{} must be below the height {}: a domino would not reach the next",
            *config.spacing,
            2.0 * *config.half_height
        );
        return Err(ScenarioError::value("spacing", message));
    }
    let scene = scene(&config)?.watched(input.progress);
    let course = run(&scene, *config.duration)?;
    let hits = first_hits(&course, *config.dominoes);
    first_fall(&config, &course, &mut record);
    wave(&config, &hits, &mut record)?;
    // Dominoes that settle on each other click as rounding wills.
    let passed = hits.iter().map(|(_, time)| *time).fold(0.0, f64::max);
    let of_wave = course.impacts.iter().filter(|impact| impact.time <= passed);
    record.quantities.extend([
        Quantity::new("impacts", of_wave.count() as f64, "")
            .note("until the last domino that is reached is hit"),
        Quantity::new(
            "energy_max_error_j",
            course.of_end(|end| end.balance.energy_error),
            "J",
        )
        .note("the energy with what impacts and friction took, against the start"),
    ]);
    angles(&course, &hits, &mut record)?;
    let shown: Vec<Hit> = course.impacts.iter().map(Hit::from).collect();
    playback(&scene.spec, &course.frames, &shown, &mut record);
    Ok(record)
}

/// Builds a row of dominoes along x. The first domino rotates about its lower front edge at the start. Friction and
/// restitution between dominoes differ from those between a domino and the floor.
fn scene(config: &Config) -> Result<Scene, ScenarioError> {
    let (a, h, n) = (
        *config.half_thickness,
        *config.half_height,
        *config.dominoes,
    );
    let mut scene = Scene::new(*config.floor_friction, 0.0, *config.time_step);
    let shape = Cuboid::new([a, *config.half_width, h])
        .map_err(|error| ScenarioError::value("half_thickness", error))?;
    let pitch = 2.0 * a + *config.spacing;
    for k in 0..n {
        let place = Vector3::new(pitch * k as f64, 0.0, h);
        let name = format!("domino-{}", k + 1);
        let domino = scene.body(name, Shape::Cuboid(shape), Some(*config.mass), place)?;
        if k == 0 {
            domino.angular_velocity = Vector3::new(0.0, *config.push, 0.0);
            domino.velocity = Vector3::new(h, 0.0, a) * *config.push;
        }
    }
    scene.plane("floor", Vector3::z(), 0.0)?;
    let each_other = Surface::new(*config.friction, *config.restitution);
    for i in 0..n {
        for j in 0..i {
            scene.spec.pairs.push(([j, i], each_other));
        }
    }
    Ok(scene)
}

/// Returns the index of each domino with the time (s) of its first hit by the domino before. The first domino, and
/// dominoes that are not hit, have no entry. `course`: recorded run; `dominoes`: number of dominoes.
fn first_hits(course: &Course, dominoes: usize) -> Vec<(usize, f64)> {
    let hit = |k: usize| {
        let of_pair = |c: &ImpactContact| (c.first, c.second) == (k - 1, k);
        let found = course
            .impacts
            .iter()
            .find(|impact| impact.contacts.iter().any(of_pair));
        found.map(|impact| (k, impact.time))
    };
    (1..dominoes).filter_map(hit).collect()
}

/// Compares the fall of the first domino, before it hits another one, with an independent integration. Reports time and normal
/// velocity of its first hit. `course`: recorded run.
fn first_fall(config: &Config, course: &Course, record: &mut Record) {
    let (a, h) = (*config.half_thickness, *config.half_height);
    let start = Pivot {
        radius: libm::hypot(a, h),
        upright: libm::atan2(a, h),
        angle: 0.0,
        rate: *config.push,
        time: 0.0,
    };
    let Some(hit) = start.reach(libm::asin(*config.spacing / (2.0 * h))) else {
        return;
    };
    let Some(impact) = course.impacts.iter().find(|impact| {
        let mut contacts = impact.contacts.iter();
        contacts.any(|c| (c.first, c.second) == (0, 1))
    }) else {
        return;
    };
    // Speed at which the upper front edge approaches the next domino.
    let closing = 2.0 * h * libm::cos(hit.angle) * hit.rate;
    let rates = impact.contacts.iter().map(|c| -c.normal_velocity);
    let found = rates.fold(0.0, f64::max);
    let source = "Runge and Kutta on a block that turns about its edge; a step has order two";
    record.quantities.extend([
        Quantity::new("first_hit_s", impact.time, "s").note(format!("{:.7} by {source}", hit.time)),
        Quantity::new("first_hit_m_per_s", found, "m/s").note(format!("{closing:.7} by {source}")),
    ]);
}

/// Reports the speed at which the wave of falling dominoes moves from hit to hit. `hits`: index of each domino with the time
/// (s) of its first hit.
fn wave(config: &Config, hits: &[(usize, f64)], record: &mut Record) -> Result<(), ScenarioError> {
    let pitch = 2.0 * *config.half_thickness + *config.spacing;
    let mut table = Table::new(
        "hits",
        "When each domino is hit first, and the speed of the wave since the hit before.",
        Column::list("domino, time [s], speed [m/s]"),
    );
    let mut last = None;
    for pair in hits.windows(2) {
        let [(_, before), (domino, time)] = pair else {
            continue;
        };
        let speed = pitch / (time - before);
        table.rows.push(vec![*domino as f64 + 1.0, *time, speed]);
        last = Some(speed);
    }
    record
        .quantities
        .push(Quantity::new("dominoes_hit", hits.len() as f64, ""));
    let plot = Plot::new("dominoes/wave").of(&table);
    record.tables.push(table);
    let Some(last) = last else {
        return Ok(());
    };
    let unit = (crate::motion::scene::GRAVITY * 2.0 * *config.half_height).sqrt();
    record.quantities.extend([
        Quantity::new("wave_speed_m_per_s", last, "m/s").note("between the last two hits"),
        Quantity::new("wave_speed_over_root_gh", last / unit, "")
            .note("over the square root of gravity times height; of order one for every row"),
    ]);
    plot.draw(record)
}

fn angles(
    course: &Course,
    hits: &[(usize, f64)],
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let bodies = course.frames.first().map_or(0, |(_, states)| states.len());
    let series: Vec<Series> = (0..bodies.min(MOST_LINES))
        .map(|k| {
            let angle = course.of_body(k, |state| {
                let (w, v) = state.rotation.quaternion();
                2.0 * libm::atan2(v.y, w).to_degrees()
            });
            Series::new(format!("domino {}", k + 1), angle)
        })
        .collect();
    against_time("dominoes/angles", &course.times(), &series, hits).draw(record)
}
