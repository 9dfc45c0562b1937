//! Boxes are dropped onto each other and stand as a stack that does not creep.

use crate::ScenarioError;
use crate::config::{Count, Fraction, Input, NonNegative, Positive};
use crate::motion::count_steps;
use crate::motion::figures::{MOST_LINES, Series, against_time};
use crate::motion::heap::{Heap, LOAD_NOTE};
use crate::motion::playback::{Hit, playback};
use crate::motion::scene::{Course, GRAVITY, Scene};
use carom_geometry::{Cuboid, Shape};
use carom_report::record::{Column, Quantity, Record, Table};
use carom_world::World;
use nalgebra::Vector3;
use serde::Deserialize;

const FRAMES: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    boxes: Count<1, 40>,
    half_width: Positive,
    half_height: Positive,
    mass: Positive,
    gap: NonNegative,
    friction: NonNegative,
    restitution: Fraction,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    count_steps("duration", *config.duration, *config.time_step, 100_000)?;
    let scene = scene(&config)?.watched(input.progress);
    let course = scene.run_in_steps(*config.duration, FRAMES)?;
    let heap = Heap {
        scene: &scene,
        world: World::new(&scene.spec)?,
        course: &course,
    };
    let checks = heap.checks();
    let impacts = Quantity::new("impacts", course.impacts.len() as f64, "");
    record.quantities.push(impacts);
    record.quantities.extend(checks.balances());
    record.quantities.push(checks.deepest());
    let load = Quantity::new("load_over_weight", checks.load, "").note(LOAD_NOTE);
    record.quantities.push(load);
    record
        .quantities
        .push(Quantity::new("creep_m", heap.creep(), "m").closed_form(
            0.0,
            "a stack at rest stays: largest way of a box in the last tenth of the run",
        ));
    standing(&config, &course, &mut record);
    heights(&course, &mut record)?;
    heap.energies(&mut record)?;
    let shown: Vec<Hit> = course.impacts.iter().map(Hit::from).collect();
    playback(&scene.spec, &course.frames, &shown, &mut record);
    Ok(record)
}

/// Builds the scene of the box stack: boxes above each other, with a gap below each box.
fn scene(config: &Config) -> Result<Scene, ScenarioError> {
    let (a, c) = (*config.half_width, *config.half_height);
    let mut scene = Scene::new(*config.friction, *config.restitution, *config.time_step);
    let shape =
        Cuboid::new([a, a, c]).map_err(|error| ScenarioError::value("half_width", error))?;
    for k in 0..*config.boxes {
        let place = Vector3::z() * start(config, k);
        let name = format!("box-{}", k + 1);
        scene.body(name, Shape::Cuboid(shape), Some(*config.mass), place)?;
    }
    scene.plane("floor", Vector3::z(), 0.0)?;
    Ok(scene)
}

/// Returns the height of the center of a box at the start (m).
fn start(config: &Config, k: usize) -> f64 {
    let (c, gap) = (*config.half_height, *config.gap);
    c + gap + k as f64 * (2.0 * c + gap)
}

/// Reports the heights of the boxes at the end of a run, compared with the heights in a stack without gaps. `course`: recorded
/// run.
fn standing(config: &Config, course: &Course, record: &mut Record) {
    let c = *config.half_height;
    let mut table = Table::new(
        "heights",
        "Height of each center at the end, and in a stack without gaps.",
        Column::list("box, height [m], stack [m]"),
    );
    let (mut worst, mut aside, mut energy, mut fallen) = (0.0f64, 0.0f64, 0.0, 0.0);
    for k in 0..*config.boxes {
        let Some(state) = course.last(k) else {
            continue;
        };
        let (at, stack) = (state.position.z, (2 * k + 1) as f64 * c);
        worst = worst.max((at - stack).abs());
        aside = aside.max(libm::hypot(state.position.x, state.position.y));
        energy += *config.mass * GRAVITY * stack;
        fallen += *config.mass * GRAVITY * (start(config, k) - at);
        table.rows.push(vec![k as f64 + 1.0, at, stack]);
    }
    record.tables.push(table);
    let lost = course.of_end(|end| end.balance.impact_loss + end.balance.contact_loss);
    record.quantities.extend([
        Quantity::new("height_error_m", worst, "m")
            .note("largest, against a stack without gaps: contacts yield a little"),
        Quantity::new("aside_m", aside, "m").note("largest way of a center from the axis"),
        Quantity::new("energy_of_stack_j", energy, "J"),
        Quantity::new("energy_lost_j", lost, "J")
            .closed_form(fallen, "all that the boxes had by their height"),
    ]);
}

fn heights(course: &Course, record: &mut Record) -> Result<(), ScenarioError> {
    let bodies = course.frames.first().map_or(0, |(_, states)| states.len());
    let series: Vec<Series> = (0..bodies.min(MOST_LINES))
        .map(|k| {
            Series::new(
                format!("box {}", k + 1),
                course.of_body(k, |s| s.position.z),
            )
        })
        .collect();
    against_time("box-stack/heights", &course.times(), &series, &[]).draw(record)
}
