//! Elastic spheres in a box: the distribution of their speeds approaches Maxwell's law.

use crate::ScenarioError;
use crate::config::{Count, Input, NonNegative, Positive};
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Course, Scene, propagative};
use carom_geometry::{Ellipsoid, Shape};
use carom_numeric::random::CounterRng;
use carom_report::record::{Axis, Color, Column, Figure, LineStyle, Mark, Quantity, Record, Table};
use carom_variational::State;
use nalgebra::Vector3;
use serde::Deserialize;
use std::f64::consts::PI;

/// Number of samples of the speeds.
const FRAMES: usize = 600;

/// Number of frames in the animation, from the start on: later frames look alike.
const PLAYED: usize = 100;

/// Number of classes of the histogram, up to three times the root mean square speed.
const CLASSES: usize = 30;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    per_side: Count<2, 10>,
    diameter: Positive,
    mass: Positive,
    side: Positive,
    speed: Positive,
    duration: Positive,
    warm_up: NonNegative,
    seed: u64,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let room = *config.side / *config.per_side as f64;
    if *config.diameter >= room {
        let message = format!("{} must be below side / per_side, {room}", *config.diameter);
        return Err(ScenarioError::value("diameter", message));
    }
    if *config.warm_up >= *config.duration {
        let message = format!("{} must be below the duration", *config.warm_up);
        return Err(ScenarioError::value("warm_up", message));
    }
    let scene = scene(&config)?;
    let course = scene.run(&propagative, *config.duration, usize::MAX, FRAMES)?;
    collisions(&config, &course, &mut record);
    speeds(&config, &course, &mut record);
    let played = &course.frames[..course.frames.len().min(PLAYED)];
    let until = played.last().map_or(0.0, |(time, _)| *time);
    let early = course.impacts.iter().filter(|impact| impact.time <= until);
    let hits: Vec<Hit> = early.map(Hit::from).collect();
    playback(&scene.spec, played, &hits, &mut record);
    Ok(record)
}

/// Builds the scene of the elastic gas: spheres on a lattice in a box about the origin, with equal speeds in random
/// directions.
fn scene(config: &Config) -> Result<Scene, ScenarioError> {
    let mut scene = Scene::new(0.0, 1.0, 1e-3);
    scene.spec.gravity = Vector3::zeros();
    let sphere = Ellipsoid::sphere(0.5 * *config.diameter, Vector3::zeros())
        .map_err(|error| ScenarioError::value("diameter", error))?;
    let n = *config.per_side;
    let at = |k: usize| *config.side * ((k as f64 + 0.5) / n as f64 - 0.5);
    for number in 0..n * n * n {
        let place = Vector3::new(at(number % n), at(number / n % n), at(number / (n * n)));
        let mut rng = CounterRng::new(config.seed, number as u64, 0);
        let shape = Shape::Ellipsoid(sphere);
        let name = format!("sphere-{}", number + 1);
        let body = scene.body(name, shape, Some(*config.mass), place)?;
        body.velocity = direction(&mut rng) * *config.speed;
    }
    let half = 0.5 * *config.side;
    for (axis, names) in [["left", "right"], ["front", "back"], ["floor", "ceiling"]]
        .iter()
        .enumerate()
    {
        for (name, sign) in names.iter().zip([1.0, -1.0]) {
            scene.plane(name, Vector3::ith(axis, sign), half)?;
        }
    }
    Ok(scene)
}

/// Returns a random unit vector. Random points of a cube are drawn until one lies in the unit ball; the result is the direction
/// to this point. The method needs no function whose last digit depends on the machine.
fn direction(rng: &mut CounterRng) -> Vector3<f64> {
    for _ in 0..1000 {
        let point = Vector3::from_fn(|_, _| 2.0 * rng.next_uniform() - 1.0);
        let square = point.norm_squared();
        if (1e-6..=1.0).contains(&square) {
            return point / square.sqrt();
        }
    }
    Vector3::x()
}

/// Reports the collision rate of the spheres in a gas, and compares their impulses with the virial theorem. `course`: recorded
/// run.
fn collisions(config: &Config, course: &Course, record: &mut Record) {
    let (d, m) = (*config.diameter, *config.mass);
    let n = config.per_side.pow(3) as f64;
    let inner = *config.side - d;
    let (mut pairs, mut walls) = (0usize, 0usize);
    let (mut pushed_apart, mut held) = (0.0, 0.0);
    for contact in course.impacts.iter().flat_map(|impact| &impact.contacts) {
        let impulse = contact.impulse.dot(&contact.normal);
        if (contact.second as f64) < n {
            pairs += 1;
            pushed_apart += d * impulse;
        } else {
            walls += 1;
            held += 0.5 * inner * impulse;
        }
    }
    let virial = |states: &[State]| -> f64 {
        let one = |state: &State| state.position.dot(&state.linear_momentum);
        states.iter().map(one).sum()
    };
    let ends = (course.frames.first(), course.frames.last());
    let change = match ends {
        (Some((_, first)), Some((_, last))) => virial(last) - virial(first),
        _ => 0.0,
    };
    let twice_kinetic = n * m * *config.speed * *config.speed * *config.duration;
    let virial_error = (twice_kinetic + pushed_apart - held - change) / twice_kinetic;
    // Factors of the collision rate: density of pairs of points in a cube at this distance, mean speed of approach, and the
    // crowding of the spheres.
    let r = d / inner;
    let near =
        4.0 * PI * r * r / inner * (1.0 - 1.5 * r + 2.0 / PI * r * r - r * r * r / (4.0 * PI));
    let thermal = *config.speed / 3f64.sqrt();
    let approach = thermal / PI.sqrt();
    let filled = n * PI / 6.0 * r * r * r;
    let crowd = (1.0 - 0.5 * filled) / carom_numeric::power(1.0 - filled, 3);
    let rate = 0.5 * n * (n - 1.0) * near * approach * crowd;
    record.quantities.extend([
        Quantity::new("collisions_of_pairs", pairs as f64, ""),
        Quantity::new("collisions_with_walls", walls as f64, ""),
        Quantity::new(
            "pair_collisions_per_s",
            pairs as f64 / *config.duration,
            "1/s",
        )
        .note(format!(
            "{rate:.1} by kinetic theory with Carnahan and Starling's crowding"
        )),
        Quantity::new("virial_error", virial_error, "").closed_form(
            0.0,
            "the virial theorem: kinetic energy, impulses between spheres and of the walls",
        ),
        Quantity::new(
            "energy_max_error_j",
            course.of_end(|end| end.balance.energy_error),
            "J",
        ),
    ]);
}

