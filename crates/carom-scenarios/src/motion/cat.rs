//! A cat of two halves turns over in flight, without angular momentum.
//!
//! Two halves bend relative to each other without twist: a universal joint whose direction of bending rotates once around. The
//! angular momentum stays zero, and yet the whole cat has turned about its length when it is straight again (Kane & Scher, *A
//! dynamical explanation of the falling cat phenomenon*, Int. J. Solids Struct. 5 (1969)).

use crate::ScenarioError;
use crate::config::{Input, Positive};
use crate::motion::count_steps;
use crate::motion::figures::{Series, against_time};
use crate::motion::linkage::{Course, Linkage, angular_momentum, mass};
use crate::motion::playback::playback;
use carom_geometry::{Ellipsoid, MassProperties, Shape};
use carom_lie::So3;
use carom_report::record::{Quantity, Record};
use carom_world::joints::coordinates::{Actuator, CoordinateSpec, Rule, Table};
use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;
use std::f64::consts::TAU;

/// Number of frames in the animation.
const SHOWN: usize = 150;

/// Number of intervals of the tables that drive the joint.
const CORNERS: usize = 400;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    mass: Positive,
    half_length: Positive,
    radius: Positive,
    bend: Positive,
    turns: f64,
    proportional: Positive,
    derivative: Positive,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let steps = count_steps("duration", *config.duration, *config.time_step, 100_000)?;
    crate::motion::finite("turns", &[config.turns])?;
    let half = half(&config)?;
    // Samples at every grid time: the turn is computed again from the sampled path of the bend, so its resolution must be that of
    // the motion.
    let linkage = linkage(&config, &half, *config.time_step)?.watched(input.progress);
    let course = linkage.run(*config.duration, steps)?;
    let finer = self::linkage(&config, &half, 0.5 * *config.time_step)?.watched(input.progress);
    let finer = finer.run(*config.duration, 2 * steps)?;
    let turned = turn(&course);
    let again = continued(&connection(&config, &half, &course, 1));
    let last_of = |angles: &[f64]| angles.last().copied().unwrap_or_default();
    // Midpoint rule and time step are of order 2: both results are extrapolated from two step lengths.
    let quadrature = |course: &Course| {
        let of = |stride| last_of(&continued(&connection(&config, &half, course, stride)));
        extrapolated(of(2), of(1))
    };
    let last = extrapolated(last_of(&turned), last_of(&turn(&finer)));
    let again_last = extrapolated(quadrature(&course), quadrature(&finer));
    let worst = |states: &[carom_variational::State]| angular_momentum(states).norm();
    let momentum = course.frames.iter().map(|(_, states)| worst(states));
    let own = course
        .frames
        .iter()
        .map(|(_, states)| states[0].angular_momentum.norm());
    record.quantities = vec![
        Quantity::new("turn_deg", last.to_degrees(), "deg").independent(
            again_last.to_degrees(),
            "the condition of zero angular momentum alone, along the path of the bend; both extrapolated from two steps",
        ),
        Quantity::new("turn_error_deg", (last - again_last).to_degrees(), "deg"),
        Quantity::new("angular_momentum", momentum.fold(0.0, f64::max), "N m s")
            .note("the largest of the whole, zero at the start"),
        Quantity::new("angular_momentum_half", own.fold(0.0, f64::max), "N m s")
            .note("the largest of the front half about its own center"),
        Quantity::new("joint_residual_m", course.end.residual, "m"),
    ];
    let stride = course.frames.len().div_ceil(SHOWN).max(1);
    let count = course.frames.len();
    let shown: Vec<usize> = (0..count)
        .filter(|k| k % stride == 0 || k + 1 == count)
        .collect();
    let frames: Vec<_> = shown
        .iter()
        .filter_map(|k| course.frames.get(*k).cloned())
        .collect();
    let times: Vec<f64> = frames.iter().map(|(time, _)| *time).collect();
    let degrees = |list: &[f64]| {
        let values = shown.iter().filter_map(|k| list.get(*k));
        values.map(|x| x.to_degrees()).collect()
    };
    against_time(
        "cat/turn",
        &times,
        &[
            Series::new("motion", degrees(&turned)),
            Series::new("connection", degrees(&again)),
        ],
        &[],
    )
    .draw(&mut record)?;
    let bend = |k: usize| {
        let coordinates = shown.iter().filter_map(|i| course.coordinates.get(*i));
        coordinates.map(|(q, _)| q[k].to_degrees()).collect()
    };
    against_time(
        "cat/bend",
        &times,
        &[Series::new("up", bend(0)), Series::new("sideways", bend(1))],
        &[],
    )
    .draw(&mut record)?;
    playback(&linkage.spec, &frames, &[], &mut record);
    Ok(record)
}

/// Returns mass and inertia of one half of the cat, a solid ellipsoid along x.
fn half(config: &Config) -> Result<MassProperties, ScenarioError> {
    let (m, a, r) = (*config.mass, *config.half_length, *config.radius);
    let across = m * (a * a + r * r) / 5.0;
    mass(m, Vector3::new(0.4 * m * r * r, across, across))
}

