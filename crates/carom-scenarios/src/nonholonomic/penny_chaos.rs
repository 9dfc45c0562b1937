//! Regular and chaotic motion of the elastic penny: Lyapunov exponents and a Poincaré section.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Input};
use crate::nonholonomic::penny::extent;
use crate::nonholonomic::penny_model::{InitialConfig, PennyConfig, named, whole};
use carom_motion::billiard::Ellipse;
use carom_motion::hybrid::Limits;

use carom_impact::Restitution;
use carom_motion::billiard::penny::{Event, PennyBilliard, PennyState};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    impacts: Count<10, 100_000>,
    circle: [f64; 2],
    ellipse: [f64; 2],
    penny: PennyConfig,
    initial: InitialConfig,
    regular: InitialConfig,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let penny = config.penny.build()?;
    let billiard = |[a, b]: [f64; 2]| {
        let table = Ellipse::new(a, b)?;
        PennyBilliard::new(penny, table, Restitution::Elastic).map_err(named)
    };
    let circle = billiard(config.circle)?;
    let ellipse = billiard(config.ellipse)?;
    let (start, regular) = (config.initial.build()?, config.regular.build()?);
    let orbits: [(&str, &PennyBilliard<Ellipse>, PennyState); 3] = [
        ("ellipse", &ellipse, start),
        ("ellipse, island", &ellipse, regular),
        ("circle", &circle, start),
    ];
    let mut growth = Plot::new("penny-chaos/lyapunov");
    let mut section = Plot::new("penny-chaos/section");
    let mut table = Table::new(
        "regular-section",
        "Section of the regular orbits, first hundred impacts: 0 the island, 1 the circle.",
        Column::list("orbit, wall_angle [rad], heading_angle [rad], velocity_angle [rad]"),
    );
    for (index, (name, billiard, start)) in orbits.into_iter().enumerate() {
        let (mut n, mut estimates) = (5, Vec::new());
        let mut worst: f64 = 0.0;
        while n <= *config.impacts {
            let (lyapunov, ending) = billiard.lyapunov(start, n).map_err(named)?;
            ending.or_error().map(drop).map_err(named)?;
            worst = worst.max(lyapunov.max_log_det);
            let largest = lyapunov.per_impact.into_iter().fold(f64::MIN, f64::max);
            if largest > 0.0 {
                estimates.push([n as f64, largest]);
            }
            n += n.div_ceil(5);
        }
        // Rounding errors dominate the chaotic orbit after 60 impacts: it is drawn, but not recorded as a number.
        if index > 0
            && let Some([_, last]) = estimates.last()
        {
            let key = if index == 1 { "island" } else { "circle" };
            record.quantities.push(Quantity::new(
                format!("{key}_exponent_per_impact"),
                *last,
                "",
            ));
        }
        growth.curve(name, name, estimates);
        let run = whole(billiard.run(start, Limits::impacts(*config.impacts)))?;
        extent(&run, Some(*config.impacts), f64::INFINITY).note(name, &run.ending, &mut record);
        let one_rim: Vec<&Event> = run.events.iter().step_by(2).collect();
        let points: Vec<_> = one_rim.iter().map(|e| billiard.section_point(e)).collect();
        if index > 0 {
            for point in points.iter().take(100) {
                table.rows.push(vec![
                    (index - 1) as f64,
                    point.wall_angle,
                    point.heading_angle,
                    point.velocity_angle,
                ]);
            }
        }
        let shown = points.iter().map(|p| [p.wall_angle, p.velocity_angle]);
        section.curve(name, name, shown);
    }
    record.tables.push(table);
    growth.draw(&mut record)?;
    section.draw(&mut record)?;
    Ok(record)
}
