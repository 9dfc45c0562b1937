//! Accuracy of the integration schemes of Jia & Wang, Table 1, compared with this library.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Fraction, Input, NonNegative, Positive};
use crate::published::printed;
use crate::two_body::cases::{Body, Contact, Place, check_names, inertia};
use crate::two_body::euler_impact::{EulerScheme, euler_impact};
use crate::two_body::sliding::Setup;
use carom_impact::two_body::{ContactResponse, ImpactOptions, RestitutionLaw, solve_impact};
use carom_report::record::{Column, Quantity, Record, Table};
use nalgebra::Vector3;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    inverse_inertia: [[f64; 3]; 3],
    body1: Option<Body>,
    body2: Option<Body>,
    contact: Option<Place>,
    restitution: Fraction,
    h1: Positive,
    h2: Positive,
    instances: Vec<Instance>,
}

/// One impact, with the settings of the schemes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Instance {
    name: String,
    friction: NonNegative,
    velocity: Option<[f64; 3]>,
    inverse_inertia: Option<[[f64; 3]; 3]>,
    restitution: Option<Fraction>,
    steps: Steps,
    h1: Option<Positive>,
    h2: Option<Positive>,
}

/// Steps of the normal impulse (N s).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    truth: Positive,
    ni: Positive,
    fs: Positive,
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
    for instance in &config.instances {
        let own = instance.inverse_inertia.as_ref().map(inertia).transpose()?;
        let setup = Setup {
            inertia: own.unwrap_or(contact.inertia),
            velocity: contact.velocity(instance.velocity, &instance.name)?,
            friction: *instance.friction,
            restitution: *instance.restitution.unwrap_or(config.restitution),
            law: RestitutionLaw::default(),
        };
        let [first, second] = [
            *instance.h1.unwrap_or(config.h1),
            *instance.h2.unwrap_or(config.h2),
        ];
        let steps = &instance.steps;
        let schemes = [
            ("truth", EulerScheme::Fixed { step: *steps.truth }),
            ("ni", EulerScheme::Pure { step: *steps.ni }),
            ("fs", EulerScheme::Fixed { step: *steps.fs }),
            ("vs", EulerScheme::Variable { first, second }),
        ];
        one(&instance.name, &setup, schemes, is_paper, &mut record)?;
    }
    Ok(record)
}

/// Adds the results of the schemes for one impact to a record. `is_paper`: the impacts are those of the paper.
fn one(
    impact: &str,
    setup: &Setup,
    schemes: [(&str, EulerScheme); 4],
    is_paper: bool,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let exact = setup.trace_of("instances", impact)?.impact.impulse;
    let euler = |scheme: EulerScheme| -> Result<(f64, f64), ScenarioError> {
        let found = euler_impact(setup, &scheme)?;
        Ok((found.iterations as f64, (found.impulse - exact).norm()))
    };
    let mut table = Table::new(
        format!("{impact}_schemes"),
        "Table 1 (rows: truth, NI, FS, VS) and this library at four tolerances: iterations, the \
         paper's iterations (0: none), error against the exact impulse.",
        Column::list("iterations, paper_iterations, error [N s]"),
    );
    // Errors below rounding error are drawn at 1e-16.
    let drawn = |error: f64| error.max(1e-16);
    for (name, scheme) in schemes {
        let (iterations, error) = euler(scheme)?;
        let key = |ending: &str| format!("{impact}_{name}_{ending}");
        let theirs = if is_paper {
            printed("euler-schemes", &key("iterations"))?
        } else {
            0.0
        };
        table.rows.push(vec![iterations, theirs, error]);
        record.quantities.extend([
            Quantity::new(key("iterations"), iterations, ""),
            Quantity::new(key("error_ns"), error, "N s"),
        ]);
    }
    for tolerance in [1e-3, 1e-5, 1e-7, 1e-9] {
        let options = setup.options().with_tolerance(tolerance);
        let (steps, error) = arcs(setup, &options, &exact)?;
        table.rows.push(vec![steps, 0.0, drawn(error)]);
    }
    let place = |row: &Vec<f64>| [row[0].max(1.0), drawn(row[2])];
    let mut plot = Plot::new("euler-schemes/table1").fill("impact", impact);
    for (label, row) in ["NI", "FS", "VS"]
        .into_iter()
        .zip(table.rows.iter().skip(1))
    {
        plot.curve(label, label, [place(row)]);
    }
    let ours = table.rows.iter().skip(schemes.len()).map(place);
    plot.through("this library", ours).draw(record)?;
    record.tables.push(table);
    Ok(())
}

/// Solves the impact by this library and returns the number of arcs (smooth pieces of the solution), and the error of the
/// impulse (N s). `options`: contains the tolerance; `exact`: exact impulse (N s).
fn arcs(
    setup: &Setup,
    options: &ImpactOptions,
    exact: &Vector3<f64>,
) -> Result<(f64, f64), ScenarioError> {
    let response = solve_impact(
        &setup.inertia,
        &setup.velocity,
        setup.friction,
        setup.restitution,
        options,
    )?;
    match response {
        ContactResponse::Impact(found) => Ok((found.steps as f64, (found.impulse - exact).norm())),
        _ => Err(ScenarioError::value(
            "velocity",
            "the contact does not close",
        )),
    }
}
