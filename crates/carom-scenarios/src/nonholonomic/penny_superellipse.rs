//! The penny on a table that is no conic.

use crate::config::count;
use crate::nonholonomic::penny::impacts;
use crate::nonholonomic::penny_model::{
    InitialConfig, Law, PennyConfig, TableConfig, TableKind, drawing, motion, named, trajectory,
};
use crate::scenario::{Configuration, begin};
use crate::{Overrides, Scenario, ScenarioError};
use carom_billiard::penny::{Limits, PennyBilliard};
use carom_report::record::{Quantity, Record};
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "penny-superellipse",
    "the penny on a superellipse, its impacts found by certified steps",
    "Clark & Bloch",
    "Figs. 1-4 on another table",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    impacts: usize,
    semi_axes: [f64; 2],
    exponent: f64,
    penny: PennyConfig,
    initial: InitialConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            impacts: 10,
            semi_axes: [0.15, 0.2],
            exponent: 4.0,
            penny: PennyConfig::default(),
            initial: InitialConfig::default(),
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
impacts = 10
semi_axes = [0.15, 0.20]   # m
exponent = 4.0             # at least 2

[penny]                    # the paper's Table I
radius = 0.01              # m
mass = 0.0025              # kg
spin_inertia = 1.25e-7     # kg m^2
heading_inertia = 6.25e-8  # kg m^2

[initial]                  # Sec. VI-A
x = 0.0                    # m
y = 0.0                    # m
theta = 0.0                # rad
phi = 1.5707963267948966   # rad
theta_dot = 10.0           # rad/s
phi_dot = 0.2              # rad/s
";
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    count("impacts", config.impacts, 1, 10_000)?;
    let penny = config.penny.build()?;
    let start = config.initial.build()?;
    let table = TableConfig {
        kind: TableKind::Superellipse,
        semi_axes: config.semi_axes,
        exponent: Some(config.exponent),
    };
    for (name, law) in [("elastic", Law::Elastic), ("projected", Law::Projected)] {
        let billiard =
            PennyBilliard::new(penny, table.build()?, law.restitution(1.0)?).map_err(named)?;
        let run = billiard
            .run(start, Limits::impacts(config.impacts))
            .map_err(named)?;
        record.quantities.push(Quantity::new(
            format!("{name}_impacts"),
            run.events.len() as f64,
            "",
        ));
        let mut rows = impacts(&run);
        rows.name = format!("{name}-impacts");
        record.tables.push(rows);
        let text = (format!("{name}-motion"), format!("The run, {name} law"));
        record
            .animations
            .push(motion((&text.0, &text.1), &table, &billiard, &run));
        record.figures.push(trajectory(
            drawing(
                &table,
                &format!("{name}-trajectory"),
                &format!("Penny on a superellipse, {name} law"),
                "Path of the center and the wall points that the rims hit.",
            ),
            &billiard,
            &run,
        ));
    }
    Ok(record)
}
