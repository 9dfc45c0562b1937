//! A box that slides on four corners: errors of polygonal friction cones.

use super::spatial_box::BoxConfig;
use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::Input;
use carom_contact::{Diagnostics, FrictionCone, ImpactLaw};
use carom_impact::frictional::AnitescuPotra;
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    directions: Vec<usize>,
    #[serde(rename = "box")]
    body: BoxConfig,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let mut table = Table::new(
        "polygon_error",
        "Distance of the polygon's answer from that of the round cone, over the kinetic norm of the \
         velocity before.",
        Column::list("directions, cone_error, cone_residual"),
    );
    let problem = &config.body.problem()?;
    let outcome = AnitescuPotra::default().resolve(problem)?;
    let names = ["vx", "vy", "vz", "wx", "wy", "wz"];
    for (k, (name, v)) in names.iter().zip(outcome.velocity_plus.0.iter()).enumerate() {
        let (suffix, unit) = if k < 3 {
            ("m_per_s", "m/s")
        } else {
            ("rad_per_s", "rad/s")
        };
        record
            .quantities
            .push(Quantity::new(format!("{name}_plus_{suffix}"), *v, unit));
    }
    if let Diagnostics::Cone(cone) = &outcome.diagnostics {
        record
            .quantities
            .push(Quantity::new("family", cone.family as f64, ""));
    }
    for k in &config.directions {
        let law = AnitescuPotra::default().with_friction_cone(FrictionCone::Polygon(*k));
        let outcome = law.resolve(problem)?;
        if let Diagnostics::Complementarity {
            polygon: Some(polygon),
            ..
        } = outcome.diagnostics
            && let Some(error) = polygon.cone_error
        {
            table
                .rows
                .push(vec![*k as f64, error, polygon.cone_residual]);
        }
    }
    Plot::new("sliding-box/polygon_error")
        .of(&table)
        .draw(&mut record)?;
    record.tables.push(table);
    Ok(record)
}
