//! Map of the break: indeterminacy as a function of the angle between the balls and of their mass.

use crate::ScenarioError;
use crate::common::linspace;
use crate::common::plot::Plot;
use crate::config::{Count, Input, Positive};
use crate::propagative::model::{System, propagative};
use carom_impact::Propagative;
use carom_metric::Covector;
use carom_report::record::{Column, Quantity, Record, Table};
use rayon::prelude::*;
use serde::Deserialize;
use std::f64::consts::{FRAC_PI_2, PI};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    angles: Count<2, 1000>,
    masses: Count<2, 1000>,
    angle: Positive<[f64; 2]>,
    mass: Positive<[f64; 2]>,
}

/// Reference points computed independently of this library, by reflections alone in both orders of impacts: angle, mass,
/// indeterminacy.
#[allow(clippy::excessive_precision, reason = "digits as they were computed")]
const CHECKED: [[f64; 3]; 6] = [
    [2.094_395_102_393_195_3, 1.0, 0.559_016_994_374_947_2],
    [1.2, 0.3, 0.326_891_755_846_088_54],
    [FRAC_PI_2, 4.0, 0.0],
    [2.0, 10.0, 0.764_102_848_740_179_5],
    [2.5, 1.0, 0.267_316_237_225_076_97],
    [2.8, 0.15, 0.122_769_836_967_578_14],
];

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    for (key, [low, high]) in [("angle", *config.angle), ("mass", *config.mass)] {
        if !(low < high) {
            return Err(ScenarioError::value(
                key,
                "the first value must be the lower",
            ));
        }
    }
    if !(config.angle[1] < PI) {
        return Err(ScenarioError::value("angle", "the angle must be below pi"));
    }
    let law = propagative(1.0)?;
    let angles = linspace(config.angle[0], config.angle[1], *config.angles);
    let [low, high] = config.mass.map(libm::log);
    let masses: Vec<f64> = linspace(low, high, *config.masses)
        .into_iter()
        .map(libm::exp)
        .collect();
    let row = |mass: &f64| -> Result<Vec<f64>, ScenarioError> {
        angles
            .iter()
            .map(|angle| indeterminacy(*angle, *mass, &law))
            .collect()
    };
    let values: Result<Vec<Vec<f64>>, ScenarioError> = masses.par_iter().map(row).collect();
    let values = values?;
    checked(&law, &mut record)?;
    summarize(&values, &mut record);
    let mut map = Plot::new("break-map/break_map").heat(&angles, &masses, values);
    for m in [2, 3] {
        let cosine = -libm::cos(PI / f64::from(m));
        let angle = |mass: f64| libm::acos(cosine * (2.0 * (1.0 + 1.0 / mass)).sqrt());
        let points = masses.iter().map(|mass| [angle(*mass), *mass]);
        let is_shown = |[angle, _]: &[f64; 2]| (config.angle[0]..=config.angle[1]).contains(angle);
        let line: Vec<[f64; 2]> = points.filter(is_shown).collect();
        if !line.is_empty() {
            map = map.through(&format!("m = {m}"), line);
        }
    }
    map.draw(&mut record)?;
    Ok(record)
}

/// Builds the billiard break with an angle (rad) between the two balls that are hit. Ball 1 has the mass 1, ball 2 the mass
/// `mass`, and the ball that hits both has the mass 1.
fn system(angle: f64, mass: f64) -> Result<System, ScenarioError> {
    let (s, c) = libm::sincos(0.5 * angle);
    let normals = [
        Covector::from_slice(&[c, s, 0.0, 0.0, -c, -s]),
        Covector::from_slice(&[0.0, 0.0, c, -s, -c, s]),
    ];
    System::diagonal(&[1.0, 1.0, mass, mass, 1.0, 1.0], normals.to_vec())
}

fn indeterminacy(angle: f64, mass: f64, law: &Propagative) -> Result<f64, ScenarioError> {
    let velocity = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    Ok(system(angle, mass)?
        .resolve_all(&velocity, law)?
        .indeterminacy)
}

fn checked(law: &Propagative, record: &mut Record) -> Result<(), ScenarioError> {
    let columns = "angle [rad], mass [kg], cosine, indeterminacy";
    let caption = "Points of the map: the cosine of the normals and the indeterminacy.";
    let mut table = Table::new("points", caption, Column::list(columns));
    for (k, [angle, mass, expected]) in CHECKED.into_iter().enumerate() {
        let cosine = system(angle, mass)?.cosine()?;
        let xi = indeterminacy(angle, mass, law)?;
        table.rows.push(vec![angle, mass, cosine, xi]);
        let closed = libm::cos(angle) / (2.0 * (1.0 + 1.0 / mass)).sqrt();
        record.quantities.extend([
            Quantity::new(format!("cosine_{k}"), cosine, "")
                .closed_form(closed, "cos(angle)/√(2(1 + 1/mass))"),
            Quantity::new(format!("indeterminacy_{k}"), xi, "").independent(
                expected,
                "reflections in both orders, apart from this library",
            ),
        ]);
    }
    record.tables.push(table);
    Ok(())
}

fn summarize(values: &[Vec<f64>], record: &mut Record) {
    let all = || values.iter().flatten();
    let n = all().count() as f64;
    let largest = all().fold(0.0, |a, b| f64::max(a, *b));
    record.quantities.extend([
        Quantity::new("largest_indeterminacy", largest, ""),
        Quantity::new("mean_indeterminacy", all().sum::<f64>() / n, ""),
    ]);
}
