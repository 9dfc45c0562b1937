//! Uniqueness map of three balls in a row: the masses for which the outcome is unique.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Input};
use crate::propagative::model::{System, chain_normals};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;
use std::f64::consts::PI;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    samples: Count<2, 500>,
    max_ratio: f64,
}

fn worst(masses: [f64; 3]) -> Result<f64, ScenarioError> {
    System::diagonal(&masses, chain_normals(3))?.worst_indeterminacy()
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    if config.max_ratio <= 1.0 {
        let message = format!("{} must be above 1", config.max_ratio);
        return Err(ScenarioError::value("max_ratio", message));
    }
    let decades = libm::log10(config.max_ratio);
    let axis = linspace(-decades, decades, *config.samples);
    let mut values = Vec::with_capacity(axis.len());
    for &c in &axis {
        let row = axis
            .iter()
            .map(|&b| worst([1.0, libm::pow(10.0, b), libm::pow(10.0, c)]));
        values.push(row.collect::<Result<Vec<_>, _>>()?);
    }
    let mut table = Table::new(
        "unique_masses",
        "Middle masses with a unique outcome between equal outer balls, m_B = m_A (1/cos(pi/m) - 1).",
        Column::list("m, mass_ratio, worst_indeterminacy"),
    );
    for m in 3..=6 {
        let ratio = 1.0 / libm::cos(PI / f64::from(m)) - 1.0;
        let xi = worst([1.0, ratio, 1.0])?;
        table.rows.push(vec![f64::from(m), ratio, xi]);
        record.quantities.push(
            Quantity::new(format!("worst_indeterminacy_m_{m}"), xi, "")
                .closed_form(0.0, "c = -cos(pi/m)"),
        );
    }
    let ends = [-decades, decades];
    let plot = Plot::new("three-ball-masses/mass_map").x_range(ends);
    let mut plot = plot.y_range(ends).heat(&axis, &axis, values);
    for m in 3..=6 {
        // Solves c² = m_A m_C / ((m_A + m_B)(m_B + m_C)) for m_C, with m_A = 1.
        let c2 = carom_numeric::power(libm::cos(PI / f64::from(m)), 2);
        let curve = linspace(-decades, decades, 401)
            .into_iter()
            .filter_map(|log_b| {
                let b = libm::pow(10.0, log_b);
                let c = c2 * (1.0 + b) * b / (1.0 - c2 * (1.0 + b));
                (c > 0.0 && libm::log10(c).abs() <= decades).then(|| [log_b, libm::log10(c)])
            });
        plot = plot.through(&format!("unique, m = {m}"), curve);
    }
    record.tables.push(table);
    plot.draw(&mut record)?;
    Ok(record)
}
