//! Balls are poured into a pit and come to rest in a heap.

use crate::ScenarioError;
use crate::config::{Count, Fraction, Input, NonNegative, Positive};
use crate::motion::heap::Heap;
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Course, Scene};
use carom_geometry::{Ellipsoid, Shape};
use carom_numeric::random::CounterRng;
use carom_report::record::{Axis, Color, Column, Figure, Mark, Quantity, Record, Table};
use carom_variational::State;
use carom_world::World;
use nalgebra::Vector3;
use serde::Deserialize;

const FRAMES: usize = 60;

/// Width of a cell of the grid from which balls fall, as a multiple of the ball radius.
const CELL: f64 = 2.2;

/// Largest random displacement of a ball from the center of its cell along an axis, as a multiple of the radius. It is so small
/// that neighbors do not touch.
const JITTER: f64 = 0.09;

/// Largest gap of two touching balls, as a multiple of the radius: a thousand times the gaps that solver residuals leave.
const TOUCHING: f64 = 1e-6;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    balls: Count<1, 300>,
    radius: Positive,
    mass: Positive,
    half_width: Positive,
    friction: NonNegative,
    restitution: Fraction,
    seed: u64,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let steps = (*config.duration / *config.time_step).ceil() as usize;
    crate::config::count("duration", steps, 0, 100_000)?;
    let scene = scene(&config)?;
    let course = scene.run_in_steps(*config.duration, FRAMES)?;
    let heap = Heap {
        scene: &scene,
        world: World::new(&scene.spec)?,
        course: &course,
    };
    heap.balances(&mut record);
    touching(&config, &course, &mut record);
    heap.energies(&mut record);
    let shown: Vec<Hit> = course.impacts.iter().map(Hit::from).collect();
    playback(&scene.spec, &course.frames, &shown, &mut record);
    Ok(record)
}

/// Builds the scene of the ball pit: balls in layers above the floor of a square pit, each displaced at random from a point of
/// a grid.
fn scene(config: &Config) -> Result<Scene, ScenarioError> {
    let (radius, half) = (*config.radius, *config.half_width);
    let row = (2.0 * half / (CELL * radius)).floor();
    if !(row >= 1.0) {
        let message = format!("{half} must be at least {}", 0.5 * CELL * radius);
        return Err(ScenarioError::value("half_width", message));
    }
    let row = row.min(*config.balls as f64) as usize;
    let width = 2.0 * half / row as f64;
    let mut scene = Scene::new(*config.friction, *config.restitution, *config.time_step);
    let sphere = Ellipsoid::sphere(radius, Vector3::zeros())
        .map_err(|error| ScenarioError::value("radius", error))?;
    let mut random = CounterRng::new(config.seed, 0, 0);
    for k in 0..*config.balls {
        let cell = [k % row, k / row % row, k / (row * row)];
        let jitter = Vector3::from_fn(|_, _| JITTER * radius * (2.0 * random.next_uniform() - 1.0));
        let place = Vector3::new(
            (cell[0] as f64 + 0.5) * width - half,
            (cell[1] as f64 + 0.5) * width - half,
            (cell[2] as f64 + 1.0) * CELL * radius,
        );
        let name = format!("ball-{}", k + 1);
        let shape = Shape::Ellipsoid(sphere);
        scene.body(name, shape, Some(*config.mass), place + jitter)?;
    }
    scene.plane("floor", Vector3::z(), 0.0)?;
    for (axis, names) in [["left", "right"], ["front", "back"]].iter().enumerate() {
        for (name, sign) in names.iter().zip([1.0, -1.0]) {
            scene.plane(name, Vector3::ith(axis, sign), half)?;
        }
    }
    Ok(scene)
}

/// Reports the contacts in the settled heap: the number of contacts of each ball with other balls and with the pit. `course`:
/// recorded run.
fn touching(config: &Config, course: &Course, record: &mut Record) {
    let Some((_, states)) = course.frames.last() else {
        return;
    };
    let counts = contacts(config, states);
    let most = counts.iter().copied().max().unwrap_or(0);
    let balls: Vec<f64> = (0..=most)
        .map(|n| counts.iter().filter(|k| **k == n).count() as f64)
        .collect();
    let n_balls = counts.len() as f64;
    let mean = counts.iter().sum::<usize>() as f64 / n_balls;
    let height = states.iter().map(|s| s.position.z).sum::<f64>() / n_balls;
    record.quantities.extend([
        Quantity::new("contacts_of_a_ball", mean, "").note(
            "mean, floor and walls included; between 4 and 6 if the forces of the heap determine each other",
        ),
        Quantity::new("mean_height_m", height, "m"),
    ]);
    let mut table = Table::new(
        "contacts",
        "Balls at the end of the run by the number of their contacts.",
        vec![Column::new("contacts", ""), Column::new("balls", "")],
    );
    let numbers: Vec<f64> = (0..=most).map(|n| n as f64).collect();
    for (n, count) in numbers.iter().zip(&balls) {
        table.rows.push(vec![*n, *count]);
    }
    record.tables.push(table);
    record.figures.push(
        Figure::new(
            "contacts",
            "Contacts",
            "Balls at the end of the run by the number of their contacts.",
            Axis::linear("contacts", ""),
            Axis::linear("balls", ""),
        )
        .mark(Mark::points("balls", numbers, balls, Color::Blue)),
    );
}

/// Counts the contacts of each ball with other balls, walls and floor. A contact counts if the distance computed from the
/// positions in `states` is small enough.
fn contacts(config: &Config, states: &[State]) -> Vec<usize> {
    let (radius, half) = (*config.radius, *config.half_width);
    let mut counts = vec![0; states.len()];
    for (i, a) in states.iter().enumerate() {
        let x = &a.position;
        let walls = [x.z, half - x.x, half + x.x, half - x.y, half + x.y];
        let near = |distance: &&f64| **distance - radius <= TOUCHING * radius;
        counts[i] += walls.iter().filter(near).count();
        for (j, b) in states.iter().enumerate().skip(i + 1) {
            if (x - b.position).norm() - 2.0 * radius <= TOUCHING * radius {
                counts[i] += 1;
                counts[j] += 1;
            }
        }
    }
    counts
}
