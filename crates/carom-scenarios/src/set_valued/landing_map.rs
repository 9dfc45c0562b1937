//! A robot's trunk that lands on four feet: distance between the outcomes, as a function of pitch and roll.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Input, NonNegative, Positive};
use carom_contact::{Contact, ContactSet, ImpactProblem};
use carom_impact::frictional::{Sampler, SetValued, sampled_outcomes};
use carom_metric::{Covector, KineticMetric, Tangent};
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::{DMatrix, Matrix3, Vector3};
use rayon::prelude::*;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    angles: Count<2, 101>,
    largest_angle: Positive,
    samples: Count<2, 4096>,
    seed: u64,
    mass: Positive,
    inertia: Positive<[f64; 3]>,
    height: Positive,
    feet: Positive<[f64; 2]>,
    friction: NonNegative,
    velocity: [f64; 3],
}

/// Set of outcomes at one pitch and roll.
struct Landing {
    pitch: f64,
    roll: f64,
    /// Largest distance between two outcomes divided by the speed before the impact, in the kinetic norm.
    diameter: f64,
    /// Least and largest upward velocity of the center (m/s).
    upward: [f64; 2],
    terminated: f64,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let n = *config.angles;
    let angles = linspace(0.0, *config.largest_angle, n);
    let cell = |k: usize| {
        let (pitch, roll) = (angles.get(k / n), angles.get(k % n));
        let (pitch, roll) = (pitch.copied().unwrap_or(0.0), roll.copied().unwrap_or(0.0));
        landing(&config, pitch, roll, config.seed.wrapping_add(k as u64))
    };
    let landings: Result<Vec<Landing>, ScenarioError> =
        (0..n * n).into_par_iter().map(cell).collect();
    let landings = landings?;
    for (name, landing) in [("level", landings.first()), ("tilted", landings.last())] {
        let Some(landing) = landing else { continue };
        let extent = landing.upward[1] - landing.upward[0];
        record.quantities.extend([
            Quantity::new(format!("{name}_diameter"), landing.diameter, ""),
            Quantity::new(format!("{name}_upward_extent_m_per_s"), extent, "m/s"),
        ]);
    }
    let columns = "pitch [rad], roll [rad], diameter, least_upward_velocity [m/s], \
                   largest_upward_velocity [m/s], terminated";
    let caption = "Outcomes of landings: their diameter and the upward velocities of the center.";
    let mut table = Table::new("landings", caption, Column::list(columns));
    table.rows = landings
        .iter()
        .map(|l| {
            vec![
                l.pitch,
                l.roll,
                l.diameter,
                l.upward[0],
                l.upward[1],
                l.terminated,
            ]
        })
        .collect();
    record.tables.push(table);
    let map = |path: &str, value: fn(&Landing) -> f64| {
        // Pitch varies along x: a row of values for each roll.
        let row = |roll: usize| {
            let of_roll = (0..n).filter_map(|pitch| landings.get(pitch * n + roll));
            of_roll.map(value).collect()
        };
        Plot::new(path).heat(&angles, &angles, (0..n).map(row).collect())
    };
    map("landing-map/landing_diameter", |it| it.diameter).draw(&mut record)?;
    map("landing-map/landing_upward", |it| {
        it.upward[1] - it.upward[0]
    })
    .draw(&mut record)?;
    Ok(record)
}

fn landing(config: &Config, pitch: f64, roll: f64, seed: u64) -> Result<Landing, ScenarioError> {
    let (sp, cp) = libm::sincos(pitch);
    let (sr, cr) = libm::sincos(roll);
    // The trunk is rotated by the pitch about y, then by the roll about its own x axis.
    let rotation = Matrix3::new(cp, 0.0, sp, 0.0, 1.0, 0.0, -sp, 0.0, cp)
        * Matrix3::new(1.0, 0.0, 0.0, 0.0, cr, -sr, 0.0, sr, cr);
    let inertia =
        rotation * Matrix3::from_diagonal(&Vector3::from(*config.inertia)) * rotation.transpose();
    let mass = DMatrix::from_fn(6, 6, |i, j| match (i < 3, j < 3) {
        (true, true) if i == j => *config.mass,
        (false, false) => 0.5 * (inertia[(i - 3, j - 3)] + inertia[(j - 3, i - 3)]),
        _ => 0.0,
    });
    let metric = KineticMetric::new(mass)?;
    let center = rotation * Vector3::new(0.0, 0.0, *config.height);
    let [x, y] = *config.feet;
    let contact = |(sx, sy): (f64, f64)| {
        let arm = Vector3::new(sx * x, sy * y, 0.0) - center;
        let row = |direction: Vector3<f64>| {
            let turn = arm.cross(&direction);
            Covector::from_slice(&[direction.as_slice(), turn.as_slice()].concat())
        };
        Contact::new(row(Vector3::z()))
            .with_tangents(vec![row(Vector3::x()), row(Vector3::y())])
            .with_friction(*config.friction)
    };
    let feet = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(contact);
    let contacts = ContactSet::new(metric, feet.to_vec())?;
    let [vx, vy, vz] = config.velocity;
    let before = Tangent::from_slice(&[vx, vy, vz, 0.0, 0.0, 0.0]);
    let speed = (2.0 * contacts.metric().energy(&before)?).sqrt();
    let problem = ImpactProblem::new(&contacts, before)?;
    let law = SetValued::default()
        .with_samples(*config.samples as u64)
        .with_seed(seed)
        .with_max_work(u64::MAX);
    let (_, outcomes) = sampled_outcomes(&Sampler::new(&problem, &law)?, &|_, _| {})?;
    let mut points = Vec::with_capacity(outcomes.len());
    let mut upward = [f64::INFINITY, f64::NEG_INFINITY];
    for outcome in &outcomes {
        let up = outcome.velocity_plus.0.get(2).copied().unwrap_or_default();
        upward = [upward[0].min(up), upward[1].max(up)];
        points.push(contacts.metric().whiten_velocity(&outcome.velocity_plus)?);
    }
    let mut diameter = 0.0f64;
    for (i, a) in points.iter().enumerate() {
        for b in points.iter().skip(i + 1) {
            diameter = diameter.max((a - b).norm());
        }
    }
    Ok(Landing {
        pitch,
        roll,
        diameter: if speed > 0.0 { diameter / speed } else { 0.0 },
        upward,
        terminated: outcomes.len() as f64,
    })
}
