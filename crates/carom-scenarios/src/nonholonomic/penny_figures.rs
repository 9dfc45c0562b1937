//! The paper's four trajectories: two tables with two laws each.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Input};
use crate::nonholonomic::hybrid_model::name_laws;
use crate::nonholonomic::penny::{Energy, extent, impacts};
use crate::nonholonomic::penny_model::{
    InitialConfig, Law, PennyConfig, TableConfig, close_up, drawing, motion, named, trajectory,
    whole,
};
use carom_motion::billiard::Table as Wall;
use carom_motion::hybrid::Limits;

use carom_motion::billiard::penny::{Event, PennyBilliard, RollingPenny, Run};
use carom_report::record::{Column, Quantity, Record, Table};
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

/// Figure of the paper: a law and a table.
struct Case {
    number: u32,
    shape: &'static str,
    semi_axes: [f64; 2],
    law: Law,
}

impl Case {
    fn all(config: &Config) -> [Self; 4] {
        [
            (1, "circle", config.circle, Law::Elastic),
            (2, "circle", config.circle, Law::Projected),
            (3, "ellipse", config.ellipse, Law::Elastic),
            (4, "ellipse", config.ellipse, Law::Projected),
        ]
        .map(|(number, shape, semi_axes, law)| Self {
            number,
            shape,
            semi_axes,
            law,
        })
    }

    /// Returns the name of the impact law for the record, and its description for captions.
    fn words(&self) -> [&'static str; 2] {
        match self.law {
            Law::Elastic => ["elastic", "elastic"],
            _ => ["projected", "projected (\"plastic\" in the paper)"],
        }
    }

    /// Adds the animation of a run, its table of impacts and its figures to a record.
    fn draw<T: Wall>(
        &self,
        penny: &RollingPenny,
        billiard: &PennyBilliard<T>,
        run: &Run,
        record: &mut Record,
    ) -> Result<(), ScenarioError> {
        let Self { number, shape, .. } = self;
        let table = TableConfig::ellipse(self.semi_axes);
        let [name, word] = self.words();
        let text = (
            format!("motion-{number}"),
            format!("The run of Fig. {number}"),
        );
        record
            .animations
            .push(motion((&text.0, &text.1), &table, billiard, run));
        let mut rows = impacts(run);
        rows.name = format!("figure-{number}");
        rows.caption = format!("Fig. {number}: {word} law on the {shape}. {}", rows.caption);
        record.tables.push(rows);
        let path = drawing(&table, "penny-figures/path")
            .fill("number", number)
            .fill("name", name)
            .fill("shape", shape)
            .fill("impacts", run.events.len())
            .fill("word", word);
        trajectory(path, billiard, run).draw(record)?;
        if self.law == Law::Projected {
            let plot = drawing(&table, "penny-figures/close-up").fill("number", number);
            close_up(trajectory(plot, billiard, run), penny, run).draw(record)?;
        }
        Ok(())
    }

    fn quantities(&self, run: &Run, energy: &Energy) -> [Quantity; 4] {
        let prefix = format!("figure_{}", self.number);
        let effective = run.events.first().map_or(0.0, |e| e.effective_restitution);
        [
            ("impacts", run.events.len() as f64, ""),
            ("end_time_s", run.time, "s"),
            ("energy_ratio", energy.last / energy.initial, ""),
            ("effective_restitution", effective, ""),
        ]
        .map(|(name, value, unit)| Quantity::new(format!("{prefix}_{name}"), value, unit))
    }
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let penny = config.penny.build()?;
    let start = config.initial.build()?;
    let mut energies = Table::new(
        "energy",
        "Kinetic energy after each impact over that at the start.",
        ["figure", "n", "energy_ratio"]
            .map(|name| Column::new(name, ""))
            .to_vec(),
    );
    let mut plot = Plot::new("penny-figures/energy");
    name_laws(&["elastic", "projected"], &mut record);
    for case in Case::all(&config) {
        let table = TableConfig::ellipse(case.semi_axes).build()?;
        let billiard =
            PennyBilliard::new(penny, table, case.law.restitution(1.0)?).map_err(named)?;
        let run = whole(billiard.run(start, Limits::impacts(*config.impacts)))?;
        let part = format!("Fig. {}", case.number);
        extent(&run, Some(*config.impacts), f64::INFINITY).note(&part, &run.ending, &mut record);
        case.draw(&penny, &billiard, &run, &mut record)?;
        let energy = Energy::of(&billiard, &run);
        let ratio = |e: &Event| penny.energy(&e.state) / energy.initial;
        let ratios: Vec<f64> = run.events.iter().map(ratio).collect();
        for (k, ratio) in ratios.iter().enumerate() {
            let row = vec![f64::from(case.number), (k + 1) as f64, *ratio];
            energies.rows.push(row);
        }
        if case.law == Law::Projected {
            let points = ratios.iter().enumerate();
            let points = points.map(|(k, ratio)| [(k + 1) as f64, *ratio]);
            plot.curve(case.shape, case.shape, points);
        }
        record.quantities.extend(case.quantities(&run, &energy));
    }
    record.tables.push(energies);
    plot.draw(&mut record)?;
    Ok(record)
}
