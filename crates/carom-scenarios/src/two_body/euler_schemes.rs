//! Accuracy of the paper's integration schemes compared with this library: Jia & Wang, Table 1.

use crate::ScenarioError;
use crate::config::{Input, Positive};
use crate::published::printed;
use crate::two_body::euler_impact::{EulerScheme, euler_impact};
use crate::two_body::sliding::{
    ICOSAHEDRON_TETRAHEDRON, ICOSAHEDRON_VELOCITY, PIN_BALL, PIN_VELOCITY, Setup,
};
use carom_impact::two_body::{ContactResponse, ImpactOptions, solve_impact};
use carom_report::record::{Axis, Color, Column, Figure, Mark, Quantity, Record, Table};
use nalgebra::Vector3;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    h1: Positive,
    h2: Positive,
}

/// A contact of the table, with the step lengths of the schemes and the printed results.
struct Impact {
    name: &'static str,
    inertia: [[f64; 3]; 3],
    velocity: [f64; 3],
    friction: f64,
    restitution: f64,
    /// Step lengths of the scheme for the true solution, and of the schemes NI and FS.
    steps: [f64; 3],
}

const IMPACTS: [Impact; 2] = [
    Impact {
        name: "icosahedron",
        inertia: ICOSAHEDRON_TETRAHEDRON,
        velocity: ICOSAHEDRON_VELOCITY,
        friction: 0.8,
        restitution: 0.95,
        steps: [1e-6, 0.00095, 0.001],
    },
    Impact {
        name: "pin",
        inertia: PIN_BALL,
        velocity: PIN_VELOCITY,
        friction: 0.7,
        restitution: 0.7,
        steps: [1e-6, 0.001, 0.002],
    },
];

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    for impact in IMPACTS {
        one(&impact, &config, &mut record)?;
    }
    Ok(record)
}

fn one(impact: &Impact, config: &Config, record: &mut Record) -> Result<(), ScenarioError> {
    let setup = Setup::new(
        &impact.inertia,
        impact.velocity,
        impact.friction,
        impact.restitution,
    )?;
    let exact = setup.trace()?.impact.impulse;
    let euler = |scheme: EulerScheme| -> Result<(f64, f64), ScenarioError> {
        let found = euler_impact(&setup, &scheme)?;
        Ok((found.iterations as f64, (found.impulse - exact).norm()))
    };
    let [truth, pure, fixed] = impact.steps;
    let (first, second) = (*config.h1, *config.h2);
    let schemes = [
        ("truth", EulerScheme::Fixed { step: truth }),
        ("ni", EulerScheme::Pure { step: pure }),
        ("fs", EulerScheme::Fixed { step: fixed }),
        ("vs", EulerScheme::Variable { first, second }),
    ];
    let mut table = Table::new(
        format!("{}_schemes", impact.name),
        "Table 1 (rows: truth, NI, FS, VS) and this library at four tolerances: iterations, the \
         paper's iterations (0: none), error against the exact impulse.",
        vec![
            Column::new("iterations", ""),
            Column::new("paper_iterations", ""),
            Column::new("error", "N s"),
        ],
    );
    let mut shown = [Vec::new(), Vec::new()];
    for (name, scheme) in schemes {
        let (iterations, error) = euler(scheme)?;
        let key = |ending: &str| format!("{}_{name}_{ending}", impact.name);
        let theirs = printed("euler-schemes", &key("iterations"))?;
        table.rows.push(vec![iterations, theirs, error]);
        record.quantities.extend([
            Quantity::new(key("iterations"), iterations, ""),
            Quantity::new(key("error_ns"), error, "N s"),
        ]);
        shown[0].push(iterations);
        shown[1].push(error);
    }
    let mut ours = [Vec::new(), Vec::new()];
    for tolerance in [1e-3, 1e-5, 1e-7, 1e-9] {
        let options = setup.options().with_tolerance(tolerance);
        let (steps, error) = arcs(&setup, &options, &exact)?;
        // Errors below rounding error are drawn at 1e-16.
        let error = error.max(1e-16);
        table.rows.push(vec![steps, 0.0, error]);
        ours[0].push(steps);
        ours[1].push(error);
    }
    let mut figure = Figure::new(
        format!("table1_{}", impact.name),
        format!("Work and error, {}", impact.name),
        "Jia & Wang's schemes of Table 1 (each at one setting) and Taylor arcs at tolerances from \
         1e-3 to 1e-9. One arc costs about as much as twenty Euler steps.",
        Axis::log("iterations", ""),
        Axis::log("error of the impulse", "N s"),
    );
    for (k, (label, color)) in [
        ("NI", Color::Orange),
        ("FS", Color::Green),
        ("VS", Color::Vermillion),
    ]
    .into_iter()
    .enumerate()
    {
        let (x, y) = (vec![shown[0][k + 1]], vec![shown[1][k + 1]]);
        figure.marks.push(Mark::points(label, x, y, color));
    }
    let [x, y] = ours;
    figure
        .marks
        .push(Mark::points("this library", x, y, Color::Blue));
    record.tables.push(table);
    record.figures.push(figure);
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
