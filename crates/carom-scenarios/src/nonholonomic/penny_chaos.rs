//! Regular and chaotic motion of the elastic penny: Lyapunov exponents and a Poincaré section.

use crate::ScenarioError;
use crate::config::{Count, Input};
use crate::nonholonomic::penny::extent;
use crate::nonholonomic::penny_model::{InitialConfig, PennyConfig, named, whole};
use carom_motion::billiard::Ellipse;
use carom_motion::hybrid::Limits;

use carom_impact::Restitution;
use carom_motion::billiard::penny::{Event, PennyBilliard, PennyState};
use carom_report::record::{Axis, Color, Column, Figure, Mark, Quantity, Record, Table};
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
    let orbits: [(&str, &PennyBilliard<Ellipse>, PennyState, Color); 3] = [
        ("ellipse", &ellipse, start, Color::Vermillion),
        ("ellipse, island", &ellipse, regular, Color::Blue),
        ("circle", &circle, start, Color::Green),
    ];
    let mut growth = Figure::new(
        "lyapunov",
        "Largest Lyapunov exponent",
        "Estimate over the first n impacts. On the circle and in an island it falls like ln n / n; \
         in the chaotic sea of the ellipse it settles near 0.4 per impact.",
        Axis::log("impacts", ""),
        Axis::log("exponent per impact", ""),
    );
    let mut section = Figure::new(
        "section",
        "Poincaré section at the impacts",
        "Wall point and direction of the velocity after each impact of one rim.",
        Axis::linear("polar angle of the wall point", "rad"),
        Axis::linear("velocity angle", "rad"),
    );
    let mut table = Table::new(
        "regular-section",
        "Section of the regular orbits, first hundred impacts: 0 the island, 1 the circle.",
        vec![
            Column::new("orbit", ""),
            Column::new("wall_angle", "rad"),
            Column::new("heading_angle", "rad"),
            Column::new("velocity_angle", "rad"),
        ],
    );
    for (index, (name, billiard, start, color)) in orbits.into_iter().enumerate() {
        let (mut n, mut estimates) = (5, (Vec::new(), Vec::new()));
        let mut worst: f64 = 0.0;
        while n <= *config.impacts {
            let (lyapunov, ending) = billiard.lyapunov(start, n).map_err(named)?;
            ending.or_error().map(drop).map_err(named)?;
            worst = worst.max(lyapunov.max_log_det);
            let largest = lyapunov.per_impact.into_iter().fold(f64::MIN, f64::max);
            if largest > 0.0 {
                estimates.0.push(n as f64);
                estimates.1.push(largest);
            }
            n += n.div_ceil(5);
        }
        let (x, y) = estimates;
        // Rounding errors dominate the chaotic orbit after 60 impacts: it is drawn, but not recorded as a number.
        if index > 0
            && let Some(last) = y.last()
        {
            let key = if index == 1 { "island" } else { "circle" };
            record.quantities.push(Quantity::new(
                format!("{key}_exponent_per_impact"),
                *last,
                "",
            ));
        }
        growth.marks.push(Mark::line(name, x, y, color));
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
        section.marks.push(Mark::points(
            name,
            points.iter().map(|p| p.wall_angle).collect(),
            points.iter().map(|p| p.velocity_angle).collect(),
            color,
        ));
    }
    record.tables.push(table);
    record.figures = vec![growth, section];
    Ok(record)
}
