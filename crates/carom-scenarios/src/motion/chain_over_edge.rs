//! A chain falls over an edge.

use crate::ScenarioError;
use crate::config::{Count, Fraction, Input, NonNegative, Positive};
use crate::motion::count_steps;
use crate::motion::figures::{Series, against_time};
use crate::motion::linkage::{Course, Linkage, mass};
use crate::motion::playback::playback;
use crate::motion::scene::GRAVITY;
use carom_geometry::{Cuboid, Ellipsoid, Rounded, Shape};
use carom_lie::{Se3, So3};
use carom_report::record::{Column, Quantity, Record, Table};
use carom_variational::State;
use carom_world::joints::coordinates::CoordinateSpec;
use nalgebra::Vector3;
use serde::Deserialize;

const FRAMES: usize = 120;

/// Half extents of the beam without its rounding (m). The beam is rotated so that one of its edges points up.
const BEAM: [f64; 3] = [0.2, 0.3, 0.2];

/// Number of impacts that are listed: a change of 1e-15 of the height grows to less than 1e-9 in them.
const REPEATABLE: usize = 8;

/// Largest error of the energy, as a fraction of the initial one. The energy that is lost is several times that.
const LARGEST_ERROR: f64 = 1e-2;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    links: Count<2, 200>,
    over: usize,
    length: Positive,
    mass: Positive,
    radius: Positive,
    height: Positive,
    edge: Positive,
    damping: NonNegative,
    friction: NonNegative,
    restitution: Fraction,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    count_steps("duration", *config.duration, *config.time_step, 100_000)?;
    crate::config::count("over", config.over, 0, *config.links - 1)?;
    if *config.radius >= *config.height {
        let message = "the balls must be above the edge at the start: below `height`";
        return Err(ScenarioError::value("radius", message));
    }
    let (linkage, beam) = linkage(&config)?;
    let linkage = linkage.watched(input.progress);
    let course = linkage.run(*config.duration, FRAMES)?;
    record.quantities = quantities(&config, &course, beam);
    record.tables.push(first_impacts(&course));
    let times = course.times();
    let height = |body: usize| {
        course
            .frames
            .iter()
            .map(|(_, s)| s[body].position.z)
            .collect()
    };
    against_time(
        "chain-over-edge/heights",
        &times,
        &[
            Series::new("first", height(0)),
            Series::new("over the edge", height(config.over)),
            Series::new("last", height(*config.links - 1)),
        ],
        &[],
    )
    .draw(&mut record)?;
    against_time(
        "chain-over-edge/energy",
        &times,
        &[Series::new("total", course.energies.clone())],
        &[],
    )
    .draw(&mut record)?;
    playback(&linkage.spec, &course.frames, &course.hits(), &mut record);
    Ok(record)
}

/// Builds a horizontal row of links connected by hinges above the upper edge of a beam. Each link has a ball at its middle.
/// Returns the bodies with their joints, and the index of the beam.
fn linkage(config: &Config) -> Result<(Linkage, usize), ScenarioError> {
    let mut linkage = Linkage::new(GRAVITY, *config.restitution, *config.time_step);
    linkage.spec.surface.friction = *config.friction;
    let n = *config.links;
    let pitch = *config.length / n as f64;
    let ball = Ellipsoid::sphere(*config.radius, Vector3::zeros())
        .map_err(|error| ScenarioError::value("radius", error))?;
    let link = *config.mass / n as f64;
    // Uses the inertia of a thin rod about every axis: rods with a small inertia about their own axis would spin fast.
    let moments = Vector3::repeat(link * pitch * pitch / 12.0);
    for k in 0..n {
        let along = pitch * (k as f64 - config.over as f64);
        let body = linkage.body(
            &format!("link{k}"),
            Shape::Ellipsoid(ball),
            mass(link, moments)?,
            Some(Vector3::new(along, 0.0, *config.height)),
        );
        if k == 0 {
            continue;
        }
        let half = Vector3::x() * (0.5 * pitch);
        let hinge = CoordinateSpec::default().with_damping(*config.damping);
        linkage.join(
            &format!("hinge{k}"),
            "revolute",
            (Some(body - 1), half),
            (body, -half),
            vec![Vector3::y()],
            vec![hinge],
        )?;
    }
    let turned = So3::exp(&(Vector3::y() * std::f64::consts::FRAC_PI_4));
    let down = Vector3::z() * -(std::f64::consts::SQRT_2 * BEAM[0] + *config.edge);
    let core = Cuboid::new(BEAM).map_err(|error| ScenarioError::value("beam", error))?;
    let shape = Rounded::new(Shape::Cuboid(core), *config.edge)
        .map_err(|error| ScenarioError::value("edge", error))?;
    let place = Se3::new(turned, down);
    let beam = linkage.fixed("beam", Shape::Rounded(Box::new(shape)), place);
    for k in 0..n {
        linkage.touch(k, beam);
    }
    Ok((linkage, beam))
}

/// Computes what can be repeated of the run, which is chaotic after its first impacts: the first impact, and balances.
fn quantities(config: &Config, course: &Course, beam: usize) -> Vec<Quantity> {
    let end = &course.end;
    let momentum = |states: &[State]| {
        states
            .iter()
            .map(|s| s.linear_momentum)
            .sum::<Vector3<f64>>()
    };
    let last = course
        .frames
        .last()
        .map_or(Vector3::zeros(), |(_, s)| momentum(s));
    let fall = Vector3::z() * (-*config.mass * GRAVITY * end.time);
    let given = end.supports[1 + beam] + fall;
    let drop = libm::sqrt(2.0 * (*config.height - *config.radius) / GRAVITY);
    let first = course.impacts.first().map_or(f64::NAN, |i| i.time);
    vec![
        Quantity::new("first_impact_s", first, "s").closed_form(drop, "a free fall onto the edge"),
        Quantity::new("energy_initial_j", course.initial, "J"),
        Quantity::new("energy_max_error_j", end.energy_error, "J")
            .at_most(LARGEST_ERROR * course.initial)
            .note("with what impacts, friction at the edge and the hinges' dampers took"),
        Quantity::new("momentum_error_ns", (last - given).norm(), "N s").closed_form(
            0.0,
            "impulses of the edge and the weight's make the momentum",
        ),
        Quantity::new("joint_residual_m", end.residual, "m")
            .closed_form(0.0, "joints are closed at the end of every step"),
    ]
}

/// Lists the impacts that another machine has, too.
fn first_impacts(course: &Course) -> Table {
    let mut table = Table::new(
        "first_impacts",
        "The first impacts, which rounding has not yet changed: time, and kinetic energies before and after.",
        Column::list("time [s], kinetic_minus [J], kinetic_plus [J]"),
    );
    let first = course.impacts.iter().take(REPEATABLE);
    table.rows = first
        .map(|impact| vec![impact.time, impact.energy_minus, impact.energy_plus])
        .collect();
    table
}
