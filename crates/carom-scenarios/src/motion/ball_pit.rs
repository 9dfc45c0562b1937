//! Balls are poured into pits and come to rest in heaps: means over many pits, because no single heap can be repeated.

use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, NonNegative, Positive};
use crate::motion::count_steps;
use crate::motion::heap::{Checks, Heap, LOAD_NOTE};
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Course, Scene};
use crate::{Progress, ScenarioError};
use carom_geometry::{Ellipsoid, Shape};
use carom_numeric::random::CounterRng;
use carom_report::record::{Quantity, Record};
use carom_variational::State;
use carom_world::World;
use nalgebra::Vector3;
use rayon::prelude::*;
use serde::Deserialize;

const FRAMES: usize = 60;

/// Width of a cell of the grid from which balls fall, as a multiple of the ball radius.
const CELL: f64 = 2.2;

/// Largest random displacement of a ball from the center of its cell along an axis, as a multiple of the radius. It is so small
/// that neighbors do not touch.
const JITTER: f64 = 0.09;

/// Largest gap of two touching balls, as a multiple of the radius: a thousand times the gaps that solver residuals leave. Contacts
/// that yield overlap by up to a thousand times as much.
const TOUCHING: f64 = 1e-6;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    runs: Count<1, 1000>,
    balls: Count<1, 300>,
    radius: Positive,
    mass: Positive,
    half_width: Positive,
    friction: NonNegative,
    restitution: Fraction,
    seed: u64,
}

/// Run of one pit.
struct Pit {
    scene: Scene,
    course: Course,
    checks: Checks,
    /// Numbers of contacts of the balls at the end.
    contacts: Vec<usize>,
    /// Mean height of the balls at the end (m).
    height: f64,
    /// Energy that impacts and friction took (J).
    lost: f64,
}

impl Pit {
    /// Runs the pit with a number; the progress of the first pit is that of all, which run at the same time.
    fn new(config: &Config, number: usize, progress: &Progress) -> Result<Self, ScenarioError> {
        let mut scene = scene(config, config.seed.wrapping_add(number as u64))?;
        if number == 0 {
            scene = scene.watched(progress);
        }
        let course = scene.run_in_steps(*config.duration, FRAMES)?;
        let heap = heap(&scene, &course)?;
        let states = course.frames.last().map_or(&[][..], |(_, states)| states);
        let height = states.iter().map(|s| s.position.z).sum::<f64>() / *config.balls as f64;
        let (checks, lost) = (heap.checks(), heap.lost());
        Ok(Self {
            checks,
            contacts: contacts(config, states),
            height,
            lost,
            scene,
            course,
        })
    }

    /// Returns the mean number of contacts of a ball.
    fn mean_contacts(&self) -> f64 {
        self.contacts.iter().sum::<usize>() as f64 / self.contacts.len().max(1) as f64
    }
}

fn heap<'c>(scene: &'c Scene, course: &'c Course) -> Result<Heap<'c>, ScenarioError> {
    let world = World::new(&scene.spec)?;
    Ok(Heap {
        scene,
        world,
        course,
    })
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    count_steps("duration", *config.duration, *config.time_step, 100_000)?;
    let one = |number: usize| Pit::new(&config, number, input.progress);
    let pits: Result<Vec<Pit>, ScenarioError> =
        (0..*config.runs).into_par_iter().map(one).collect();
    let pits = pits?;
    report(&config, &pits, &mut record)?;
    if let Some(first) = pits.first() {
        heap(&first.scene, &first.course)?.energies(&mut record)?;
        let shown: Vec<Hit> = first.course.impacts.iter().map(Hit::from).collect();
        playback(&first.scene.spec, &first.course.frames, &shown, &mut record);
    }
    Ok(record)
}

/// Builds the scene of the ball pit: balls in layers above the floor of a square pit, each displaced at random from a point of
/// a grid.
fn scene(config: &Config, seed: u64) -> Result<Scene, ScenarioError> {
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
    let mut random = CounterRng::new(seed, 0, 0);
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

/// Reports the settled heaps: balances, loads, and the contacts of each ball with other balls and with the pit.
fn report(config: &Config, pits: &[Pit], record: &mut Record) -> Result<(), ScenarioError> {
    let of_pits = |value: &dyn Fn(&Pit) -> f64| -> Vec<f64> { pits.iter().map(value).collect() };
    let worst = pits.iter().map(|pit| pit.checks).reduce(Checks::worst);
    let worst = worst.unwrap_or_default();
    record.quantities.extend(worst.balances());
    record.quantities.extend([
        worst.deepest().at_most(1e3 * TOUCHING * *config.radius),
        Quantity::mean("load_over_weight", &of_pits(&|pit| pit.checks.load), "").note(LOAD_NOTE),
        Quantity::mean("contacts_of_a_ball", &of_pits(&Pit::mean_contacts), "").note(
            "floor and walls included; between 4 and 6 if the forces of the heap determine each other",
        ),
        Quantity::mean("mean_height_m", &of_pits(&|pit| pit.height), "m"),
        Quantity::mean("energy_lost_j", &of_pits(&|pit| pit.lost), "J"),
    ]);
    let counts: Vec<usize> = pits.iter().flat_map(|pit| pit.contacts.clone()).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    let share =
        |n: usize| counts.iter().filter(|k| **k == n).count() as f64 / counts.len().max(1) as f64;
    let shares = (0..=most).map(|n| [n as f64, share(n)]);
    let plot = Plot::new("ball-pit/contacts").through("balls", shares);
    plot.draw(record)
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
