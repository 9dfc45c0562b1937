//! A point in an orthogonal corner: Seghete & Murphey, Theorem 2.

use crate::config::{count, finite};
use crate::propagative::model::{System, diagnostics, propagative, row};
use crate::propagative::outcomes;
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "orthogonal-corner",
    "orthogonal normals: every order gives the same outcome",
    "Seghete & Murphey",
    "Theorem 2",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    momentum: Vec<f64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            momentum: vec![-1.0, -2.0, -3.0],
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
momentum = [-1.0, -2.0, -3.0]    # kg m/s, of a unit mass, one entry per wall
";
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    let n = config.momentum.len();
    count("momentum", n, 1, 8)?;
    finite("momentum", &config.momentum)?;
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
        outcomes.paper(1.0, "Theorem 2"),
        Quantity::new("sequences", sequences as f64, "").paper(factorial, "Theorem 2: n! orders"),
        indeterminacy.paper(0.0, "Theorem 2"),
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
    Ok(record)
}
