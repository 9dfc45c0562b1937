//! The penny on a table bounded by a superellipse.

use crate::ScenarioError;
use crate::config::{Count, Input};
use crate::nonholonomic::hybrid_model::name_laws;
use crate::nonholonomic::penny::{extent, impacts};
use crate::nonholonomic::penny_model::{
    InitialConfig, Law, PennyConfig, TableConfig, TableKind, drawing, motion, named, trajectory,
    whole,
};
use carom_motion::hybrid::Limits;

use carom_motion::billiard::penny::PennyBilliard;
use carom_report::record::{Quantity, Record};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    impacts: Count<1, 10_000>,
    semi_axes: [f64; 2],
    exponent: f64,
    penny: PennyConfig,
    initial: InitialConfig,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let penny = config.penny.build()?;
    let start = config.initial.build()?;
    let table = TableConfig {
        kind: TableKind::Superellipse,
        semi_axes: config.semi_axes,
        exponent: Some(config.exponent),
    };
    name_laws(&["elastic", "projected"], &mut record);
    for (name, law) in [("elastic", Law::Elastic), ("projected", Law::Projected)] {
        let billiard =
            PennyBilliard::new(penny, table.build()?, law.restitution(1.0)?).map_err(named)?;
        let run = whole(billiard.run(start, Limits::impacts(*config.impacts)))?;
        extent(&run, Some(*config.impacts), f64::INFINITY).note(name, &run.ending, &mut record);
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
        let plot = drawing(&table, "penny-superellipse/trajectory").fill("name", name);
        trajectory(plot, &billiard, &run).draw(&mut record)?;
    }
    Ok(record)
}
