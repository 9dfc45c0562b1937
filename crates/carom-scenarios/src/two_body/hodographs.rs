//! Hodographs of given impacts; by default the modified examples of Jia & Wang, Figs. 4, 7 and 10.

use crate::ScenarioError;
use crate::config::{Fraction, Input, NonNegative};
use crate::two_body::cases::{Body, Contact, Place, check_names};
use crate::two_body::sliding::{Setup, hodograph_figure};
use carom_impact::two_body::{Event, RestitutionLaw};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    inverse_inertia: [[f64; 3]; 3],
    body1: Option<Body>,
    body2: Option<Body>,
    contact: Option<Place>,
    restitution: Fraction,
    instances: Vec<Instance>,
}

/// One impact.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Instance {
    name: String,
    friction: NonNegative,
    velocity: Option<[f64; 3]>,
    #[serde(default)]
    caption: String,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    check_names("instances", config.instances.iter().map(|i| &*i.name))?;
    let contact = Contact::new(
        input,
        &config.inverse_inertia,
        config.body1.as_ref(),
        config.body2.as_ref(),
        config.contact.as_ref(),
    )?;
    let is_paper = input.has_defaults(&[]);
    let mut table = Table::new(
        "instances",
        "Impulse, events (normal impulse; 0 if absent) and closest approach to the origin.",
        Column::list(
            "friction, impulse_x [N s], impulse_y [N s], impulse_z [N s], \
             compression_ends [N s], sliding_stops [N s], slowest_sliding [m/s]",
        ),
    );
    for instance in &config.instances {
        let name = &instance.name;
        let setup = Setup {
            inertia: contact.inertia,
            velocity: contact.velocity(instance.velocity, name)?,
            friction: *instance.friction,
            restitution: *config.restitution,
            law: RestitutionLaw::default(),
        };
        let trace = setup.trace_of("instances", name)?;
        let impact = &trace.impact;
        let at = |event| impact.events.first(event).map_or(0.0, |e| e.impulse[2]);
        let slowest = trace
            .points
            .iter()
            .map(|p| p.velocity.xy().norm())
            .fold(f64::INFINITY, f64::min);
        table.rows.push(vec![
            setup.friction,
            impact.impulse.x,
            impact.impulse.y,
            impact.impulse.z,
            at(Event::CompressionEnd),
            at(Event::SlipZero),
            slowest,
        ]);
        let sequence = impact.events.sequence();
        for (axis, value) in ["x", "y", "z"].iter().zip(impact.impulse.iter()) {
            record.quantities.push(
                Quantity::new(format!("{name}_impulse_{axis}_ns"), *value, "N s")
                    .note(format!("events {sequence}")),
            );
        }
        let title = if is_paper {
            format!("Jia & Wang, Fig. {}", panel(name))
        } else {
            name.clone()
        };
        let title = format!("{title}: friction {}", setup.friction);
        let caption = format!("Hodograph. Events {sequence}. {}", instance.caption);
        let texts = [name, title.as_str(), caption.trim_end()];
        hodograph_figure(texts, &setup, &trace).draw(&mut record)?;
    }
    record.tables.push(table);
    Ok(record)
}

/// Returns the paper's label of a figure, `4(a)`, by its name, `fig4a`.
fn panel(name: &str) -> String {
    let label = name.trim_start_matches("fig");
    match label.trim_end_matches(char::is_alphabetic) {
        number if number == label => number.to_owned(),
        number => format!("{number}({})", &label[number.len()..]),
    }
}
