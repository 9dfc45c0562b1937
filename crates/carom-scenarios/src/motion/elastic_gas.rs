//! Elastic spheres in boxes: the distribution of their speeds approaches Maxwell's law. Numbers are means over many boxes,
//! because no single run can be repeated beyond its first impacts.

use crate::common::plot::Plot;
use crate::config::{Count, Input, NonNegative, Positive};
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Course, Scene, propagative};
use crate::{Advance, Progress, ScenarioError};
use carom_geometry::{Ellipsoid, Shape};
use carom_numeric::random::CounterRng;
use carom_report::record::{Column, Quantity, Record, Table};
use carom_variational::State;
use carom_world::Impact;
use nalgebra::Vector3;
use rayon::prelude::*;
use serde::Deserialize;
use std::f64::consts::PI;
use std::sync::{Arc, Mutex};

/// Number of samples of the speeds.
const FRAMES: usize = 200;

/// Number of impacts that are listed: another machine has them, too. A sphere has met about one other until then, so that
/// rounding has hardly grown.
const REPEATABLE: usize = 16;

/// Number of frames in the animation, from the start on: later frames look alike.
const PLAYED: usize = 100;

/// Largest distance of the speeds from Maxwell's law: that of few spheres, whose energy is fixed, is some thousandths.
const FARTHEST: f64 = 0.03;

/// Number of classes of the histogram, up to three times the root mean square speed.
const CLASSES: usize = 30;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    runs: Count<1, 1000>,
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
    let sum = Arc::new(Mutex::new((0.0, 0)));
    let one = |number: usize| {
        let progress = shared(input.progress, &sum, *config.runs);
        Gas::new(&config, number, &progress)
    };
    let gases: Result<Vec<Gas>, ScenarioError> =
        (0..*config.runs).into_par_iter().map(one).collect();
    let gases = gases?;
    collisions(&config, &gases, &mut record);
    speeds(&config, &gases, &mut record)?;
    let Some(Gas { scene, course }) = gases.first() else {
        return Ok(record);
    };
    record.tables.push(first_impacts(course));
    let played = &course.frames[..course.frames.len().min(PLAYED)];
    let until = played.last().map_or(0.0, |(time, _)| *time);
    let early = course.impacts.iter().filter(|impact| impact.time <= until);
    let hits: Vec<Hit> = early.map(Hit::from).collect();
    playback(&scene.spec, played, &hits, &mut record);
    Ok(record)
}

/// Progress of one of `boxes` boxes, several of which run at the same time: tells the observer of all of them their mean time and
/// the number of all their impacts. `sum` holds the sums of times and impacts.
fn shared(all: &Progress, sum: &Arc<Mutex<(f64, usize)>>, boxes: usize) -> Progress {
    let (all, sum) = (all.clone(), Arc::clone(sum));
    let own = Mutex::new((0.0, 0));
    Progress::new(move |advance| {
        let (Ok(mut own), Ok(mut sum)) = (own.lock(), sum.lock()) else {
            return;
        };
        if let Advance::Simulated {
            time,
            duration,
            impacts,
        } = advance
        {
            sum.0 += time - own.0;
            sum.1 += impacts.saturating_sub(own.1);
            *own = (time, impacts);
            all.simulated(sum.0 / boxes as f64, duration, sum.1);
        }
    })
}

/// Run of one box.
struct Gas {
    scene: Scene,
    course: Course,
}

impl Gas {
    /// Runs the box with a number.
    fn new(config: &Config, number: usize, progress: &Progress) -> Result<Self, ScenarioError> {
        let scene = scene(config, config.seed.wrapping_add(number as u64))?.watched(progress);
        let course = scene.run(&propagative, *config.duration, usize::MAX, FRAMES)?;
        Ok(Self { scene, course })
    }
}

