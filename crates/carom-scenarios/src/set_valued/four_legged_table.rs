//! A table that lands on four legs: the family of outcomes, and its member for equally compliant legs.

use super::spatial_box::BoxConfig;
use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Count, Input, Positive};
use carom_contact::{ContactSet, Diagnostics, ImpactLaw, ImpactProblem};
use carom_impact::frictional::{AnitescuPotra, CounterRng};
use carom_metric::{Covector, KineticMetric};
use carom_report::record::{Quantity, Record};
use nalgebra::DMatrix;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    tables: Count<1, 10_000>,
    seed: u64,
    softness: Positive,
    #[serde(rename = "box")]
    body: BoxConfig,
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let problem = config.body.problem()?;
    let outcome = AnitescuPotra::default().resolve(&problem)?;
    if let Diagnostics::Cone(cone) = &outcome.diagnostics {
        record
            .quantities
            .push(Quantity::new("family", cone.family as f64, ""));
    }
    let even = outcome.velocity_plus.0;
    let (mut spin, mut speed) = (Vec::new(), Vec::new());
    for table in 0..*config.tables as u64 {
        let mut rng = CounterRng::new(config.seed, table, 0);
        let feet: [f64; 4] = std::array::from_fn(|_| *config.softness * rng.next_uniform());
        let v = on_feet(&problem, &feet)?;
        speed.push(v[0]);
        spin.push(v[5]);
    }
    let extent = |x: &[f64]| {
        let high = x.iter().fold(f64::NEG_INFINITY, |a, x| f64::max(a, *x));
        let low = x.iter().fold(f64::INFINITY, |a, x| f64::min(a, *x));
        [low, high]
    };
    let [low, high] = extent(&spin);
    record.quantities.extend([
        Quantity::new("even_vx_m_per_s", even[0], "m/s"),
        Quantity::new("even_vy_m_per_s", even[1], "m/s"),
        Quantity::new("even_spin_rad_per_s", even[5], "rad/s"),
        Quantity::new("least_spin_rad_per_s", low, "rad/s"),
        Quantity::new("largest_spin_rad_per_s", high, "rad/s"),
    ]);
    Plot::new("four-legged-table/family")
        .with("random feet", speed, spin)
        .through("even", [[even[0], even[5]]])
        .draw(&mut record)?;
    Ok(record)
}

/// Returns the velocity of the table after the impact for a table with an elastic foot under each leg. A foot yields with a
/// velocity proportional to the impulse on it. `feet`: mobility of each foot (velocity per impulse), which is added in all rows
/// of the contact of this foot.
fn on_feet(
    problem: &ImpactProblem,
    feet: &[f64; 4],
) -> Result<nalgebra::DVector<f64>, ScenarioError> {
    let given = problem.contacts().contacts();
    let body = problem.contacts().metric().mass_matrix();
    let n = body.nrows();
    let extra = 3 * feet.len();
    // A mobility e at a row is modeled as a coordinate of mass 1/e that acts in this row only.
    let mass = DMatrix::from_fn(n + extra, n + extra, |i, j| match (i < n, i == j) {
        (true, _) if j < n => body[(i, j)],
        (false, true) => 1.0 / feet[(i - n) / 3],
        _ => 0.0,
    });
    let metric = KineticMetric::new(mass)?;
    let wider = |row: &Covector, place: usize| {
        let mut entries = vec![0.0; n + extra];
        entries[..n].copy_from_slice(row.0.as_slice());
        entries[n + place] = 1.0;
        Covector::from_slice(&entries)
    };
    let contacts = given.iter().enumerate().map(|(i, contact)| {
        let tangents = contact.tangents.iter().enumerate();
        contact
            .clone()
            .with_normal(wider(&contact.normal, 3 * i))
            .with_tangents(
                tangents
                    .map(|(t, row)| wider(row, 3 * i + 1 + t))
                    .collect::<Vec<_>>(),
            )
    });
    let contacts = ContactSet::new(metric, contacts.collect())?;
    let mut velocity = problem.velocity_minus().clone();
    velocity.0 = velocity.0.resize_vertically(n + extra, 0.0);
    let outcome = AnitescuPotra::default().resolve(&ImpactProblem::new(&contacts, velocity)?)?;
    Ok(outcome.velocity_plus.0)
}
