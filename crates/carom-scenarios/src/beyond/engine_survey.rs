//! Judges impacts computed by rigid-body engines.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::Input;
use crate::propagative::model::{chain_normals, row};
use carom_contact::{Contact, ContactSet, ImpactProblem};
use carom_impact::Propagative;
use carom_impact::frictional::{AnitescuPotra, MoreauNewton};
use carom_judge::{JudgeOptions, Judgement, judge};
use carom_metric::{KineticMetric, Tangent};
use carom_report::record::{Axis, Column, Quantity, Record, Table};
use nalgebra::DMatrix;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    tolerance: f64,
    samples: u64,
    seed: u64,
}

/// Outcomes of rigid-body engines, measured by us with a time step of 1 ms (MuJoCo 0.1 ms).
///
/// Balls: 1 kg each, in a row, the first at 1 m/s, restitution 1; the values are the velocities after the impact (m/s).
/// Flat drops: a box that lands flat; upward velocity after the impact divided by the speed before. Rocking block: 0.2 m
/// wide, 1 m high, no restitution; angular velocity after the impact divided by that before.
const MEASURED: &str = include_str!("../../data/engine_impacts.csv");

/// Measured outcome of one engine in one case.
struct Measured<'d> {
    case: &'d str,
    engine: &'d str,
    version: &'d str,
    solver: &'d str,
    numbers: Vec<f64>,
}

fn measured() -> Result<Vec<Measured<'static>>, ScenarioError> {
    let bad = |line: &str| ScenarioError::value("engine_impacts.csv", line);
    let mut all = Vec::new();
    for line in MEASURED.lines().skip(1) {
        let fields: Vec<&'static str> = line.split(',').collect();
        let [case, engine, version, solver, numbers] = fields[..] else {
            return Err(bad(line));
        };
        let numbers = numbers.split_whitespace().map(str::parse);
        all.push(Measured {
            case,
            engine,
            version,
            solver,
            numbers: numbers.collect::<Result<_, _>>().map_err(|_| bad(line))?,
        });
    }
    Ok(all)
}

/// An impact that the engines computed.
struct Case {
    name: &'static str,
    mass: DMatrix<f64>,
    contacts: Vec<Contact>,
    before: Vec<f64>,
    /// Converts the measured values to the velocity after the impact.
    after: fn(&[f64]) -> Vec<f64>,
    /// Name of the law whose outcome is the textbook's.
    textbook: &'static str,
}

fn balls(name: &'static str, n: usize) -> Case {
    let contact = |normal| Contact::frictionless(normal).with_restitution(1.0);
    let mut before = vec![0.0; n];
    before[0] = 1.0;
    Case {
        name,
        mass: DMatrix::identity(n, n),
        contacts: chain_normals(n).into_iter().map(contact).collect(),
        before,
        after: <[f64]>::to_vec,
        textbook: Propagative::NAME,
    }
}

/// Builds the survey case of a box that drops flat onto the floor. The only coordinate of the box is the height: the
/// measured data contain the speed of rotation of the box, but not its axis. `name`: name of the case; `restitution`:
/// coefficient of restitution of the contact.
fn flat(name: &'static str, restitution: f64) -> Case {
    Case {
        name,
        mass: DMatrix::identity(1, 1),
        contacts: vec![Contact::frictionless(row(1, &[(0, 1.0)])).with_restitution(restitution)],
        before: vec![-1.0],
        after: <[f64]>::to_vec,
        textbook: MoreauNewton::NAME,
    }
}

/// Builds the survey case of a rocking block, which turns about its left corner and lands on the right one. A measured angular
/// velocity of a physics engine is interpreted as rotation about the right corner.
fn rocking() -> Case {
    let (x, y) = (0.1, 0.5);
    let corner = |x: f64| {
        Contact::new(row(3, &[(1, 1.0), (2, x)]))
            .with_tangents(vec![row(3, &[(0, 1.0), (2, y)])])
            .with_friction(1.0)
    };
    let inertia = (4.0 * x * x + 4.0 * y * y) / 12.0;
    Case {
        name: "rocking-block",
        mass: DMatrix::from_diagonal(&nalgebra::dvector![1.0, 1.0, inertia]),
        contacts: vec![corner(-x), corner(x)],
        before: vec![y, -x, -1.0],
        after: |ratio| ratio.iter().flat_map(|r| [0.5 * r, 0.1 * r, -r]).collect(),
        textbook: AnitescuPotra::NAME,
    }
}

fn cases() -> Vec<Case> {
    vec![
        balls("three-balls", 3),
        balls("five-balls", 5),
        balls("three-balls-apart", 3),
        flat("flat-drop", 1.0),
        flat("flat-drop-half", 0.5),
        rocking(),
    ]
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let options = JudgeOptions::default()
        .with_tolerance(config.tolerance)
        .with_samples(config.samples)
        .with_seed(config.seed);
    let all = measured()?;
    let mut entries = Vec::new();
    for case in cases() {
        let metric = KineticMetric::new(case.mass)?;
        let contacts = ContactSet::new(metric, case.contacts)?;
        let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&case.before))?;
        let mut table = table(case.name);
        let (mut recognized, mut gained) = (0, 0);
        for measured in all.iter().filter(|m| m.case == case.name) {
            let after = Tangent::from_slice(&(case.after)(&measured.numbers));
            let judgement = judge(&problem, &after, &options)?;
            table.rows.push(numbers(&judgement, case.textbook));
            recognized += usize::from(judgement.matches().next().is_some());
            gained += usize::from(judgement.energy_change() == carom_judge::EnergyChange::Gained);
            entries.push(entry(measured, &after, &judgement));
        }
        let prefix = case.name.replace('-', "_");
        let count = table.rows.len() as f64;
        for (name, value) in [
            ("outcomes", count),
            ("matching_a_law", recognized as f64),
            ("gaining_energy", gained as f64),
        ] {
            let quantity = Quantity::new(format!("{prefix}_{name}"), value, "");
            record.quantities.push(quantity);
        }
        record.tables.push(table);
    }
    figure(&all).draw(&mut record)?;
    record
        .results
        .insert("judgements".to_owned(), Value::Array(entries));
    Ok(record)
}