/// Builds the scene of the elastic gas: spheres on a lattice in a box about the origin, with equal speeds in random
/// directions.
fn scene(config: &Config, seed: u64) -> Result<Scene, ScenarioError> {
    let mut scene = Scene::new(0.0, 1.0, 1e-3);
    scene.spec.gravity = Vector3::zeros();
    let sphere = Ellipsoid::sphere(0.5 * *config.diameter, Vector3::zeros())
        .map_err(|error| ScenarioError::value("diameter", error))?;
    let n = *config.per_side;
    let at = |k: usize| *config.side * ((k as f64 + 0.5) / n as f64 - 0.5);
    for number in 0..n * n * n {
        let place = Vector3::new(at(number % n), at(number / n % n), at(number / (n * n)));
        let mut rng = CounterRng::new(seed, number as u64, 0);
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

/// Impacts of one box.
struct Collisions {
    pairs: f64,
    walls: f64,
    /// Difference of both sides of the virial theorem, as a fraction of its largest term.
    virial_error: f64,
}

impl Collisions {
    fn new(config: &Config, course: &Course) -> Self {
        let (d, m) = (*config.diameter, *config.mass);
        let n = config.per_side.pow(3) as f64;
        let inner = *config.side - d;
        let (mut pairs, mut walls) = (0.0, 0.0);
        let (mut pushed_apart, mut held) = (0.0, 0.0);
        for contact in course.impacts.iter().flat_map(|impact| &impact.contacts) {
            let impulse = contact.impulse.dot(&contact.normal);
            if (contact.second as f64) < n {
                pairs += 1.0;
                pushed_apart += d * impulse;
            } else {
                walls += 1.0;
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
        Self {
            pairs,
            walls,
            virial_error,
        }
    }
}

/// Reports the collision rates of the spheres, and compares their impulses with the virial theorem.
fn collisions(config: &Config, gases: &[Gas], record: &mut Record) {
    let d = *config.diameter;
    let n = config.per_side.pow(3) as f64;
    let inner = *config.side - d;
    let all: Vec<Collisions> = gases
        .iter()
        .map(|gas| Collisions::new(config, &gas.course))
        .collect();
    let of_all =
        |value: &dyn Fn(&Collisions) -> f64| -> Vec<f64> { all.iter().map(value).collect() };
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
    let largest = |values: Vec<f64>| values.into_iter().map(f64::abs).fold(0.0, f64::max);
    let errors = gases
        .iter()
        .map(|gas| gas.course.of_end(|end| end.balance.energy_error))
        .collect();
    let pairs = of_all(&|one| one.pairs / *config.duration);
    let walls = of_all(&|one| one.walls / *config.duration);
    record.quantities.extend([
        Quantity::mean("pair_collisions_per_s", &pairs, "1/s").note(format!(
            "{rate:.1} by kinetic theory with Carnahan and Starling's crowding"
        )),
        Quantity::mean("wall_collisions_per_s", &walls, "1/s"),
        Quantity::new("virial_error", largest(of_all(&|one| one.virial_error)), "").closed_form(
            0.0,
            "the virial theorem: kinetic energy, impulses between spheres and of the walls",
        ),
        Quantity::new("energy_max_error_j", largest(errors), "J"),
    ]);
}

/// Lists the first impacts of a box: times, and energies of the bodies involved.
fn first_impacts(course: &Course) -> Table {
    let mut table = Table::new(
        "first_impacts",
        "Impacts of the first box until rounding begins to grow.",
        Column::list("time [s], impulse [N s]"),
    );
    let first = course.impacts.iter().take(REPEATABLE);
    let row = |impact: &Impact| {
        let impulses = impact.contacts.iter().map(|contact| contact.impulse.norm());
        vec![impact.time, impulses.sum()]
    };
    table.rows = first.map(row).collect();
    table
}

/// Compares the distribution of the spheres' speeds after the warm-up with Maxwell's law.
fn speeds(config: &Config, gases: &[Gas], record: &mut Record) -> Result<(), ScenarioError> {
    let speed = |state: &State| state.linear_momentum.norm() / (*config.mass * *config.speed);
    let fourth = |states: &[State]| -> f64 {
        let powers = states
            .iter()
            .map(|state| carom_numeric::power(speed(state), 4));
        powers.sum::<f64>() / states.len().max(1) as f64
    };
    let late = |gas: &Gas| -> f64 {
        let frames = gas.course.frames.iter();
        let late = frames.filter(|(time, _)| *time >= *config.warm_up);
        let moments: Vec<f64> = late.map(|(_, states)| fourth(states)).collect();
        moments.iter().sum::<f64>() / moments.len().max(1) as f64
    };
    let moments: Vec<f64> = gases.iter().map(late).collect();
    let frames = gases.iter().flat_map(|gas| &gas.course.frames);
    let counted = frames.filter(|(time, _)| *time >= *config.warm_up);
    let mut counted: Vec<f64> = counted.flat_map(|(_, states)| states).map(speed).collect();
    counted.sort_by(f64::total_cmp);
    let count = counted.len() as f64;
    let apart = counted.iter().enumerate().map(|(k, v)| {
        let share = maxwell(*v).0;
        (share - k as f64 / count)
            .abs()
            .max((share - (k as f64 + 1.0) / count).abs())
    });
    let distance = apart.fold(0.0, f64::max);
    let n = config.per_side.pow(3) as f64;
    let even = 5.0 * n / (3.0 * n + 2.0);
    record.quantities.extend([
        Quantity::mean("fourth_moment", &moments, "").note(format!(
            "of speeds over the root of their mean square: 1 at the start, {even:.4} if all velocities of this \
             energy are equally likely, 5/3 for Maxwell's law"
        )),
        Quantity::new("distance_to_maxwell", distance, "")
            .at_most(FARTHEST)
            .note("the largest difference of the shares of speeds below any value"),
    ]);
    histogram(&counted).draw(record)?;
    relaxation(config, gases, &fourth).draw(record)
}

/// Draws how often each speed is met, and Maxwell's law. `counted`: sorted speeds over the root of their mean square.
fn histogram(counted: &[f64]) -> Plot {
    let count = counted.len() as f64;
    let width = 3.0 / CLASSES as f64;
    let mut plot = Plot::new("elastic-gas/speeds");
    for k in 0..CLASSES {
        let (low, high) = (width * k as f64, width * (k + 1) as f64);
        let below = |v: f64| counted.partition_point(|x| *x < v) as f64;
        let density = (below(high) - below(low)) / (count * width);
        plot = plot.with(
            "class",
            [low, high, high, low],
            [0.0, 0.0, density, density],
        );
    }
    let curve = (0..=120).map(|k| 0.025 * f64::from(k));
    plot.through("Maxwell", curve.map(|v| [v, maxwell(v).1]))
}

/// Draws the fourth moment of the speeds against time, as the mean over all boxes. `fourth`: the moment in given states.
fn relaxation(config: &Config, gases: &[Gas], fourth: &dyn Fn(&[State]) -> f64) -> Plot {
    let first = gases.first().map_or(&[][..], |gas| &gas.course.frames);
    let times: Vec<f64> = first.iter().map(|(time, _)| *time).collect();
    let at = |k: usize| {
        let states = gases.iter().filter_map(|gas| gas.course.frames.get(k));
        states.map(|(_, states)| fourth(states)).sum::<f64>() / gases.len() as f64
    };
    let fourths: Vec<f64> = (0..times.len()).map(at).collect();
    Plot::new("elastic-gas/relaxation")
        .with("spheres", times, fourths)
        .with("Maxwell", [0.0, *config.duration], [5.0 / 3.0; 2])
}

/// Returns two values of Maxwell's law for speeds whose mean square is 1: the fraction of the speeds below `v`, and the
/// probability density at `v`.
fn maxwell(v: f64) -> (f64, f64) {
    let gauss = (6.0 / PI).sqrt() * libm::exp(-1.5 * v * v);
    let share = libm::erf(v * 1.5f64.sqrt()) - v * gauss;
    (share, 3.0 * v * v * gauss)
}
