//! Restitution of the law that the paper calls plastic, for disks, hoops and bobbins.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Input};
use carom_impact::Restitution;
use carom_motion::billiard::penny::{Rim, RollingPenny};
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::Vector2;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    samples: Count<2, 10_000>,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    // Mass and radius are 1, so that I and J are in units of m R².
    let bodies = [
        ("thin_disk", 0.5, 0.25, [1.0 / 3.0, 0.6]),
        ("hoop", 1.0, 0.5, [0.0, 1.0 / 3.0]),
        ("bobbin", 2.0, 0.25, [-1.0 / 3.0, 0.6]),
    ];
    let degrees = linspace(0.0, 90.0, *config.samples);
    let mut table = Table::new(
        "effective-restitution",
        "Effective restitution of the projected law against the angle between the heading and the \
         wall's normal. Negative values are inadmissible.",
        Column::list("angle [deg], thin_disk, hoop, bobbin"),
    );
    table.rows = degrees.iter().map(|angle| vec![*angle]).collect();
    for (key, spin, heading, [head_on, side_on]) in bodies {
        let body = RollingPenny::new(1.0, 1.0, spin, heading)?;
        let restitution = |angle: f64| {
            let (sin, cos) = libm::sincos(angle.to_radians());
            let normal = Vector2::new(cos, sin);
            let along = Vector2::new(1.0, 0.0);
            let impact = body.impact(
                Rim::Front,
                along,
                normal,
                [0.0; 2],
                1.0,
                Restitution::Projected,
            );
            impact.effective_restitution
        };
        for row in &mut table.rows {
            row.push(restitution(row[0]));
        }
        record.quantities.extend([
            Quantity::new(format!("{key}_head_on"), restitution(0.0), "")
                .closed_form(head_on, "2 cos² β - 1"),
            Quantity::new(format!("{key}_side_on"), restitution(90.0), "")
                .closed_form(side_on, "2 cos² β - 1"),
        ]);
    }
    Plot::new("penny-restitution/effective-restitution")
        .of(&table)
        .with("zero", [0.0, 90.0], [0.0; 2])
        .draw(&mut record)?;
    record.tables.push(table);
    Ok(record)
}
