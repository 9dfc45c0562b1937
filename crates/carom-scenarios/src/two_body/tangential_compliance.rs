//! A contact with tangential compliance, from soft to rigid.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Fraction, Input, NonNegative};
use crate::two_body::sliding::{ICOSAHEDRON_TETRAHEDRON, Setup};
use carom_impact::two_body::{CompliantImpact, CompliantPhase, compliant_impact};
use carom_report::record::{Column, Quantity, Record, Table};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    velocity: [f64; 3],
    friction: NonNegative,
    restitution: Fraction,
    softest: f64,
    hardest: f64,
    samples: Count<2, 10_000>,
}

fn letters(impact: &CompliantImpact) -> String {
    let names = impact.phases.iter().map(|phase| match phase {
        CompliantPhase::Slip => "slip",
        CompliantPhase::Stick => "stick",
    });
    names.collect::<Vec<_>>().join("-")
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let ordered = 0.0 < config.softest && config.softest < config.hardest;
    if !(ordered && config.hardest.is_finite()) {
        return Err(ScenarioError::value(
            "softest",
            "must be positive and less than `hardest`",
        ));
    }
    let setup = Setup::new(
        &ICOSAHEDRON_TETRAHEDRON,
        config.velocity,
        *config.friction,
        *config.restitution,
    )?;
    let on_springs = |ratio: f64| -> Result<CompliantImpact, ScenarioError> {
        let found = compliant_impact(
            &setup.inertia,
            &setup.velocity,
            setup.friction,
            setup.restitution,
            ratio,
        )?;
        found.ok_or_else(|| ScenarioError::value("velocity", "the contact does not close"))
    };
    for (name, ratio) in [("soft", 0.3), ("equal", 1.0), ("hard", 10.0)] {
        let found = on_springs(ratio)?;
        for (axis, value) in ["x", "y", "z"].iter().zip(&found.impulse) {
            let name = format!("{name}_impulse_{axis}_ns");
            let note = format!("stiffness ratio {ratio}: {}", letters(&found));
            record
                .quantities
                .push(Quantity::new(name, *value, "N s").note(note));
        }
    }
    let mut table = Table::new(
        "stiffness",
        "Impulse and velocity after the impact against the ratio of the stiffnesses.",
        Column::list(
            "ratio, impulse_x [N s], impulse_y [N s], impulse_z [N s], velocity_x [m/s], \
             velocity_y [m/s], phases",
        ),
    );
    let steps = (*config.samples - 1) as f64;
    for k in 0..*config.samples {
        let ratio = config.softest * libm::pow(config.hardest / config.softest, k as f64 / steps);
        let found = on_springs(ratio)?;
        let (i, v) = (found.impulse, found.velocity_plus);
        let phases = found.phases.len() as f64;
        table
            .rows
            .push(vec![ratio, i.x, i.y, i.z, v.x, v.y, phases]);
    }
    let after = setup.trace()?.impact.velocity_plus;
    let ends = [config.softest, config.hardest];
    Plot::new("tangential-compliance/stiffness")
        .of(&table)
        .with("rigid", ends, [after.x; 2])
        .with("rigid, y", ends, [after.y; 2])
        .draw(&mut record)?;
    record.tables.push(table);
    Ok(record)
}
