//! A ball slides with spin on a floor until it rolls.

use crate::ScenarioError;
use crate::config::{Input, NonNegative, Positive};
use crate::motion::figures::{Series, against_time};
use crate::motion::playback::playback;
use crate::motion::scene::{GRAVITY, Scene, moreau};
use carom_geometry::{Ellipsoid, Shape};
use carom_report::record::{Axis, Color, Figure, LineStyle, Mark, Quantity, Record};
use nalgebra::Vector3;
use serde::Deserialize;

const FRAMES: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    friction: NonNegative,
    radius: Positive,
    mass: Positive,
    velocity: [f64; 2],
    angular_velocity: [f64; 3],
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    crate::config::count(
        "duration",
        (*config.duration / *config.time_step).ceil() as usize,
        0,
        1_000_000,
    )?;
    let (r, mu) = (*config.radius, *config.friction);
    let v0 = Vector3::new(config.velocity[0], config.velocity[1], 0.0);
    let w0 = Vector3::from(config.angular_velocity);
    let mut scene = Scene::new(mu, 0.0, *config.time_step);
    let sphere = Ellipsoid::sphere(r, Vector3::zeros())
        .map_err(|error| ScenarioError::value("radius", error))?;
    let ball = scene.body(
        "ball",
        Shape::Ellipsoid(sphere),
        Some(*config.mass),
        Vector3::new(0.0, 0.0, r),
    )?;
    ball.velocity = v0;
    ball.angular_velocity = w0;
    scene.plane("floor", Vector3::z(), 0.0)?;
    let course = scene.run(&moreau, *config.duration, usize::MAX, FRAMES)?;
    let (mass, inertia) = (*config.mass, 0.4 * *config.mass * r * r);
    let slip = |state: &carom_variational::State| {
        let spin = state.rotation.rotate(&state.angular_momentum) / inertia;
        state.linear_momentum / mass + spin.cross(&Vector3::new(0.0, 0.0, -r))
    };
    let u0 = v0 + w0.cross(&Vector3::new(0.0, 0.0, -r));
    let u0 = Vector3::new(u0.x, u0.y, 0.0);
    let fall = 3.5 * mu * GRAVITY;
    let stop = u0.norm() / fall;
    let rolling = v0 * (5.0 / 7.0) + w0.cross(&Vector3::new(0.0, 0.0, r)) * (2.0 / 7.0);
    let push = u0.try_normalize(0.0).unwrap_or_default() * (-mu * GRAVITY);
    let path = |t: f64| {
        let s = t.min(stop);
        let slid = v0 * s + push * (0.5 * s * s);
        let left = if t > stop {
            rolling * (t - stop)
        } else {
            Vector3::zeros()
        };
        slid + left + Vector3::new(0.0, 0.0, r)
    };
    let error = course
        .frames
        .iter()
        .filter_map(|(t, states)| Some((states.first()?.position - path(*t)).amax()))
        .fold(0.0, f64::max);
    let rolls = course.modes.iter().find(|(_, slides)| !slides);
    if let Some((time, _)) = rolls {
        record.quantities.push(
            Quantity::new("rolling_from_s", *time, "s")
                .closed_form(stop, "2 |u| / (7 mu g), u the slip at the start"),
        );
    }
    if let (Some(last), true) = (course.last(0), stop <= *config.duration) {
        let v = last.linear_momentum / mass;
        let source = "5/7 v + 2/7 omega x r z: no torque about the floor";
        record.quantities.extend([
            Quantity::new("rolling_velocity_x", v.x, "m/s").closed_form(rolling.x, source),
            Quantity::new("rolling_velocity_y", v.y, "m/s").closed_form(rolling.y, source),
        ]);
    }
    record.quantities.extend([
        Quantity::new("path_error_m", error, "m").closed_form(0.0, "a parabola, then a line"),
        Quantity::new(
            "energy_max_error_j",
            course.of_end(|end| end.balance.energy_error),
            "J",
        )
        .note("the energy with what friction took, against the start"),
        Quantity::new(
            "friction_loss_j",
            course.of_end(|end| end.balance.contact_loss),
            "J",
        ),
    ]);
    let times = course.times();
    let measured = course.of_body(0, |state| slip(state).norm());
    let expected: Vec<f64> = times
        .iter()
        .map(|t| (u0.norm() - fall * t).max(0.0))
        .collect();
    let figure = against_time(
        [
            "slip",
            "Slip",
            "Slip of the ball at the floor. It falls at 7/2 of the friction per mass, whatever the spin: \
             friction slows the center and turns the ball.",
        ],
        ("slip", "m/s"),
        &times,
        &[Series::new("slip", measured)],
        &[],
    )
    .mark(Mark::Line {
        label: Some("7/2 mu g t".to_owned()),
        x: times.clone(),
        y: expected,
        style: LineStyle::Dashed,
        color: Color::Vermillion,
    });
    record.figures.push(figure);
    let (x, y) = (
        course.of_body(0, |s| s.position.x),
        course.of_body(0, |s| s.position.y),
    );
    let exact: Vec<Vector3<f64>> = times.iter().map(|t| path(*t)).collect();
    record.figures.push(
        Figure::new(
            "path",
            "Path",
            "The center from above: a parabola while the ball slides, then a straight line.",
            Axis::linear("x", "m"),
            Axis::linear("y", "m"),
        )
        .mark(Mark::line("center", x, y, Color::Blue))
        .mark(Mark::Line {
            label: Some("closed form".to_owned()),
            x: exact.iter().map(|p| p.x).collect(),
            y: exact.iter().map(|p| p.y).collect(),
            style: LineStyle::Dashed,
            color: Color::Vermillion,
        }),
    );
    playback(&scene.spec, &course.frames, &[], &mut record);
    Ok(record)
}
