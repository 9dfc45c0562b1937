//! A hundred pennies with nearly equal initial states.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, Positive, count};
use crate::nonholonomic::penny_model::{
    InitialConfig, Law, PennyConfig, TableConfig, drawing, named, whole,
};
use carom_motion::billiard::ensemble::perturbation;
use carom_motion::hybrid::Limits;

use carom_motion::billiard::penny::{PennyBilliard, PennyState};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    starts: Count<1, 10_000>,
    amplitude: Positive,
    times: Positive<Vec<f64>>,
    seed: u64,
    law: Law,
    restitution: Fraction,
    penny: PennyConfig,
    table: TableConfig,
    initial: InitialConfig,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    count("times", config.times.len(), 1, 100)?;
    if !config.times.is_sorted() {
        return Err(ScenarioError::value("times", "must ascend"));
    }
    let (clouds, impacts) = clouds(&config)?;
    record
        .quantities
        .push(Quantity::new("impacts", impacts as f64, "").note("of all starts together"));
    let [mut summary, mut members] = tables();
    for (cloud, &time) in clouds.iter().zip(config.times.iter()) {
        let x: Vec<f64> = cloud.iter().map(|s| s.x).collect();
        let y: Vec<f64> = cloud.iter().map(|s| s.y).collect();
        let ((mean_x, std_x), (mean_y, std_y)) = (moments(&x), moments(&y));
        let distance = largest_distance(&x, &y);
        summary
            .rows
            .push(vec![time, mean_x, mean_y, std_x, std_y, distance]);
        let row = |(i, s): (usize, &PennyState)| {
            let rates = [s.theta_dot, s.phi_dot];
            [time, i as f64, s.x, s.y, s.phi, rates[0], rates[1]].to_vec()
        };
        members.rows.extend(cloud.iter().enumerate().map(row));
        drawing(&config.table, "penny-cloud/cloud")
            .fill("key", time.to_string().replace('.', "_"))
            .fill("starts", *config.starts)
            .fill("time", time)
            .fill("amplitude", *config.amplitude)
            .with("centers", x, y)
            .draw(&mut record)?;
    }
    if *config.starts > 1 {
        Plot::new("penny-cloud/spread")
            .of(&summary)
            .draw(&mut record)?;
    }
    record.tables.push(summary);
    record.tables.push(members);
    Ok(record)
}

/// Simulates many pennies with slightly different initial velocities. Returns the states of all pennies for each of the
/// configured times, and the total number of impacts.
fn clouds(config: &Config) -> Result<(Vec<Vec<PennyState>>, usize), ScenarioError> {
    let penny = config.penny.build()?;
    let start = config.initial.build()?;
    let restitution = config.law.restitution(*config.restitution)?;
    let billiard = PennyBilliard::new(penny, config.table.build()?, restitution).map_err(named)?;
    let last = config.times.last().copied().unwrap_or_default();
    let mut clouds = vec![Vec::new(); config.times.len()];
    let mut impacts = 0;
    for index in 0..*config.starts as u64 {
        let [theta_dot, phi_dot] = perturbation(config.seed, index, *config.amplitude);
        let start = PennyState {
            theta_dot: start.theta_dot + theta_dot,
            phi_dot: start.phi_dot + phi_dot,
            ..start
        };
        let run = whole(billiard.run(start, Limits::duration(last)))?;
        impacts += run.events.len();
        for (cloud, time) in clouds.iter_mut().zip(config.times.iter()) {
            cloud.push(run.state_at(&penny, *time));
        }
    }
    Ok((clouds, impacts))
}

/// Creates two tables without rows: one for the spread of the cloud of pennies at each time, and one for the states of its
/// members.
fn tables() -> [Table; 2] {
    [
        Table::new(
            "spread",
            "Mean and standard deviation of the cloud, and the largest distance of two of its members.",
            Column::list(
                "time [s], mean_x [m], mean_y [m], std_x [m], std_y [m], \
                 largest_distance [m]",
            ),
        ),
        Table::new(
            "cloud",
            "Every member at every time.",
            Column::list(
                "time [s], start, x [m], y [m], phi [rad], theta_dot [rad/s], \
                 phi_dot [rad/s]",
            ),
        ),
    ]
}

/// Returns the mean and the population standard deviation of a list of values.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

fn largest_distance(x: &[f64], y: &[f64]) -> f64 {
    let mut largest: f64 = 0.0;
    for i in 0..x.len() {
        for j in 0..i {
            largest = largest.max(libm::hypot(x[i] - x[j], y[i] - y[j]));
        }
    }
    largest
}
