//! A point in an orthogonal corner: Seghete & Murphey, Theorem 2.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Input, count};
use crate::propagative::model::{System, diagnostics, propagative, row};
use crate::propagative::outcomes;
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    momentum: Vec<f64>,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let n = config.momentum.len();
    count("momentum", n, 1, 8)?;
    let normals = (0..n).map(|i| row(n, &[(i, 1.0)])).collect();
    let system = System::diagonal(&vec![1.0; n], normals)?;
    let set = system.resolve_all(&config.momentum, &propagative(1.0)?)?;
    let sequences: u64 = set
        .outcomes
        .iter()
        .map(|o| diagnostics(o).n_sequences)
        .sum();
    let approaching = config.momentum.iter().filter(|p| **p < 0.0).count();
    let factorial = (1..=approaching as u64).product::<u64>() as f64;
    let [outcomes, indeterminacy] = outcomes::spread(&set);
    record.quantities.extend([
        outcomes.closed_form(1.0, "Theorem 2"),
        Quantity::new("sequences", sequences as f64, "")
            .closed_form(factorial, "Theorem 2: n! orders"),
        indeterminacy.closed_form(0.0, "Theorem 2"),
    ]);
    let mut table = Table::new(
        "momentum",
        "Momentum before and after.",
        Column::list("minus [kg m/s], plus [kg m/s]"),
    );
    if let Some(outcome) = set.outcomes.first() {
        let pairs = config.momentum.iter().zip(outcome.velocity_plus.0.iter());
        table
            .rows
            .extend(pairs.map(|(minus, plus)| vec![*minus, *plus]));
    }
    record.tables.push(table);
    orders(&system, &config.momentum)?.draw(&mut record)?;
    Ok(record)
}

/// Draws the impacts in both orders in the plane of the first two momenta. Both orders end at one point. `momentum`: momenta
/// before the impact (kg m/s).
fn orders(system: &System, momentum: &[f64]) -> Result<Plot, ScenarioError> {
    let mut plot = Plot::new("orthogonal-corner/orders");
    let approaching: Vec<usize> = (0..momentum.len())
        .filter(|i| momentum.get(*i).is_some_and(|p| *p < 0.0))
        .collect();
    let backwards = approaching.iter().rev().copied().collect();
    for (name, order) in [
        ("first contact first", approaching),
        ("last contact first", backwards),
    ] {
        let path = system.chain(momentum, &order)?;
        let at = |p: &Vec<f64>, i: usize| p.get(i).copied().unwrap_or(0.0);
        let places: Vec<[f64; 2]> = path.iter().map(|p| [at(p, 0), at(p, 1)]).collect();
        if plot.figure.marks.is_empty() {
            plot = plot.through("before", places.first().copied());
            plot = plot.through("after", places.last().copied());
        }
        plot = plot.through(name, places);
    }
    Ok(plot)
}
