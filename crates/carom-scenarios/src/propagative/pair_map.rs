//! Uniqueness map of two contacts: indeterminacy as a function of cosine and direction.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Input};
use crate::propagative::model::{System, propagative, wedge_normals};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;
use std::f64::consts::PI;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    cosines: Count<2, 1000>,
    directions: Count<2, 1000>,
}

fn wedge(gamma: f64) -> Result<System, ScenarioError> {
    System::diagonal(&[1.0, 1.0], wedge_normals(gamma).to_vec())
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let cosines = linspace(-0.95, 0.95, *config.cosines);
    let directions = linspace(-0.99, 0.99, *config.directions);
    let law = propagative(1.0)?;
    let mut values = vec![Vec::with_capacity(cosines.len()); directions.len()];
    for &c in &cosines {
        let gamma = 0.5 * libm::acos(-c);
        let system = wedge(gamma)?;
        for (row, s) in values.iter_mut().zip(&directions) {
            let theta = PI + s * gamma;
            row.push(
                system
                    .resolve_all(&[libm::cos(theta), libm::sin(theta)], &law)?
                    .indeterminacy,
            );
        }
    }
    let worst = worst_curve(&cosines)?;
    for m in 2..=6 {
        let worst = worst_at(PI / (2.0 * f64::from(m)))?;
        let source = if m <= 3 {
            "Theorems 2 and 3"
        } else {
            "c = -cos(pi/m)"
        };
        record.quantities.push(
            Quantity::new(format!("worst_indeterminacy_m_{m}"), worst, "").closed_form(0.0, source),
        );
    }
    let map = Plot::new("uniqueness-pair-map/pair_map");
    map.heat(&cosines, &directions, values).draw(&mut record)?;
    let mut table = Table::new(
        "worst",
        "Worst indeterminacy against the cosine.",
        Column::list("cosine, worst_indeterminacy"),
    );
    table.rows = worst.iter().map(|p| p.to_vec()).collect();
    let unique = (2..=9).map(|m| [-libm::cos(PI / f64::from(m)), 0.0]);
    Plot::new("uniqueness-pair-map/pair_worst")
        .of(&table)
        .through("c = −cos(π/m)", unique)
        .draw(&mut record)?;
    record.tables.push(table);
    Ok(record)
}

fn worst_at(gamma: f64) -> Result<f64, ScenarioError> {
    wedge(gamma)?.worst_indeterminacy()
}

/// Returns points of the curve of the largest indeterminacy of two contacts against the cosine between their normals, as
/// [cosine, indeterminacy]. The curve has four samples per entry of `cosines`, and a point at each of its zeros.
fn worst_curve(cosines: &[f64]) -> Result<Vec<[f64; 2]>, ScenarioError> {
    let [first, .., last] = cosines else {
        return Ok(Vec::new());
    };
    let (first, last) = (*first, *last);
    let mut samples = linspace(first, last, 4 * cosines.len());
    let zeros = (2..=9).map(|m| -libm::cos(PI / f64::from(m)));
    samples.extend(zeros.filter(|c| (first..=last).contains(c)));
    samples.sort_by(f64::total_cmp);
    let point = |c: f64| Ok([c, worst_at(0.5 * libm::acos(-c))?]);
    samples.into_iter().map(point).collect()
}