fn table(case: &str) -> Table {
    Table::new(
        case.replace('-', "_"),
        format!("{case}: one row for each solver, in the order of `judgements`."),
        [
            "energy_ratio",
            "distance_to_nearest",
            "distance_to_textbook",
            "penetration_residual",
            "friction_residual",
            "distance_to_outcome_set",
        ]
        .map(|name| Column::new(name, ""))
        .to_vec(),
    )
}

fn numbers(judgement: &Judgement, textbook: &str) -> Vec<f64> {
    let nearest = judgement.nearest().map_or(0.0, |law| law.distance);
    let textbook = judgement.laws.iter().find(|law| law.law == textbook);
    vec![
        judgement.energy_ratio.unwrap_or_default(),
        nearest,
        textbook.map_or(0.0, |law| law.distance),
        judgement.audit.penetration_residual,
        judgement.explanation.friction_residual,
        judgement
            .outcome_set
            .as_ref()
            .map_or(0.0, |set| set.distance),
    ]
}

fn entry(measured: &Measured<'_>, after: &Tangent, judgement: &Judgement) -> Value {
    let laws = judgement.matches().map(|law| {
        json!({
            "law": law.law,
            "restitution": law.restitution.map(|fit| fit.value),
            "fitted": law.restitution.is_some_and(|fit| fit.is_fitted),
        })
    });
    json!({
        "case": measured.case,
        "engine": measured.engine,
        "version": measured.version,
        "solver": measured.solver,
        "velocity_plus": after.0.as_slice(),
        "energy_ratio": judgement.energy_ratio,
        "nearest": judgement.nearest().map(|law| law.law),
        "distance": judgement.nearest().map(|law| law.distance),
        "matches": laws.collect::<Vec<Value>>(),
        "verdict": judgement.verdict(),
    })
}

/// Draws the outcomes of the impact of three balls: one row for each impact law and for each solver of a physics engine, with
/// the velocities of the three balls after the impact. `all`: measured outcomes of all survey cases.
fn figure(all: &[Measured<'_>]) -> Plot {
    let third = 1.0 / 3.0;
    let mut rows: Vec<(String, Vec<f64>)> = vec![
        ("propagative law".to_owned(), vec![0.0, 0.0, 1.0]),
        (
            "Newton's restitution".to_owned(),
            vec![-third, 2.0 * third, 2.0 * third],
        ),
        ("plastic law".to_owned(), vec![third; 3]),
    ];
    for measured in all.iter().filter(|m| m.case == "three-balls") {
        let name = format!("{} {}", measured.engine, measured.solver);
        rows.push((name, measured.numbers.clone()));
    }
    let n = rows.len() as f64;
    let mut plot = Plot::new("engine-survey/three_balls");
    plot.figure.y = Axis::named(
        "",
        rows.iter().rev().map(|(name, _)| name.clone()).collect(),
    );
    for (ball, name) in ["first ball", "second ball", "third ball"]
        .into_iter()
        .enumerate()
    {
        let velocity = |v: &[f64]| v.get(ball).copied().unwrap_or_default();
        let places = rows.iter().enumerate();
        plot = plot.through(
            name,
            places.map(|(row, (_, v))| [velocity(v), n - row as f64]),
        );
    }
    plot
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Overrides;

    fn judgements() -> Vec<Value> {
        let record = crate::scenario("engine-survey")
            .unwrap()
            .run(&Overrides::default())
            .unwrap();
        record.results["judgements"].as_array().unwrap().clone()
    }

    /// Checks that the outcomes of Siconos match Moreau's law in every case, because Siconos solves the complementarity problem
    /// of this law. The other engines give only velocities.
    #[test]
    fn a_complementarity_solver_is_recognized_in_every_case() {
        let all = judgements();
        let of = |case: &str| {
            let entry = all
                .iter()
                .find(|e| e["engine"] == "Siconos" && e["case"] == case);
            let laws = entry.unwrap()["matches"].as_array().unwrap().clone();
            laws.iter().any(|law| {
                (law["law"] == MoreauNewton::NAME || law["law"] == AnitescuPotra::NAME)
                    && law["fitted"] == false
            })
        };
        for case in [
            "three-balls",
            "five-balls",
            "flat-drop",
            "flat-drop-half",
            "rocking-block",
        ] {
            assert!(of(case), "{case}");
        }
    }

    #[test]
    fn an_engine_that_does_nothing_is_said_to() {
        let all = judgements();
        let ode = all
            .iter()
            .find(|e| e["engine"] == "ODE" && e["solver"] == "Dantzig");
        let verdict = ode.unwrap()["verdict"].as_str().unwrap();
        assert!(
            verdict.contains("Leaves contact 0 approaching"),
            "{verdict}"
        );
    }
}
