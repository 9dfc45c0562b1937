//! Restitution of the law that the paper calls plastic, for disks, hoops and bobbins.

use crate::ScenarioError;
use crate::common::linspace;
use crate::config::{Count, Input};
use carom_impact::Restitution;
use carom_motion::billiard::penny::{Rim, RollingPenny};
use carom_report::record::{Axis, Color, Column, Figure, LineStyle, Mark, Quantity, Record, Table};
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
        (
            "thin disk",
            "thin_disk",
            0.5,
            0.25,
            Color::Blue,
            [1.0 / 3.0, 0.6],
        ),
        ("hoop", "hoop", 1.0, 0.5, Color::Orange, [0.0, 1.0 / 3.0]),
        (
            "bobbin",
            "bobbin",
            2.0,
            0.25,
            Color::Vermillion,
            [-1.0 / 3.0, 0.6],
        ),
    ];
    let degrees = linspace(0.0, 90.0, *config.samples);
    let mut table = Table::new(
        "effective-restitution",
        "Effective restitution of the projected law against the angle between the heading and the \
         wall's normal. Negative values are inadmissible.",
        vec![
            Column::new("angle", "deg"),
            Column::new("thin_disk", ""),
            Column::new("hoop", ""),
            Column::new("bobbin", ""),
        ],
    );
    let mut columns = Vec::new();
    let mut figure = Figure::new(
        "effective-restitution",
        "The projected law bounces",
        "Normal speed of the rim after over before. Below zero the rim would go on into the wall: \
         the law is refused.",
        Axis::linear("angle between heading and normal", "deg").range(0.0, 90.0),
        Axis::linear("effective restitution", ""),
    );
    for (name, key, spin, heading, color, [head_on, side_on]) in bodies {
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
        let values: Vec<f64> = degrees.iter().map(|&angle| restitution(angle)).collect();
        record.quantities.extend([
            Quantity::new(format!("{key}_head_on"), restitution(0.0), "")
                .closed_form(head_on, "2 cos² β - 1"),
            Quantity::new(format!("{key}_side_on"), restitution(90.0), "")
                .closed_form(side_on, "2 cos² β - 1"),
        ]);
        figure
            .marks
            .push(Mark::line(name, degrees.clone(), values.clone(), color));
        columns.push(values);
    }
    figure
        .marks
        .push(Mark::path(vec![0.0, 90.0], vec![0.0; 2], Color::Gray).style(LineStyle::Dashed));
    for (i, &angle) in degrees.iter().enumerate() {
        let mut row = vec![angle];
        row.extend(columns.iter().filter_map(|values| values.get(i)));
        table.rows.push(row);
    }
    record.tables.push(table);
    record.figures.push(figure);
    Ok(record)
}
