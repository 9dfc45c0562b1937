//! A spatial double pendulum swings against a wall.

use crate::ScenarioError;
use crate::config::{Fraction, Input, Positive};
use crate::motion::count_steps;
use crate::motion::figures::{Series, against_time};
use crate::motion::linkage::{Course, Linkage, angular_momentum};
use crate::motion::playback::playback;
use crate::motion::scene::GRAVITY;
use carom_geometry::{Ellipsoid, Shape};
use carom_lie::So3;
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::Vector3;
use serde::Deserialize;

const FRAMES: usize = 150;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    duration: Positive,
    time_step: Positive,
    masses: [f64; 2],
    half_lengths: [f64; 2],
    radius: Positive,
    tilts: [f64; 2],
    wall: Positive,
    restitution: Fraction,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    count_steps("duration", *config.duration, *config.time_step, 100_000)?;
    crate::motion::positive("masses", &config.masses)?;
    crate::motion::positive("half_lengths", &config.half_lengths)?;
    crate::motion::finite("tilts", &config.tilts)?;
    let linkage = linkage(&config)?.watched(input.progress);
    let course = linkage.run(*config.duration, FRAMES)?;
    record.quantities = quantities(&course);
    record.tables.push(impacts(&config, &course));
    let times = course.times();
    let height = |k: usize| course.frames.iter().map(|(_, s)| s[k].position.z).collect();
    against_time(
        "space-pendulum/heights",
        &times,
        &[
            Series::new("upper", height(0)),
            Series::new("lower", height(1)),
        ],
        &[],
    )
    .draw(&mut record)?;
    against_time(
        "space-pendulum/energy",
        &times,
        &[Series::new("total", course.energies.clone())],
        &[],
    )
    .draw(&mut record)?;
    playback(&linkage.spec, &course.frames, &course.hits(), &mut record);
    Ok(record)
}

/// Builds the space pendulum: two slender ellipsoids on spherical joints. The first hangs from the origin, the second from the
/// lower end of the first.
fn linkage(config: &Config) -> Result<Linkage, ScenarioError> {
    let mut linkage = Linkage::new(GRAVITY, *config.restitution, *config.time_step);
    let mut end = (None, Vector3::zeros());
    for (k, name) in ["upper", "lower"].into_iter().enumerate() {
        let (a, r) = (config.half_lengths[k], *config.radius);
        let shape = Ellipsoid::new([r, r, a], Vector3::zeros())
            .map_err(|error| ScenarioError::value("half_lengths", error))?;
        let shape = Shape::Ellipsoid(shape);
        let mass = shape
            .mass_properties(config.masses[k])
            .map_err(|error| ScenarioError::value("masses", error))?;
        let body = linkage.body(name, shape, mass, None);
        let top = Vector3::new(0.0, 0.0, a);
        linkage.join(name, "spherical", end, (body, top), Vec::new(), Vec::new())?;
        end = (Some(body), -top);
    }
    // At the start the upper rod leans away from the wall, the lower one is inclined parallel to the wall.
    linkage.turn(0, So3::exp(&(Vector3::y() * config.tilts[0])));
    linkage.turn(1, So3::exp(&(Vector3::x() * config.tilts[1])));
    linkage.plane("wall", -Vector3::x(), *config.wall, &[0, 1])?;
    Ok(linkage)
}

fn quantities(course: &Course) -> Vec<Quantity> {
    let given: f64 = course
        .impacts
        .iter()
        .flat_map(|impact| &impact.touches)
        .map(|hit| hit.point.cross(&hit.impulse).z)
        .sum();
    let of = |frame: Option<&(f64, Vec<carom_variational::State>)>| {
        frame.map_or(0.0, |(_, states)| angular_momentum(states).z)
    };
    let change = of(course.frames.last()) - of(course.frames.first());
    let last = course.energies.last().copied().unwrap_or_default();
    vec![
        Quantity::new("impacts", course.impacts.len() as f64, ""),
        Quantity::new("first_impact_s", course.impacts.first().map_or(f64::NAN, |i| i.time), "s"),
        Quantity::new("energy_initial_j", course.initial, "J"),
        Quantity::new("energy_final_j", last, "J"),
        Quantity::new("impact_loss_j", course.end.impact_loss, "J"),
        Quantity::new("energy_max_error_j", course.end.energy_error, "J"),
        Quantity::new("vertical_momentum_change", change, "N m s").independent(
            given,
            "moments of the wall's impulses: neither gravity nor the pivot turns about the vertical",
        ),
        Quantity::new("vertical_momentum_error", change - given, "N m s"),
        Quantity::new("joint_residual_m", course.end.residual, "m"),
    ]
}

/// Builds the table of impacts. The energy loss of each impact is compared with $\tfrac12(1-e)\lvert u_nP_n\rvert$, where $e$
/// is the restitution, $u_n$ the normal velocity before the impact and $P_n$ the normal impulse.
fn impacts(config: &Config, course: &Course) -> Table {
    let mut table = Table::new(
        "impacts",
        "Impacts at the wall: impulse, and the loss beside that of Newton's law, the impulse times the mean normal velocity.",
        Column::list("time [s], impulse [N s], loss [J], by the law [J]"),
    );
    for impact in &course.impacts {
        let by_law = |t: &carom_world::ImpactContact| {
            -0.5 * (1.0 - *config.restitution) * t.normal_velocity * t.impulse.norm()
        };
        let impulse: f64 = impact.touches.iter().map(|t| t.impulse.norm()).sum();
        let loss = impact.energy_minus - impact.energy_plus;
        let law: f64 = impact.touches.iter().map(by_law).sum();
        table.rows.push(vec![impact.time, impulse, loss, law]);
    }
    table
}
