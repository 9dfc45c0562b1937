//! A chain of rods that falls on a floor.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, Positive};
use crate::propagative::mechanism_motion::motion;
use crate::propagative::mechanism_run::{AuditedRun, Start};
use crate::propagative::model::propagative;
use carom_mechanism::MechanismError;
use carom_mechanism::planar::{Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism};
use carom_report::animation::Outline;
use carom_report::record::{Color, Record};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    rods: Count<1, 40>,
    rod_length: Positive,
    rod_mass: Positive,
    gravity: f64,
    height: Positive,
    slope_deg: f64,
    bend_deg: f64,
    restitution: Fraction,
    duration: Positive,
    time_step: Positive,
}

impl Config {
    /// Builds the falling chain and returns it with the links of its rods. Every joint and both ends of the chain can hit the
    /// floor.
    fn mechanism(&self) -> Result<(PlanarMechanism, Vec<Link>), MechanismError> {
        let mut builder = PlanarBuilder::new([0.0, -self.gravity]);
        let mut links = vec![builder.floating()];
        let end = [*self.rod_length, 0.0];
        for _ in 1..*self.rods {
            let last = links.last().copied().unwrap_or(Link::GROUND);
            links.push(builder.hinge(last, end, 0.0));
        }
        for (i, &link) in links.iter().enumerate() {
            builder.body(link, Inertia::rod(*self.rod_mass, [0.0, 0.0], end));
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

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let law = propagative(*config.restitution)?;
    let (mechanism, links) = config.mechanism()?;
    let mut configuration = vec![config.bend_deg.to_radians(); *config.rods + 2];
    configuration[..3].copy_from_slice(&[0.0, *config.height, config.slope_deg.to_radians()]);
    let start = Start {
        configuration: &configuration,
        velocity: &vec![0.0; configuration.len()],
        time_step: *config.time_step,
        duration: *config.duration,
        sensitivity: None,
    };
    let run = AuditedRun::new(&mechanism, &law, &start)?;
    run.report(&mechanism, &mut record)?;
    shapes(&config, &mechanism, &links, &run).draw(&mut record)?;
    let rods: Vec<(Link, f64)> = links.iter().map(|l| (*l, *config.rod_length)).collect();
    let reach = *config.rods as f64 * *config.rod_length;
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

fn shapes(config: &Config, mechanism: &PlanarMechanism, links: &[Link], run: &AuditedRun) -> Plot {
    let reach = *config.rods as f64 * *config.rod_length;
    let floor = [[-0.2 * reach, 0.0], [1.2 * reach, 0.0]];
    let mut plot = Plot::new("falling-chain/shapes").through("floor", floor);
    let shapes: Vec<&[f64]> = run.snapshots(10).collect();
    for (k, q) in shapes.iter().enumerate() {
        let ends = links.iter().map(|&link| {
            let end = mechanism.point(link, [*config.rod_length, 0.0], q);
            end.unwrap_or_default()
        });
        let look = match k {
            0 => "start",
            k if k + 1 == shapes.len() => "end",
            _ => "between",
        };
        plot = plot.through(look, std::iter::once([q[0], q[1]]).chain(ends));
    }
    plot
}
