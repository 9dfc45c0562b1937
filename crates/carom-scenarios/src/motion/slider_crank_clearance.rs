//! A slider-crank whose slider has clearance in its guide: a larger clearance causes larger impacts.
//!
//! Flores, Leine & Glocker, *Modeling and analysis of planar rigid multibody systems with translational clearance joints
//! based on the non-smooth dynamics approach*, Multibody System Dynamics 23 (2010) 165: dimensions and masses.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Fraction, Input, Positive};
use crate::propagative::mechanism_run::{AuditedRun, Start};
use crate::propagative::played::Played;
use carom_impact::frictional::MoreauNewton;
use carom_mechanism::planar::{Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism};
use carom_motion::hybrid::Ending;
use carom_report::animation::{Animation, Outline};
use carom_report::record::{Color, Column, Quantity, Record, Table};
use serde::Deserialize;

/// Largest number of clearances in the table.
const MOST_CLEARANCES: usize = 100;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    gravity: Positive,
    rate: f64,
    lengths: [f64; 2],
    masses: [f64; 3],
    inertias: [f64; 3],
    half_size: [f64; 2],
    clearance: Positive,
    friction: f64,
    restitution: Fraction,
    clearances: Vec<f64>,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    check(&config)?;
    let mechanism = mechanism(&config, *config.clearance)?;
    let shown = simulate(&config, &mechanism)?;
    shown.report(&mechanism, &mut record)?;
    record.quantities.extend([
        Quantity::new(
            "contact_loss_j",
            shown.trajectory.end.balance.contact_loss,
            "J",
        ),
        Quantity::new("largest_impulse_ns", largest_impulse(&shown), "N s"),
        Quantity::new("play_used", play_used(&config, &shown), "")
            .note("largest height of a corner over the clearance: at most 1, as the guide allows"),
    ]);
    record.animations.push(played(&config, &shown));
    let table = by_clearance(&config)?;
    Plot::new("slider-crank-clearance/clearances")
        .of(&table)
        .draw(&mut record)?;
    record.tables.push(table);
    Ok(record)
}

fn check(config: &Config) -> Result<(), ScenarioError> {
    for (key, values) in [
        ("lengths", config.lengths.as_slice()),
        ("masses", &config.masses),
        ("inertias", &config.inertias),
        ("half_size", &config.half_size),
        ("clearances", &config.clearances),
    ] {
        crate::motion::positive(key, values)?;
    }
    crate::motion::finite("rate", &[config.rate])?;
    if config.lengths[1] <= config.lengths[0] {
        let message = "the rod must be longer than the crank, or the crank does not turn around";
        return Err(ScenarioError::value("lengths", message));
    }
    crate::config::count("clearances", config.clearances.len(), 1, MOST_CLEARANCES)?;
    Ok(())
}