/// Compares the distribution of the spheres' speeds after the warm-up with Maxwell's law. `course`: recorded run.
fn speeds(config: &Config, course: &Course, record: &mut Record) {
    let speed = |state: &State| state.linear_momentum.norm() / (*config.mass * *config.speed);
    let n = config.per_side.pow(3) as f64;
    let (mut counted, mut times, mut fourths) = (Vec::new(), Vec::new(), Vec::new());
    for (time, states) in &course.frames {
        let fourth = states
            .iter()
            .map(|state| carom_numeric::power(speed(state), 4))
            .sum::<f64>()
            / n;
        times.push(*time);
        fourths.push(fourth);
        if *time >= *config.warm_up {
            counted.extend(states.iter().map(speed));
        }
    }
    counted.sort_by(f64::total_cmp);
    let count = counted.len() as f64;
    let fourth = counted
        .iter()
        .map(|v| carom_numeric::power(*v, 4))
        .sum::<f64>()
        / count;
    let apart = counted.iter().enumerate().map(|(k, v)| {
        let share = maxwell(*v).0;
        (share - k as f64 / count)
            .abs()
            .max((share - (k as f64 + 1.0) / count).abs())
    });
    let distance = apart.fold(0.0, f64::max);
    let even = 5.0 * n / (3.0 * n + 2.0);
    record.quantities.extend([
        Quantity::new("speeds_counted", count, ""),
        Quantity::new("fourth_moment", fourth, "").note(format!(
            "of speeds over the root of their mean square: 1 at the start, {even:.4} if all velocities of this \
             energy are equally likely, 5/3 for Maxwell's law"
        )),
        Quantity::new("distance_to_maxwell", distance, "")
            .note("the largest difference of the shares of speeds below any value"),
    ]);
    let width = 3.0 / CLASSES as f64;
    let mut table = Table::new(
        "speeds",
        "Density of the speeds, over the root of their mean square, and Maxwell's.",
        vec![
            Column::new("speed", ""),
            Column::new("density", ""),
            Column::new("maxwell", ""),
        ],
    );
    let mut figure = Figure::new(
        "speeds",
        "Speeds",
        "How often each speed is met, over the root of the mean square, and Maxwell's law. All had the speed 1 at \
         the start.",
        Axis::linear("speed", ""),
        Axis::linear("density", ""),
    );
    for k in 0..CLASSES {
        let (low, high) = (width * k as f64, width * (k + 1) as f64);
        let below = |v: f64| counted.partition_point(|x| *x < v) as f64;
        let density = (below(high) - below(low)) / (count * width);
        let middle = 0.5 * (low + high);
        table.rows.push(vec![middle, density, maxwell(middle).1]);
        figure.marks.push(Mark::Polygon {
            x: vec![low, high, high, low],
            y: vec![0.0, 0.0, density, density],
            color: Color::Blue,
        });
    }
    let x: Vec<f64> = (0..=120).map(|k| 0.025 * f64::from(k)).collect();
    let y = x.iter().map(|v| maxwell(*v).1).collect();
    record
        .figures
        .push(figure.mark(Mark::line("Maxwell", x, y, Color::Vermillion)));
    record.tables.push(table);
    let span = vec![0.0, *config.duration];
    record.figures.push(
        Figure::new(
            "relaxation",
            "On the way to Maxwell's law",
            "Mean fourth power of the speeds over the square of their mean square: 1 at the start, then about 5/3.",
            Axis::linear("time", "s"),
            Axis::linear("fourth moment", ""),
        )
        .mark(Mark::line("spheres", times, fourths, Color::Blue))
        .mark(Mark::Line {
            label: Some("Maxwell".to_owned()),
            x: span,
            y: vec![5.0 / 3.0; 2],
            style: LineStyle::Dashed,
            color: Color::Vermillion,
        }),
    );
}

/// Returns two values of Maxwell's law for speeds whose mean square is 1: the fraction of the speeds below `v`, and the
/// probability density at `v`.
fn maxwell(v: f64) -> (f64, f64) {
    let gauss = (6.0 / PI).sqrt() * libm::exp(-1.5 * v * v);
    let share = libm::erf(v * 1.5f64.sqrt()) - v * gauss;
    (share, 3.0 * v * v * gauss)
}
