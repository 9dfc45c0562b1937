//! Bundles of hodographs: Jia & Wang, Figs. 6 and 8.

use crate::ScenarioError;
use crate::config::{Count, Fraction, Input};
use crate::two_body::sliding::{ICOSAHEDRON_TETRAHEDRON, Setup, hodograph, rays, sliding_plane};
use carom_impact::two_body::Event;
use carom_report::record::{
    Color, Column, Figure, LineStyle, Mark, PointShape, Quantity, Record, Table,
};
use serde::Deserialize;
use std::f64::consts::TAU;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    restitution: Fraction,
    stopping: Count<1, 360>,
    drifting: Count<1, 360>,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let mut table = Table::new(
        "bundles",
        "Start directions, total normal impulse, and where sliding stops (0 if it does not).",
        vec![
            Column::new("friction", ""),
            Column::new("angle", "rad"),
            Column::new("impulse_z", "N s"),
            Column::new("sliding_stops", "N s"),
        ],
    );
    let fig6 = bundle(
        &config,
        &mut table,
        *config.stopping,
        0.8,
        -0.2,
        "fig6_bundle",
    )?;
    let (figure, stopped) = fig6;
    record.figures.push(figure);
    let not_stopped = (*config.stopping - stopped) as f64;
    let quantity = Quantity::new("fig6_not_stopped", not_stopped, "");
    record.quantities.push(quantity);
    let fig8 = bundle(
        &config,
        &mut table,
        *config.drifting,
        0.25,
        -0.8,
        "fig8_bundle",
    )?;
    let (figure, stopped) = fig8;
    record.figures.push(figure);
    record
        .quantities
        .push(Quantity::new("fig8_stopped", stopped as f64, "").note(
            "the start on the repelling direction; the paper lets six join the centrifugal \
             direction, which no hodograph reaches unless it starts there",
        ));
    record.tables.push(table);
    Ok(record)
}

/// Traces hodographs (paths of the sliding velocity during an impact) from unit sliding velocities at equal angles. The
/// first starts along the repelling invariant direction. Returns the figure, and the number of hodographs that reach
/// zero sliding. `vz`: normal velocity before the impact (m/s); `number`: number of hodographs. Each hodograph is added
/// to `table`.
fn bundle(
    config: &Config,
    table: &mut Table,
    number: usize,
    friction: f64,
    vz: f64,
    name: &str,
) -> Result<(Figure, usize), ScenarioError> {
    let probe = Setup::new(
        &ICOSAHEDRON_TETRAHEDRON,
        [1.0, 0.0, vz],
        friction,
        *config.restitution,
    )?;
    let directions = probe.directions();
    let repelling = directions.iter().find(|d| !d.attracting);
    let first = repelling.map_or(0.0, |d| d.angle);
    let mut figure = sliding_plane(
        name,
        &format!("{number} hodographs, friction {friction}"),
        "Unit sliding velocities (dots) at equal angles; crosses: where they are when the impact \
         ends.",
    );
    let mut marks = Vec::new();
    let mut named = Vec::new();
    let mut starts = [Vec::new(), Vec::new()];
    let mut ends = [Vec::new(), Vec::new()];
    let mut stopped = 0;
    let mut longest: f64 = 1.0;
    for k in 0..number {
        let angle = first + TAU * k as f64 / number as f64;
        let velocity = [libm::cos(angle), libm::sin(angle), vz];
        let setup = Setup::new(
            &ICOSAHEDRON_TETRAHEDRON,
            velocity,
            friction,
            *config.restitution,
        )?;
        let trace = setup.trace()?;
        let stop = trace.impact.events.first(Event::SlipZero);
        stopped += usize::from(stop.is_some());
        table.rows.push(vec![
            friction,
            angle,
            trace.impact.impulse.z,
            stop.map_or(0.0, |s| s.impulse[2]),
        ]);
        let (x, y) = hodograph(&trace.points);
        let after = trace.impact.velocity_plus;
        longest = longest.max(after.xy().norm());
        starts[0].push(velocity[0]);
        starts[1].push(velocity[1]);
        ends[0].push(after.x);
        ends[1].push(after.y);
        let (kind, color) = if stop.is_some() {
            ("sliding stops", Color::Blue)
        } else {
            ("slides to the end", Color::Orange)
        };
        let is_new = !named.contains(&kind);
        named.push(kind);
        marks.push(Mark::Line {
            label: is_new.then(|| kind.to_owned()),
            x,
            y,
            style: LineStyle::Solid,
            color,
        });
    }
    figure.marks = rays(&directions, longest);
    figure.marks.extend(marks);
    let points = |label: &str, [x, y]: [Vec<f64>; 2], shape, color| {
        Mark::points(label, x, y, color).shape(shape)
    };
    figure
        .marks
        .push(points("before", starts, PointShape::Circle, Color::Black));
    figure
        .marks
        .push(points("after", ends, PointShape::Cross, Color::Purple));
    Ok((figure, stopped))
}
