//! Samples of the set of outcomes, compared with proven bounds.

use super::system::FrictionalSystem;
use super::{box_and_wall, compass_gait, rocking_block};
use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Input};
use carom_impact::frictional::{
    BranchPolicy, CapDistribution, Sampler, SetValued, sampled_outcomes,
};
use carom_judge::bounds::{OuterBounds, Relaxation};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;
use std::f64::consts::TAU;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    samples: Count<1, 1_000_000>,
    seed: u64,
    directions: Count<3, 360>,
}

/// Default configurations of the scenarios whose systems appear in the figures.
const BLOCK: &str = include_str!("rocking-block.toml");
const COMPASS: &str = include_str!("compass-gait.toml");
const WALL: &str = include_str!("box-and-wall.toml");

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let block: rocking_block::Config =
        toml::from_str(BLOCK).map_err(|e| ScenarioError::value("rocking-block", e))?;
    let compass: compass_gait::Config =
        toml::from_str(COMPASS).map_err(|e| ScenarioError::value("compass-gait", e))?;
    let wall: box_and_wall::Config =
        toml::from_str(WALL).map_err(|e| ScenarioError::value("box-and-wall", e))?;
    let systems = [
        ("block", "Rocking block", block.system()?),
        ("compass", "Compass gait", compass.system()?),
        ("wall", "Box and wall", wall.system()?),
    ];
    let mut table = Table::new(
        "bounds",
        "Largest normal velocities after the impact of contacts A and B of the rocking block, the \
         compass gait and the box between floor and wall (system 0, 1, 2): of the samples, and \
         proven by Theorems 1 and 2.",
        ["system", "contact", "samples", "theorem_1", "theorem_2"]
            .map(|name| {
                Column::new(
                    name,
                    if name.len() > 7 || name == "samples" {
                        "m/s"
                    } else {
                        ""
                    },
                )
            })
            .to_vec(),
    );
    for (k, (name, title, system)) in systems.iter().enumerate() {
        let rows = show(&config, &mut record, name, title, system)?;
        for (contact, [inner, first, second]) in rows.into_iter().enumerate() {
            table
                .rows
                .push(vec![k as f64, contact as f64, inner, first, second]);
            record.quantities.push(Quantity::new(
                format!("{name}_{}_theorem_2_m_per_s", ["a", "b"][contact.min(1)]),
                second,
                "m/s",
            ));
        }
    }
    record.tables.push(table);
    Ok(record)
}

/// Draws sampled outcomes of an impact and the bounds of Theorems 1 and 2 in the plane of two normal velocities. Returns three
/// numbers (m/s) for each of these velocities: the largest sample, the upper bound of Theorem 1, and that of Theorem 2.
fn show(
    config: &Config,
    record: &mut Record,
    name: &str,
    title: &str,
    system: &FrictionalSystem,
) -> Result<[[f64; 3]; 2], ScenarioError> {
    let [a, b] = [0, 1].map(|i| system.contacts[i].normal.clone());
    let problem = &system.problem()?;
    let law = SetValued::default()
        .with_samples(*config.samples as u64)
        .with_seed(config.seed)
        .with_caps(CapDistribution::Mixed { off: 0.3 })
        .with_branch(BranchPolicy::RandomCovering { spread: 6.0 })
        .with_max_work(u64::MAX);
    let sampler = Sampler::new(problem, &law)?;
    let (_, outcomes) = sampled_outcomes(&sampler, &|_, _| {})?;
    let along = |row: &[f64], v: &[f64]| row.iter().zip(v).map(|(c, v)| c * v).sum::<f64>();
    let points: Vec<[f64; 2]> = outcomes
        .iter()
        .map(|o| [&a, &b].map(|row| along(row, o.velocity_plus.0.as_slice())))
        .collect();
    let bounds = OuterBounds::new(problem)?;
    let mut polygons = Vec::new();
    let mut largest = [[0.0; 3]; 2];
    for (t, relaxation) in [Relaxation::Cone, Relaxation::Moment]
        .into_iter()
        .enumerate()
    {
        let n = *config.directions;
        let mut sides = Vec::new();
        for k in 0..n {
            let (sin, cos) = libm::sincos(TAU * k as f64 / n as f64);
            let c: Vec<f64> = a.iter().zip(&b).map(|(a, b)| cos * a + sin * b).collect();
            sides.push((cos, sin, bounds.bound(&c, relaxation)?.outer[1]));
        }
        polygons.push(corners(&sides));
        for (row, largest) in [&a, &b].into_iter().zip(&mut largest) {
            largest[1 + t] = bounds.bound(row, relaxation)?.outer[1];
        }
    }
    for point in &points {
        for (x, largest) in point.iter().zip(&mut largest) {
            largest[0] = f64::max(largest[0], *x);
        }
    }
    let mut plot = Plot::new("impact-bounds/bounds")
        .fill("name", name)
        .fill("title", title);
    for (polygon, name) in polygons.into_iter().zip(["Theorem 1", "Theorem 2"]) {
        plot = plot.through(name, polygon);
    }
    plot.through("samples", points).draw(record)?;
    Ok(largest)
}

/// Returns the vertices of a polygon. `sides`: half planes $\cos\theta x + \sin\theta y \le b$ in order, as
/// $(\cos\theta, \sin\theta, b)$. The first vertex is repeated at the end.
fn corners(sides: &[(f64, f64, f64)]) -> Vec<[f64; 2]> {
    let mut polygon: Vec<[f64; 2]> = sides
        .iter()
        .zip(sides.iter().cycle().skip(1))
        .filter_map(|(p, q)| {
            let determinant = p.0 * q.1 - p.1 * q.0;
            (determinant.abs() > 1e-12).then(|| {
                [
                    (p.2 * q.1 - q.2 * p.1) / determinant,
                    (q.2 * p.0 - p.2 * q.0) / determinant,
                ]
            })
        })
        .collect();
    polygon.extend(polygon.first().copied());
    polygon
}
