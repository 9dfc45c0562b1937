//! A block rocks from edge to edge.

use crate::ScenarioError;
use crate::config::{Fraction, Input, Positive};
use crate::motion::figures::{Series, against_time, extent, with_dashes};
use crate::motion::playback::playback;
use crate::motion::scene::{GRAVITY, Scene, moreau};
use carom_geometry::{Cuboid, Shape};
use carom_lie::So3;
use carom_report::record::{Quantity, Record};
use nalgebra::Vector3;
use serde::Deserialize;

const FRAMES: usize = 400;

/// Landings that are compared.
const LANDINGS: usize = 3;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    half_width: Positive,
    half_depth: Positive,
    half_height: Positive,
    mass: Positive,
    friction: Positive,
    tilt: Fraction,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let (b, h) = (*config.half_width, *config.half_height);
    crate::config::count(
        "duration",
        (*config.duration / *config.time_step).ceil() as usize,
        0,
        1_000_000,
    )?;
    let (delta, radius) = (b.atan2(h), b.hypot(h));
    let tilt = delta * *config.tilt;
    let mut scene = Scene::new(*config.friction, 0.0, *config.time_step);
    let shape = Cuboid::new([b, *config.half_depth, h])
        .map_err(|error| ScenarioError::value("half_width", error))?;
    let block = scene.body(
        "block",
        Shape::Cuboid(shape),
        Some(*config.mass),
        Vector3::zeros(),
    )?;
    // It stands on its right edge, over the origin.
    block.configuration.rotation = So3::exp(&Vector3::new(0.0, tilt, 0.0));
    let arm = block
        .configuration
        .rotation
        .rotate(&Vector3::new(b, 0.0, -h));
    block.configuration.translation = -arm;
    scene.plane("floor", Vector3::z(), 0.0)?;
    let course = scene.run(&moreau, *config.duration, usize::MAX, FRAMES)?;
    let ratio = 1.0 - 1.5 * delta.sin().powi(2);
    let mut landing = Pendulum {
        radius,
        delta,
        angle: tilt,
        rate: 0.0,
        time: 0.0,
    };
    for (k, impact) in course.impacts.iter().take(LANDINGS).enumerate() {
        landing.land();
        let kept = (impact.energy_plus / impact.energy_minus).sqrt();
        record.quantities.extend([
            Quantity::new(format!("landing_{}_s", k + 1), impact.time, "s").note(format!(
                "{:.6} by Runge and Kutta on the inverted pendulum; a step has order 2",
                landing.time
            )),
            Quantity::new(format!("rate_kept_{}", k + 1), kept, "")
                .closed_form(ratio, "1 - 3/2 sin^2 delta (Housner 1963)"),
        ]);
        landing.rate *= -ratio;
    }
    record.quantities.extend([
        Quantity::new("landings", course.impacts.len() as f64, ""),
        Quantity::new(
            "energy_max_error_j",
            course.of_end(|end| end.balance.energy_error),
            "J",
        )
        .note("the energy with what landings took, against the start"),
    ]);
    let times = course.times();
    let angle = course.of_body(0, |state| {
        let (w, v) = state.rotation.quaternion();
        2.0 * v.y.atan2(w).to_degrees()
    });
    let hits: Vec<f64> = course.impacts.iter().map(|impact| impact.time).collect();
    let series = [Series::new("angle", angle)];
    let figure = against_time(
        [
            "angle",
            "Rocking",
            "The angle of the block; dotted where it lands on the other edge. Each landing keeps the same \
             fraction of the rate, and small swings are shorter.",
        ],
        ("angle", "deg"),
        &times,
        &series,
        &[],
    );
    record
        .figures
        .push(with_dashes(figure, &hits, extent(&series)));
    playback(&scene.spec, &course.frames, &hits, &mut record);
    Ok(record)
}

/// The block on one edge: $\ddot\theta = -\tfrac{3g}{4R}\sin(\delta - \theta)$.
struct Pendulum {
    radius: f64,
    delta: f64,
    angle: f64,
    rate: f64,
    time: f64,
}

impl Pendulum {
    /// Goes on to the landing; the rate is then that of the fall, negative.
    fn land(&mut self) {
        const DT: f64 = 1e-4;
        let pull = |x: f64| -0.75 * GRAVITY / self.radius * (self.delta - x).sin();
        let (mut x, mut u) = (self.angle, self.rate);
        for _ in 0..1_000_000 {
            let (a1, v1) = (pull(x), u);
            let (a2, v2) = (pull(x + 0.5 * DT * v1), u + 0.5 * DT * a1);
            let (a3, v3) = (pull(x + 0.5 * DT * v2), u + 0.5 * DT * a2);
            let (a4, v4) = (pull(x + DT * v3), u + DT * a3);
            let next = x + DT / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
            let rate = u + DT / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
            if next <= 0.0 && rate < 0.0 {
                // Back from beyond with the mean rate.
                let back = next / (rate - 0.5 * pull(0.0) * next / rate);
                self.time += DT - back;
                (self.angle, self.rate) = (0.0, rate - pull(0.0) * back);
                return;
            }
            (x, u) = (next, rate);
            self.time += DT;
        }
    }
}
