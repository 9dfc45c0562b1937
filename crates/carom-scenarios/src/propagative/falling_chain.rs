//! A chain of rods falls on a floor.

use crate::config::{count, finite, positive};
use crate::propagative::mechanism_motion::motion;
use crate::propagative::mechanism_run::{AuditedRun, Start};
use crate::propagative::model::propagative;
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_mechanism::MechanismError;
use carom_mechanism::planar::{Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism};
use carom_report::animation::Outline;
use carom_report::record::{Axis, Color, Figure, LineStyle, Mark, Record};
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "falling-chain",
    "a chain of rods falls on a floor",
    "Seghete & Murphey",
    "Sec. VI, an example: many contacts of one mechanism, with its energy audited",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    rods: usize,
    rod_length: f64,
    rod_mass: f64,
    gravity: f64,
    height: f64,
    slope_deg: f64,
    bend_deg: f64,
    restitution: f64,
    duration: f64,
    time_step: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            rods: 5,
            rod_length: 0.2,
            rod_mass: 0.1,
            gravity: 9.81,
            height: 0.2,
            slope_deg: 50.0,
            bend_deg: -15.0,
            restitution: 0.0,
            duration: 1.5,
            time_step: 5e-4,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
rods = 5               # at most 40
rod_length = 0.2       # m
rod_mass = 0.1         # kg
gravity = 9.81         # m/s^2, downwards
height = 0.2           # m, of the first end above the floor
slope_deg = 50.0       # of the first rod
bend_deg = -15.0       # from each rod to the next
restitution = 0.0      # energetic, of every event
duration = 1.5         # s
time_step = 5e-4       # s
";
}

impl Config {
    /// The chain with the links of its rods; every joint and both ends may hit the floor.
    fn mechanism(&self) -> Result<(PlanarMechanism, Vec<Link>), MechanismError> {
        let mut builder = PlanarBuilder::new([0.0, -self.gravity]);
        let mut links = vec![builder.floating()];
        let end = [self.rod_length, 0.0];
        for _ in 1..self.rods {
            let last = links.last().copied().unwrap_or(Link::GROUND);
            links.push(builder.hinge(last, end, 0.0));
        }
        for (i, &link) in links.iter().enumerate() {
            builder.body(link, Inertia::rod(self.rod_mass, [0.0, 0.0], end));
            if i == 0 {
                let start = LineContact::point("start", [0.0, 0.0], Line::floor());
                builder.contact(link, start);
            }
            let joint = LineContact::point(format!("joint {}", i + 1), end, Line::floor());
            builder.contact(link, joint);
        }
        Ok((builder.build()?, links))
    }
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    count("rods", config.rods, 1, 40)?;
    positive("rod_length", &[config.rod_length])?;
    positive("rod_mass", &[config.rod_mass])?;
    positive("height", &[config.height])?;
    positive("time_step", &[config.time_step])?;
    positive("duration", &[config.duration])?;
    finite("gravity", &[config.gravity])?;
    finite("slope_deg", &[config.slope_deg])?;
    finite("bend_deg", &[config.bend_deg])?;
    let law = propagative(config.restitution)?;
    let (mechanism, links) = config.mechanism()?;
    let mut configuration = vec![config.bend_deg.to_radians(); config.rods + 2];
    configuration[..3].copy_from_slice(&[0.0, config.height, config.slope_deg.to_radians()]);
    let start = Start {
        configuration: &configuration,
        velocity: &vec![0.0; configuration.len()],
        time_step: config.time_step,
        duration: config.duration,
    };
    let run = AuditedRun::new(&mechanism, &law, &start)?;
    run.report(&mechanism, &mut record);
    record
        .figures
        .push(shapes(&config, &mechanism, &links, &run));
    let rods: Vec<(Link, f64)> = links.iter().map(|l| (*l, config.rod_length)).collect();
    let reach = config.rods as f64 * config.rod_length;
    let floor = Outline::line([[-0.2 * reach, 0.0], [1.2 * reach, 0.0]], Color::Gray);
    let played = motion(
        "The run",
        "Joints and ends hit the floor.",
        &mechanism,
        &rods,
        &run,
    );
    record.animations.push(played.fixed(floor));
    Ok(record)
}

fn shapes(
    config: &Config,
    mechanism: &PlanarMechanism,
    links: &[Link],
    run: &AuditedRun,
) -> Figure {
    let mut figure = Figure::new(
        "shapes",
        "A chain falls on a floor",
        "The chain from the start (black) through evenly spaced times to the end (red).",
        Axis::linear("x", "m"),
        Axis::linear("y", "m"),
    )
    .equal_aspect();
    let reach = config.rods as f64 * config.rod_length;
    figure.marks.push(Mark::Line {
        label: None,
        x: vec![-0.2 * reach, 1.2 * reach],
        y: vec![0.0, 0.0],
        style: LineStyle::Solid,
        color: Color::Gray,
    });
    let shapes: Vec<&[f64]> = run.snapshots(10).collect();
    for (k, q) in shapes.iter().enumerate() {
        let (mut x, mut y) = (vec![q[0]], vec![q[1]]);
        for &link in links {
            let [end_x, end_y] = mechanism
                .point(link, [config.rod_length, 0.0], q)
                .unwrap_or_default();
            x.push(end_x);
            y.push(end_y);
        }
        let (color, style) = match k {
            0 => (Color::Black, LineStyle::Solid),
            k if k + 1 == shapes.len() => (Color::Vermillion, LineStyle::Solid),
            _ => (Color::Sky, LineStyle::Solid),
        };
        figure.marks.push(Mark::Line {
            label: None,
            x,
            y,
            style,
            color,
        });
    }
    figure
}
