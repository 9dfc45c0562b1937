//! The paper's four trajectories: two tables, two laws.

use crate::ScenarioError;
use crate::config::{Count, Input};
use crate::nonholonomic::penny::{Energy, impacts};
use crate::nonholonomic::penny_model::{
    InitialConfig, Law, PennyConfig, TableConfig, close_up, drawing, motion, named, trajectory,
    whole,
};
use carom_motion::hybrid::Limits;

use carom_motion::billiard::penny::PennyBilliard;
use carom_report::record::{Axis, Color, Column, Figure, LineStyle, Mark, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    impacts: Count<1, 10_000>,
    circle: [f64; 2],
    ellipse: [f64; 2],
    penny: PennyConfig,
    initial: InitialConfig,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let penny = config.penny.build()?;
    let start = config.initial.build()?;
    let mut energies = Table::new(
        "energy",
        "Kinetic energy after each impact over that at the start.",
        vec![
            Column::new("figure", ""),
            Column::new("n", ""),
            Column::new("energy_ratio", ""),
        ],
    );
    let mut figure = Figure::new(
        "energy",
        "Energy left",
        "Kinetic energy after each impact over that at the start, for the law that the paper calls \
         plastic: it bounces, and what is left does not vanish.",
        Axis::linear("impact", ""),
        Axis::linear("energy over initial energy", "").range(0.0, 1.0),
    );
    let cases = [
        (1, "circle", config.circle, Law::Elastic),
        (2, "circle", config.circle, Law::Projected),
        (3, "ellipse", config.ellipse, Law::Elastic),
        (4, "ellipse", config.ellipse, Law::Projected),
    ];
    for (number, shape, semi_axes, law) in cases {
        let table = TableConfig::ellipse(semi_axes);
        let billiard =
            PennyBilliard::new(penny, table.build()?, law.restitution(1.0)?).map_err(named)?;
        let run = whole(billiard.run(start, Limits::impacts(*config.impacts)))?;
        let text = (
            format!("motion-{number}"),
            format!("The run of Fig. {number}"),
        );
        record
            .animations
            .push(motion((&text.0, &text.1), &table, &billiard, &run));
        let (name, word) = match law {
            Law::Elastic => ("elastic", "elastic"),
            _ => ("projected", "projected (\"plastic\" in the paper)"),
        };
        let mut rows = impacts(&run);
        rows.name = format!("figure-{number}");
        rows.caption = format!("Fig. {number}: {word} law on the {shape}. {}", rows.caption);
        record.tables.push(rows);
        record.figures.push(trajectory(
            drawing(
                &table,
                &format!("figure-{number}"),
                &format!("Fig. {number}: {name} law, {shape}"),
                &format!(
                    "Path of the center over {} impacts by the {word} law.",
                    run.events.len()
                ),
            ),
            &billiard,
            &run,
        ));
        if law == Law::Projected {
            let figure = drawing(
                &table,
                &format!("figure-{number}-close-up"),
                &format!("Fig. {number}, from the first impact on"),
                "The hops shrink to a circle on which both rims touch the wall in turn.",
            );
            record
                .figures
                .push(close_up(trajectory(figure, &billiard, &run), &penny, &run));
        }
        let energy = Energy::of(&billiard, &run);
        let ratios: Vec<f64> = run
            .events
            .iter()
            .map(|e| penny.energy(&e.state) / energy.initial)
            .collect();
        let numbers: Vec<f64> = (1..=ratios.len()).map(|n| n as f64).collect();
        for (n, ratio) in numbers.iter().zip(&ratios) {
            energies.rows.push(vec![f64::from(number), *n, *ratio]);
        }
        if law == Law::Projected {
            figure.marks.push(Mark::Line {
                label: Some(shape.to_owned()),
                x: numbers,
                y: ratios.clone(),
                style: LineStyle::Solid,
                color: if number == 2 {
                    Color::Blue
                } else {
                    Color::Orange
                },
            });
        }
        let prefix = format!("figure_{number}");
        record.quantities.extend([
            Quantity::new(format!("{prefix}_impacts"), run.events.len() as f64, ""),
            Quantity::new(format!("{prefix}_end_time_s"), run.time, "s"),
            Quantity::new(
                format!("{prefix}_energy_ratio"),
                energy.last / energy.initial,
                "",
            ),
            Quantity::new(
                format!("{prefix}_effective_restitution"),
                run.events.first().map_or(0.0, |e| e.effective_restitution),
                "",
            ),
        ]);
    }
    record.tables.push(energies);
    record.figures.push(figure);
    Ok(record)
}
