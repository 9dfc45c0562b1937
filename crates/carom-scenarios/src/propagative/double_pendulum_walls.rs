//! A double pendulum between two walls.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::common::sensitivity;
use crate::config::{Fraction, Input, Positive};
use crate::propagative::mechanism_motion::motion;
use crate::propagative::mechanism_run::{AuditedRun, Start};
use crate::propagative::model::propagative;
use carom_mechanism::planar::{Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism};
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, MechanismError, Motion};
use carom_motion::generalized::ForceParameter;
use carom_report::animation::Outline;
use carom_report::record::{Color, Record};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    lengths: Positive<[f64; 2]>,
    masses: Positive<[f64; 2]>,
    gravity: f64,
    wall_distance: Positive,
    angles: [f64; 2],
    angular_velocities: [f64; 2],
    restitution: Fraction,
    duration: Positive,
    time_step: Positive,
    sensitivity: bool,
}

impl Config {
    /// Builds the double pendulum between two walls. Returns the mechanism with its upper and its lower link.
    /// `gravity`: acceleration of gravity (m/s²).
    fn mechanism(&self, gravity: f64) -> Result<(PlanarMechanism, [Link; 2]), MechanismError> {
        let mut builder = PlanarBuilder::new([0.0, -gravity]);
        // Angles are measured from straight down.
        let down = -std::f64::consts::FRAC_PI_2;
        let upper = builder.hinge(Link::GROUND, [0.0, 0.0], down);
        let lower = builder.hinge(upper, [self.lengths[0], 0.0], 0.0);
        let links = [upper, lower];
        for ((link, length), mass) in links.into_iter().zip(*self.lengths).zip(*self.masses) {
            builder.body(link, Inertia::rod(mass, [0.0, 0.0], [length, 0.0]));
            for (side, name) in [(-1.0, "left"), (1.0, "right")] {
                let wall = Line::new([side * *self.wall_distance, 0.0], [-side, 0.0])?;
                builder.contact(link, LineContact::point(name, [length, 0.0], wall));
            }
        }
        Ok((builder.build()?, links))
    }
}

/// Names of the coordinates of a state.
const STATE: [&str; 4] = ["angle_1", "angle_2", "rate_1", "rate_2"];

/// Computes the generalized force of gravity in the configuration `q` and writes it into `out`.
fn weight(mechanism: &PlanarMechanism, q: &[f64], out: &mut [f64]) {
    let mut dynamics = Dynamics::new(q.len());
    let at = Motion {
        time: 0.0,
        configuration: q,
        velocity: &vec![0.0; q.len()],
    };
    mechanism.dynamics(&at, Derivatives::First, &mut dynamics);
    for (out, gradient) in out.iter_mut().zip(&dynamics.potential_gradient) {
        *out = -gradient;
    }
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let law = propagative(*config.restitution)?;
    let (mechanism, links) = config.mechanism(config.gravity)?;
    // Gravity is the only force and its potential is linear in the acceleration of gravity.
    let (of_unit_gravity, _) = config.mechanism(1.0)?;
    let pull = |q: &[f64], out: &mut [f64]| weight(&of_unit_gravity, q, out);
    let parameters = [ForceParameter {
        name: "gravity",
        force: &pull,
    }];
    let start = Start {
        configuration: &config.angles,
        velocity: &config.angular_velocities,
        time_step: *config.time_step,
        duration: *config.duration,
        sensitivity: config.sensitivity.then_some(&parameters),
    };
    let run = AuditedRun::new(&mechanism, &law, &start)?;
    run.report(&mechanism, &mut record)?;
    let end = &run.trajectory.end.state;
    let last = json!({
        "time": end.time,
        "angles": end.configuration.as_slice(),
        "angular_velocities": run.velocity,
    });
    record.results.insert("final".to_owned(), last);
    if let Some(sensitivity) = &run.sensitivity {
        let value = sensitivity::value(&STATE, sensitivity);
        record.results.insert("sensitivity".to_owned(), value);
    }
    paths(&config, &mechanism, links, &run).draw(&mut record)?;
    let rods: Vec<(Link, f64)> = links.into_iter().zip(*config.lengths).collect();
    let mut played = motion(
        "The run",
        "Elbow and tip hit the walls.",
        &mechanism,
        &rods,
        &run,
    );
    let reach = config.lengths[0] + config.lengths[1];
    for x in [-*config.wall_distance, *config.wall_distance] {
        played = played.fixed(Outline::line(
            [[x, -1.1 * reach], [x, 0.1 * reach]],
            Color::Gray,
        ));
    }
    record.animations.push(played);
    Ok(record)
}

fn paths(config: &Config, mechanism: &PlanarMechanism, links: [Link; 2], run: &AuditedRun) -> Plot {
    let reach = config.lengths[0] + config.lengths[1];
    let mut plot = Plot::new("double-pendulum-walls/paths");
    for side in [-1.0, 1.0] {
        let wall = [side * *config.wall_distance; 2];
        plot = plot.with("wall", wall, [-1.1 * reach, 0.1 * reach]);
    }
    let end = |place: usize, q: &[f64]| {
        let point = mechanism.point(links[place], [config.lengths[place], 0.0], q);
        point.unwrap_or_default()
    };
    for (place, name) in ["elbow", "tip"].into_iter().enumerate() {
        plot = plot.through(name, run.snapshots(1000).map(|q| end(place, q)));
    }
    plot.through(
        "start",
        [[0.0; 2], end(0, &config.angles), end(1, &config.angles)],
    )
}
