//! A point in an orthogonal corner: Seghete & Murphey, Theorem 2.

use crate::ScenarioError;
use crate::config::{Input, count};
use crate::propagative::model::{System, diagnostics, propagative, row};
use crate::propagative::outcomes;
use carom_report::record::{
    Axis, Color, Column, Figure, LineStyle, Mark, PointShape, Quantity, Record, Table,
};
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
        vec![
            Column::new("minus", "kg m/s"),
            Column::new("plus", "kg m/s"),
        ],
    );
    if let Some(outcome) = set.outcomes.first() {
        let pairs = config.momentum.iter().zip(outcome.velocity_plus.0.iter());
        table
            .rows
            .extend(pairs.map(|(minus, plus)| vec![*minus, *plus]));
    }
    record.tables.push(table);
    record.figures.push(orders(&system, &config.momentum)?);
    Ok(record)
}

/// Draws the impacts in both orders in the plane of the first two momenta. Both orders end at one point. `momentum`: momenta
/// before the impact (kg m/s).
fn orders(system: &System, momentum: &[f64]) -> Result<Figure, ScenarioError> {
    let mut figure = Figure::new(
        "orders",
        "Orthogonal corner: two orders, one outcome",
        "Each impact reflects one momentum; the first contact first, or the last one first, both \
         end at the same place. Contacts are numbered from 1; the plane is that of the first two.",
        Axis::linear("momentum 1", "kg m/s"),
        Axis::linear("momentum 2", "kg m/s"),
    )
    .equal_aspect();
    let approaching: Vec<usize> = (0..momentum.len())
        .filter(|i| momentum.get(*i).is_some_and(|p| *p < 0.0))
        .collect();
    let backwards = approaching.iter().rev().copied().collect();
    for (label, order, style, color) in [
        (
            "first contact first",
            approaching,
            LineStyle::Solid,
            Color::Blue,
        ),
        (
            "last contact first",
            backwards,
            LineStyle::Dashed,
            Color::Vermillion,
        ),
    ] {
        let path = system.chain(momentum, &order)?;
        let at = |i: usize| path.iter().map(move |p| p.get(i).copied().unwrap_or(0.0));
        let (x, y): (Vec<f64>, Vec<f64>) = (at(0).collect(), at(1).collect());
        if figure.marks.is_empty() {
            for (label, k, shape) in [
                ("before", 0, PointShape::Square),
                ("after", path.len().saturating_sub(1), PointShape::Circle),
            ] {
                let place = |list: &[f64]| list.get(k).copied().into_iter().collect();
                figure
                    .marks
                    .push(Mark::points(label, place(&x), place(&y), Color::Black).shape(shape));
            }
        }
        figure
            .marks
            .push(Mark::line(label, x, y, color).style(style));
    }
    Ok(figure)
}