fn linkage(
    config: &Config,
    half: &MassProperties,
    time_step: f64,
) -> Result<Linkage, ScenarioError> {
    let (a, r) = (*config.half_length, *config.radius);
    let mut linkage = Linkage::new(0.0, 0.0, time_step);
    let shape = Ellipsoid::new([a, r, r], Vector3::zeros())
        .map_err(|error| ScenarioError::value("half_length", error))?;
    let front = Some(Vector3::new(a, 0.0, 0.0));
    let front = linkage.body("front", Shape::Ellipsoid(shape), *half, front);
    let rear = linkage.body("rear", Shape::Ellipsoid(shape), *half, None);
    let drive = |wave: fn(f64) -> f64| -> Result<CoordinateSpec, ScenarioError> {
        let times: Vec<f64> = (0..=CORNERS)
            .map(|k| *config.duration * k as f64 / CORNERS as f64)
            .collect();
        let values = times
            .iter()
            .map(|t| target(config, *t) * wave(phase(config, *t)));
        let values = values.collect();
        let table = Table::new(times, values)
            .ok_or_else(|| ScenarioError::value("duration", "too short"))?;
        Ok(
            CoordinateSpec::default().with_actuator(Actuator::new(Rule::Pd {
                proportional: *config.proportional,
                derivative: *config.derivative,
                target: table,
            })),
        )
    };
    linkage.join(
        "waist",
        "universal",
        (Some(front), Vector3::new(-a, 0.0, 0.0)),
        (rear, Vector3::new(a, 0.0, 0.0)),
        vec![Vector3::y(), Vector3::z()],
        vec![drive(libm::cos)?, drive(libm::sin)?],
    )?;
    Ok(linkage)
}

/// Returns the angle (rad) by which the cat's two halves are bent against each other at the time `time` (s). The angle grows in
/// the first sixth of the run and decreases to 0 in the last sixth.
fn target(config: &Config, time: f64) -> f64 {
    let share = time / *config.duration;
    let rise = |x: f64| x * x * (3.0 - 2.0 * x);
    *config.bend * rise((6.0 * share).clamp(0.0, 1.0)) * rise((6.0 * (1.0 - share)).clamp(0.0, 1.0))
}

/// Returns the direction (rad) in which the cat bends at the time `time` (s). The direction rotates between the first and the
/// last sixth of the run.
fn phase(config: &Config, time: f64) -> f64 {
    let share = ((time / *config.duration - 1.0 / 6.0) * 1.5).clamp(0.0, 1.0);
    TAU * config.turns * share * share * (3.0 - 2.0 * share)
}

/// Returns the rotation angle (rad) of one half of the cat about its length, its x axis.
fn roll(rotation: &So3) -> f64 {
    let (w, v) = rotation.quaternion();
    2.0 * libm::atan2(v.x, w)
}

/// Returns the rotation angle (rad) of the cat's front half about its length in a recorded run, one value per frame. The
/// angles are continuous, without jumps by $2\pi$.
fn turn(course: &Course) -> Vec<f64> {
    let angles = course.frames.iter();
    let angles: Vec<f64> = angles
        .map(|(_, states)| roll(&states[0].rotation))
        .collect();
    continued(&angles)
}

/// Extrapolates a result to the step length zero, for an error that is proportional to the square of the step length. `coarse`
/// is the result for a step length, and `fine` the result for half of this step length.
fn extrapolated(coarse: f64, fine: f64) -> f64 {
    (4.0 * fine - coarse) / 3.0
}

/// Makes a sequence of angles (rad) continuous: adds multiples of $2\pi$, so that neighboring angles differ by at most $\pi$.
fn continued(angles: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::with_capacity(angles.len());
    for angle in angles {
        let last = out.last().copied().unwrap_or_default();
        out.push(angle - TAU * ((angle - last) / TAU).round());
    }
    out
}

/// Computes the rotation angle (rad) of the cat's front half along the recorded path of the bend from a single condition: zero
/// angular momentum. With the inertia $J$ of a half, the relative rotation $D$, the relative angular velocity $s$ in the front
/// half's axes, the joint positions $a_1$ and $a_2$ in both halves and the reduced mass $\mu$, the angular velocity $w$ of the
/// front half satisfies the equation below. `stride`: number of frames per integration step.
///
/// $$ J w + DJD^T(w + s) + \mu r\times(w\times r - s\times Da_2) = 0, \qquad r = a_1 - Da_2. $$
fn connection(config: &Config, half: &MassProperties, course: &Course, stride: usize) -> Vec<f64> {
    let (a, inertia) = (*config.half_length, half.inertia());
    let (first, second) = (Vector3::new(-a, 0.0, 0.0), Vector3::new(a, 0.0, 0.0));
    let shape =
        |q: &[f64]| So3::exp(&(Vector3::y() * q[0])).compose(&So3::exp(&(Vector3::z() * q[1])));
    let mut attitude = So3::identity();
    let mut out = vec![0.0];
    let looks = course.coordinates.iter().step_by(stride.max(1));
    let looks: Vec<&(Vec<f64>, Vec<f64>)> = looks.collect();
    for pair in looks.windows(2) {
        let [(before, _), (after, _)] = pair else {
            continue;
        };
        // Between two samples the relative rotation changes uniformly; at the middle the angles have their mean values.
        let mean: Vec<f64> = before
            .iter()
            .zip(after)
            .map(|(x, y)| 0.5 * (x + y))
            .collect();
        let middle = shape(&mean);
        let turn = So3::exp(&(Vector3::y() * mean[0]));
        let s = Vector3::y() * (after[0] - before[0])
            + turn.rotate(&Vector3::z()) * (after[1] - before[1]);
        let d = middle.matrix();
        let arm = d * second;
        let r = first - arm;
        let turned = d * inertia * d.transpose();
        let mu = 0.5 * half.mass();
        let cross = |v: &Vector3<f64>| v.cross_matrix();
        let locked: Matrix3<f64> = inertia + turned - cross(&r) * cross(&r) * mu;
        let given = turned * s - r.cross(&s.cross(&arm)) * mu;
        let Some(inverse) = locked.try_inverse() else {
            continue;
        };
        attitude = attitude.compose(&So3::exp(&-(inverse * given)));
        out.push(roll(&attitude));
    }
    out
}