/// Builds the slider crank with the given clearance (m) of the slider in its guide. At the start, crank and rod are aligned,
/// and the slider is in the middle of the guide.
fn mechanism(config: &Config, clearance: f64) -> Result<PlanarMechanism, ScenarioError> {
    let [crank_length, rod_length] = config.lengths;
    let [half_width, half_height] = config.half_size;
    let mut builder = PlanarBuilder::new([0.0, -*config.gravity]);
    let crank = builder.hinge(Link::GROUND, [0.0, 0.0], 0.0);
    let rod = builder.hinge(crank, [crank_length, 0.0], 0.0);
    let slider = builder.hinge(rod, [rod_length, 0.0], 0.0);
    let centers = [0.5 * crank_length, 0.5 * rod_length, 0.0];
    for ((link, center), (mass, inertia)) in [crank, rod, slider]
        .into_iter()
        .zip(centers)
        .zip(config.masses.into_iter().zip(config.inertias))
    {
        builder.body(link, Inertia::new(mass, [center, 0.0], inertia));
    }
    for (x, side) in [(-1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
        let guide = Line::new([0.0, -(half_height + clearance) * side], [0.0, side])?;
        let point = [x * half_width, -half_height * side];
        let mut corner = LineContact::point("corner", point, guide);
        (corner.friction, corner.restitution) = (config.friction, *config.restitution);
        builder.contact(slider, corner);
    }
    Ok(builder.build()?)
}

fn simulate(config: &Config, mechanism: &PlanarMechanism) -> Result<AuditedRun, ScenarioError> {
    // Initial rates with which the slider moves along its guide without rotation.
    let ratio = config.lengths[0] / config.lengths[1];
    let velocity = [1.0, -(1.0 + ratio), ratio].map(|share| share * config.rate);
    let start = Start {
        configuration: &[0.0; 3],
        velocity: &velocity,
        time_step: *config.time_step,
        duration: *config.duration,
        sensitivity: None,
    };
    AuditedRun::new(mechanism, &MoreauNewton::default(), &start)
}

/// Returns the largest normal impulse of a contact in all impacts of a run (N s).
fn largest_impulse(run: &AuditedRun) -> f64 {
    let impacts = run.trajectory.impacts();
    let all = impacts.flat_map(|impact| impact.outcome.impulses.iter().copied());
    all.fold(0.0, f64::max)
}

/// Returns the position x, y (m) and the angle (rad) of the slider. `q`: angles of the three hinges (rad), each relative to
/// the link before.
fn slider(config: &Config, q: &[f64]) -> [f64; 3] {
    let [crank, rod] = config.lengths;
    let (a, b) = (q[0], q[0] + q[1]);
    [
        crank * libm::cos(a) + rod * libm::cos(b),
        crank * libm::sin(a) + rod * libm::sin(b),
        b + q[2],
    ]
}

fn play_used(config: &Config, run: &AuditedRun) -> f64 {
    let [half_width, half_height] = config.half_size;
    let reach = |q: &[f64]| {
        let [_, y, angle] = slider(config, q);
        let turned = half_width * libm::sin(angle).abs() + half_height * libm::cos(angle);
        y.abs() + turned - half_height
    };
    let states = run.trajectory.states.iter();
    let most = states.map(|state| reach(state.configuration.as_slice()));
    most.fold(0.0, f64::max) / *config.clearance
}

fn by_clearance(config: &Config) -> Result<Table, ScenarioError> {
    let mut table = Table::new(
        "clearances",
        "Impacts and the largest normal impulse of a corner, by the clearance.",
        Column::list("clearance [m], impacts, largest_impulse [N s], energy_lost [J]"),
    );
    for clearance in &config.clearances {
        let run = simulate(config, &mechanism(config, *clearance)?)?;
        let end = &run.trajectory.end;
        if let Ending::Stopped(error) = &end.ending {
            let message = format!("{clearance} m: {error}");
            return Err(ScenarioError::value("clearances", message));
        }
        table.rows.push(vec![
            *clearance,
            end.n_impacts as f64,
            largest_impulse(&run),
            end.balance.impact_loss + end.balance.contact_loss,
        ]);
    }
    Ok(table)
}

fn played(config: &Config, run: &AuditedRun) -> Animation {
    let [crank, rod] = config.lengths;
    let [w, h] = config.half_size;
    let wall = h + *config.clearance;
    let (left, right) = (rod - crank - 2.0 * w, rod + crank + 2.0 * w);
    let played = Played::new(&run.trajectory);
    let corners = [[-w, -h], [w, -h], [w, h], [-w, h]];
    let animation = played.animation(
        "motion",
        "A slider-crank with clearance",
        "The slider rattles between the sides of its guide.",
    );
    [-wall, wall]
        .into_iter()
        .fold(animation, |animation, y| {
            animation.fixed(Outline::line([[left, y], [right, y]], Color::Gray))
        })
        .body(played.body(
            vec![Outline::line([[0.0, 0.0], [crank, 0.0]], Color::Vermillion)],
            |q| [0.0, 0.0, q[0]],
        ))
        .body(played.body(
            vec![Outline::line([[0.0, 0.0], [rod, 0.0]], Color::Green)],
            |q| {
                [
                    crank * libm::cos(q[0]),
                    crank * libm::sin(q[0]),
                    q[0] + q[1],
                ]
            },
        ))
        .body(
            played.body(vec![Outline::polygon(corners, Color::Blue)], |q| {
                slider(config, q)
            }),
        )
}
