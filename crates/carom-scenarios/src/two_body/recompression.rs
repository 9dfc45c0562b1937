//! A second compression, which Jia & Wang do not consider, in the configuration of their Fig. 4(d).

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, NonNegative};
use crate::two_body::sliding::{ICOSAHEDRON_TETRAHEDRON, Setup, energy_figure, trace_table};
use carom_impact::two_body::{ContactResponse, Recompression, solve_impact};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    friction: NonNegative,
    restitution: Fraction,
    closing_speed: f64,
    samples: Count<2, 10_000>,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let setup = |closing: f64| {
        Setup::new(
            &ICOSAHEDRON_TETRAHEDRON,
            [-0.261976, 0.386329, -closing],
            *config.friction,
            *config.restitution,
        )
    };
    let shown = setup(config.closing_speed)?;
    let trace = shown.trace()?;
    let sequence = trace.impact.events.sequence();
    record.quantities.extend([
        Quantity::new("impulse_z_ns", trace.impact.impulse.z, "N s")
            .note(format!("events {sequence}")),
        Quantity::new(
            "normal_margin",
            shown.inertia.normal_margin(*config.friction),
            "1/kg",
        )
        .note("w_zz - mu |d|; the paper holds that it is never negative"),
    ]);
    let mut table = Table::new(
        "policies",
        "Total normal impulse when each compression loses energy, and when only the first does.",
        Column::list("closing_speed [m/s], each_compression [N s], single [N s]"),
    );
    for closing in linspace(0.004, 0.012, *config.samples) {
        let setup = setup(closing)?;
        let total = |recompression| -> Result<f64, ScenarioError> {
            let options = setup.options().with_recompression(recompression);
            let response = solve_impact(
                &setup.inertia,
                &setup.velocity,
                setup.friction,
                setup.restitution,
                &options,
            )?;
            Ok(match response {
                ContactResponse::Impact(found) => found.impulse.z,
                _ => 0.0,
            })
        };
        table.rows.push(vec![
            closing,
            total(Recompression::EachCompression)?,
            total(Recompression::Single)?,
        ]);
    }
    Plot::new("recompression/policies")
        .of(&table)
        .draw(&mut record)?;
    let title = "Energy stored at the contact, compressed twice";
    energy_figure("energy", title, &trace).draw(&mut record)?;
    record.tables.extend([table, trace_table(&trace)]);
    Ok(record)
}
