//! Modified examples of Jia & Wang, Figs. 4, 7 and 10.

use crate::ScenarioError;
use crate::config::{Fraction, Input};
use crate::two_body::sliding::{ICOSAHEDRON_TETRAHEDRON, Setup, hodograph_figure};
use carom_impact::two_body::Event;
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    restitution: Fraction,
}

/// Example of a figure.
struct Instance {
    name: &'static str,
    friction: f64,
    velocity: [f64; 3],
    what: &'static str,
}

/// Builds an example impact with the tangential velocity of Fig. 4. The examples differ in their normal velocity `vz` (m/s)
/// and friction. `what`: description of the example.
const fn slid(name: &'static str, friction: f64, vz: f64, what: &'static str) -> Instance {
    let velocity = [-0.261976, 0.386329, vz];
    Instance {
        name,
        friction,
        velocity,
        what,
    }
}

const INSTANCES: [Instance; 8] = [
    slid(
        "fig4a",
        0.8,
        -0.077174,
        "Compression ends before sliding stops.",
    ),
    slid(
        "fig4b",
        0.4,
        -0.827174,
        "Sliding overshoots, then runs into the origin along the attracting direction.",
    ),
    slid(
        "fig4c",
        0.25,
        -0.827174,
        "Too little friction to stop: sliding turns around and speeds up along the centrifugal direction.",
    ),
    slid(
        "fig4d",
        3.0,
        -0.527174,
        "Four invariant directions; the steep one is taken.",
    ),
    Instance {
        name: "fig7",
        friction: 0.25,
        velocity: [-0.861976, -0.463671, -1.527174],
        what: "The paper has sliding stop here. It misses the origin by 0.45 % of the first speed.",
    },
    slid(
        "fig10a",
        0.35,
        -0.827174,
        "The paper's lcsr: straight to its tolerance before compression ends.",
    ),
    slid(
        "fig10b",
        0.25,
        -2.027174,
        "The paper's lcr: along the centrifugal direction to the end.",
    ),
    slid(
        "fig10c",
        0.55,
        -0.127174,
        "The paper's clsr: straight to its tolerance after compression ends.",
    ),
];

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let mut table = Table::new(
        "instances",
        "Impulse, events (normal impulse; 0 if absent) and closest approach to the origin.",
        vec![
            Column::new("friction", ""),
            Column::new("impulse_x", "N s"),
            Column::new("impulse_y", "N s"),
            Column::new("impulse_z", "N s"),
            Column::new("compression_ends", "N s"),
            Column::new("sliding_stops", "N s"),
            Column::new("slowest_sliding", "m/s"),
        ],
    );
    for instance in INSTANCES {
        let setup = Setup::new(
            &ICOSAHEDRON_TETRAHEDRON,
            instance.velocity,
            instance.friction,
            *config.restitution,
        )?;
        let trace = setup.trace()?;
        let impact = &trace.impact;
        let at = |event| impact.events.first(event).map_or(0.0, |e| e.impulse[2]);
        let slowest = trace
            .points
            .iter()
            .map(|p| p.velocity.xy().norm())
            .fold(f64::INFINITY, f64::min);
        table.rows.push(vec![
            instance.friction,
            impact.impulse.x,
            impact.impulse.y,
            impact.impulse.z,
            at(Event::CompressionEnd),
            at(Event::SlipZero),
            slowest,
        ]);
        let sequence = impact.events.sequence();
        let label = instance.name.trim_start_matches("fig");
        let label = match label.trim_end_matches(char::is_alphabetic) {
            number if number == label => number.to_owned(),
            number => format!("{number}({})", &label[number.len()..]),
        };
        record.quantities.push(
            Quantity::new(
                format!("{}_impulse_z_ns", instance.name),
                impact.impulse.z,
                "N s",
            )
            .note(format!("events {sequence}")),
        );
        record.figures.push(hodograph_figure(
            instance.name,
            &format!("Jia & Wang, Fig. {label}: friction {}", instance.friction),
            &format!("Hodograph. Events {sequence}. {}", instance.what),
            &setup,
            &trace,
        ));
    }
    record.tables.push(table);
    Ok(record)
}
