//! A ball slides with spin on a floor until it rolls.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Input, NonNegative, Positive};
use crate::motion::count_steps;
use crate::motion::figures::{Series, against_time};
use crate::motion::playback::playback;
use crate::motion::scene::{Course, GRAVITY, Scene, moreau};
use carom_geometry::{Ellipsoid, Shape};
use carom_report::record::{Quantity, Record};
use carom_variational::State;
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
    count_steps("duration", *config.duration, *config.time_step, 1_000_000)?;
    let exact = ClosedForm::new(&config);
    let scene = scene(&config, &exact)?.watched(input.progress);
    let course = scene.run(&moreau, *config.duration, usize::MAX, FRAMES)?;
    record.quantities = quantities(&config, &exact, &course);
    slip_figure(&config, &exact, &course).draw(&mut record)?;
    path_figure(&exact, &course).draw(&mut record)?;
    playback(&scene.spec, &course.frames, &[], &mut record);
    Ok(record)
}

/// Builds the scene of a ball that starts to slide on the floor. `start`: closed-form solution, which contains the initial
/// velocities.
fn scene(config: &Config, start: &ClosedForm) -> Result<Scene, ScenarioError> {
    let mut scene = Scene::new(*config.friction, 0.0, *config.time_step);
    let sphere = Ellipsoid::sphere(start.radius, Vector3::zeros())
        .map_err(|error| ScenarioError::value("radius", error))?;
    let ball = scene.body(
        "ball",
        Shape::Ellipsoid(sphere),
        Some(*config.mass),
        Vector3::new(0.0, 0.0, start.radius),
    )?;
    ball.velocity = start.velocity;
    ball.angular_velocity = start.spin;
    scene.plane("floor", Vector3::z(), 0.0)?;
    Ok(scene)
}

/// Closed-form solution: sliding, then rolling. Coulomb friction is constant until the slip velocity vanishes.
struct ClosedForm {
    radius: f64,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    /// Horizontal slip velocity at the start (m/s).
    slip: Vector3<f64>,
    /// Acceleration of the center while the ball slides (m/s²).
    push: Vector3<f64>,
    /// Deceleration of the slip velocity (m/s²).
    fall: f64,
    /// Time at which rolling begins (s).
    stop: f64,
    /// Velocity of the rolling ball (m/s).
    rolling: Vector3<f64>,
}

impl ClosedForm {
    fn new(config: &Config) -> Self {
        let (r, mu) = (*config.radius, *config.friction);
        let velocity = Vector3::new(config.velocity[0], config.velocity[1], 0.0);
        let spin = Vector3::from(config.angular_velocity);
        let slip = velocity + spin.cross(&Vector3::new(0.0, 0.0, -r));
        let slip = Vector3::new(slip.x, slip.y, 0.0);
        let fall = 3.5 * mu * GRAVITY;
        let turned = spin.cross(&Vector3::new(0.0, 0.0, r));
        Self {
            radius: r,
            velocity,
            spin,
            slip,
            push: slip.try_normalize(0.0).unwrap_or_default() * (-mu * GRAVITY),
            fall,
            stop: slip.norm() / fall,
            rolling: velocity * (5.0 / 7.0) + turned * (2.0 / 7.0),
        }
    }

    /// Returns the position of the ball's center at the time `time` (s) according to the closed-form solution (m).
    fn path(&self, time: f64) -> Vector3<f64> {
        let s = time.min(self.stop);
        let slid = self.velocity * s + self.push * (0.5 * s * s);
        let left = if time > self.stop {
            self.rolling * (time - self.stop)
        } else {
            Vector3::zeros()
        };
        slid + left + Vector3::new(0.0, 0.0, self.radius)
    }
}

fn quantities(config: &Config, exact: &ClosedForm, course: &Course) -> Vec<Quantity> {
    let mut quantities = Vec::new();
    if let Some((time, _)) = course.modes.iter().find(|(_, slides)| !slides) {
        quantities.push(
            Quantity::new("rolling_from_s", *time, "s")
                .closed_form(exact.stop, "2 |u| / (7 mu g), u the slip at the start"),
        );
    }
    if let (Some(last), true) = (course.last(0), exact.stop <= *config.duration) {
        let v = last.linear_momentum / *config.mass;
        let source = "5/7 v + 2/7 omega x r z: no torque about the floor";
        quantities.extend([
            Quantity::new("rolling_velocity_x", v.x, "m/s").closed_form(exact.rolling.x, source),
            Quantity::new("rolling_velocity_y", v.y, "m/s").closed_form(exact.rolling.y, source),
        ]);
    }
    let frames = course.frames.iter();
    let errors =
        frames.filter_map(|(t, states)| Some((states.first()?.position - exact.path(*t)).amax()));
    let error = errors.fold(0.0, f64::max);
    let energy_error = course.of_end(|end| end.balance.energy_error);
    let loss = course.of_end(|end| end.balance.contact_loss);
    quantities.extend([
        Quantity::new("path_error_m", error, "m").closed_form(0.0, "a parabola, then a line"),
        Quantity::new("energy_max_error_j", energy_error, "J")
            .note("the energy with what friction took, against the start"),
        Quantity::new("friction_loss_j", loss, "J"),
    ]);
    quantities
}

fn slip_figure(config: &Config, exact: &ClosedForm, course: &Course) -> Plot {
    let (mass, r) = (*config.mass, exact.radius);
    let inertia = 0.4 * mass * r * r;
    let slip = |state: &State| {
        let spin = state.rotation.rotate(&state.angular_momentum) / inertia;
        state.linear_momentum / mass + spin.cross(&Vector3::new(0.0, 0.0, -r))
    };
    let times = course.times();
    let measured = course.of_body(0, |state| slip(state).norm());
    let falling = times.iter();
    let falling = falling.map(|t| (exact.slip.norm() - exact.fall * t).max(0.0));
    let falling: Vec<f64> = falling.collect();
    against_time(
        "sliding-ball/slip",
        &times,
        &[Series::new("slip", measured)],
        &[],
    )
    .with("7/2 mu g t", times.iter().copied(), falling)
}

fn path_figure(exact: &ClosedForm, course: &Course) -> Plot {
    let x = course.of_body(0, |s| s.position.x);
    let y = course.of_body(0, |s| s.position.y);
    let times = course.times();
    let path = times.iter().map(|t| exact.path(*t));
    Plot::new("sliding-ball/path")
        .with("center", x, y)
        .through("closed form", path.map(|p| [p.x, p.y]))
}
