//! A contact that gives way sideways, from soft to rigid.

use crate::config::count;
use crate::scenario::{Configuration, begin};
use crate::two_body::sliding::{ICOSAHEDRON_TETRAHEDRON, ICOSAHEDRON_VELOCITY, Setup};
use crate::{Overrides, Scenario, ScenarioError};
use carom_impact::two_body::{CompliantImpact, CompliantPhase, compliant_impact};
use carom_report::record::{Axis, Color, Column, Figure, LineStyle, Mark, Quantity, Record, Table};
use serde::{Deserialize, Serialize};

pub(crate) const SCENARIO: Scenario = Scenario::new::<Config>(
    "tangential-compliance",
    "springs at the contact that give way sideways too, from soft to rigid",
    "Jia & Wang",
    "beyond the paper: its impact of Fig. 3 on lumped springs",
    run,
);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    velocity: [f64; 3],
    friction: f64,
    restitution: f64,
    softest: f64,
    hardest: f64,
    samples: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            velocity: ICOSAHEDRON_VELOCITY,
            friction: 0.8,
            restitution: 0.95,
            softest: 0.1,
            hardest: 1000.0,
            samples: 81,
        }
    }
}

impl Configuration for Config {
    const TOML: &'static str = "\
velocity = [-0.261976, 0.386329, -0.077174]   # m/s, of the contact; the third closes if negative
friction = 0.8
restitution = 0.95
softest = 0.1        # tangential stiffness over normal stiffness
hardest = 1000.0
samples = 81         # between them, in equal ratios
";
}

fn letters(impact: &CompliantImpact) -> String {
    let names = impact.phases.iter().map(|phase| match phase {
        CompliantPhase::Slip => "slip",
        CompliantPhase::Stick => "stick",
    });
    names.collect::<Vec<_>>().join("-")
}

fn run(overrides: &Overrides) -> Result<Record, ScenarioError> {
    let (config, mut record) = begin::<Config>(overrides)?;
    count("samples", config.samples, 2, 10_000)?;
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
        config.friction,
        config.restitution,
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
        [
            "ratio",
            "impulse_x",
            "impulse_y",
            "impulse_z",
            "velocity_x",
            "velocity_y",
            "phases",
        ]
        .iter()
        .zip(["", "N s", "N s", "N s", "m/s", "m/s", ""])
        .map(|(name, unit)| Column::new(*name, unit))
        .collect(),
    );
    let steps = (config.samples - 1) as f64;
    for k in 0..config.samples {
        let ratio = config.softest * (config.hardest / config.softest).powf(k as f64 / steps);
        let found = on_springs(ratio)?;
        let (i, v) = (found.impulse, found.velocity_plus);
        let phases = found.phases.len() as f64;
        table
            .rows
            .push(vec![ratio, i.x, i.y, i.z, v.x, v.y, phases]);
    }
    let rigid = setup.trace()?.impact;
    let column = |k: usize| table.rows.iter().map(|row| row[k]).collect::<Vec<_>>();
    let mut figure = Figure::new(
        "stiffness",
        "Sliding velocity after the impact",
        "The rigid contact sticks and leaves at rest. A contact on springs leaves with what its \
         tangential oscillation happens to be when the normal spring is released; the harder the \
         spring, the less.",
        Axis::log("tangential stiffness over normal stiffness", ""),
        Axis::linear("sliding velocity after", "m/s"),
    )
    .mark(Mark::line("x", column(0), column(4), Color::Blue))
    .mark(Mark::line("y", column(0), column(5), Color::Vermillion));
    let ends = vec![config.softest, config.hardest];
    let after = rigid.velocity_plus;
    for (label, value) in [(Some("rigid".to_owned()), after.x), (None, after.y)] {
        figure = figure.mark(Mark::Line {
            label,
            x: ends.clone(),
            y: vec![value; 2],
            style: LineStyle::Dashed,
            color: Color::Gray,
        });
    }
    record.figures.push(figure);
    record.tables.push(table);
    Ok(record)
}
