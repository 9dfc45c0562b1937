//! Bounds of all outcomes of an impact: input and output as JSON.

use crate::error::WireError;
use carom_contact::{ImpactError, ImpactOutcome, ImpactProblem};
use carom_impact::frictional::Sampler;
use carom_impact::internal::Draw;
use carom_judge::PassedBound;
use carom_judge::bounds::{BoundCertificate, BoundMethod, OuterBound, OuterBounds, Relaxation};
use carom_metric::Covector;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Value of the option `bounds`: `{"directions": "contact" | [[n numbers], ...], "relaxation": "cone" | "moment"}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoundsInput {
    #[serde(default)]
    directions: DirectionsInput,
    #[serde(default)]
    relaxation: RelaxationInput,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum DirectionsInput {
    Named(NamedDirections),
    Given(Vec<Vec<f64>>),
}

impl Default for DirectionsInput {
    fn default() -> Self {
        Self::Named(NamedDirections::Contact)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum NamedDirections {
    Contact,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum RelaxationInput {
    #[default]
    Cone,
    Moment,
}

/// A direction in velocity space; `row` holds the contact and its row that define the direction.
struct Direction {
    entries: Vec<f64>,
    row: Option<(usize, usize)>,
}

/// Largest distance of a sample beyond a bound that counts as rounding error of the sample, divided by the largest
/// velocity that energy allows along the direction. A larger distance is a defect of the sample or of the bound.
const SAMPLE_ROUNDING: f64 = 1e-7;

/// Computes bounds on the velocity after an impact along each direction that `input` requests, and writes the bounds as JSON.
/// Adds the least and the largest velocity of the sampled outcomes, which lie inside the bounds. `outcomes` holds the sampled
/// outcomes; with `None` the sampler draws `samples` outcomes again. `max_work` limits the work for the bounds.
pub(crate) fn bounds(
    sampler: &Sampler<'_>,
    input: &BoundsInput,
    outcomes: Option<&[ImpactOutcome]>,
    samples: u64,
    max_work: u64,
) -> Result<Value, WireError> {
    let problem = sampler.problem();
    let directions = directions(problem, input);
    let relaxation = match input.relaxation {
        RelaxationInput::Cone => Relaxation::Cone,
        RelaxationInput::Moment => Relaxation::Moment,
    };
    let rows: Vec<&[f64]> = directions.iter().map(|d| d.entries.as_slice()).collect();
    let found = OuterBounds::new(problem)?.bound_all(&rows, relaxation, max_work);
    let found = found.into_iter().enumerate();
    let found = found.map(|(k, bound)| bound.map_err(|error| refused(k, &error)));
    let found: Vec<OuterBound> = found.collect::<Result<_, _>>()?;
    let inner = inner(sampler, &directions, outcomes, samples)?;
    let written = directions.iter().zip(found).zip(inner);
    let written = written.enumerate().map(|(k, ((direction, bound), inner))| {
        let inner = match bound.method {
            BoundMethod::Exact => bound.outer,
            _ => within(k, inner, bound.outer, reach(problem, &direction.entries)?)?,
        };
        let mut fields = Map::new();
        fields.insert("direction".to_owned(), json!(direction.entries));
        if let Some((contact, row)) = direction.row {
            fields.insert("contact".to_owned(), contact.into());
            fields.insert("row".to_owned(), row.into());
        }
        fields.insert("inner".to_owned(), json!(inner));
        put_proven(&mut fields, &bound);
        if bound.is_limited {
            fields.insert("limit".to_owned(), "work".into());
        }
        if let Some(paths) = &bound.paths {
            let mut of_paths = Map::new();
            put_proven(&mut of_paths, paths);
            fields.insert("paths".to_owned(), Value::Object(of_paths));
        }
        Ok(Value::Object(fields))
    });
    Ok(Value::Array(written.collect::<Result<_, WireError>>()?))
}

/// Adds the keys `outer` (the interval), `method` and `certificate` (the proof) of a velocity bound to a JSON object.
fn put_proven(fields: &mut Map<String, Value>, bound: &OuterBound) {
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("outer", json!(bound.outer));
    put("method", bound.method.name().into());
    put(
        "certificate",
        json!({ "min": proofs(&bound.min), "max": proofs(&bound.max) }),
    );
}

/// Returns the largest velocity along a direction $c$ that the kinetic energy before the impact allows,
/// $\lVert c\rVert_{M^{-1}}\lVert v^-\rVert_M$, with the mass matrix $M$ and the velocity $v^-$ before the impact.
fn reach(problem: &ImpactProblem, direction: &[f64]) -> Result<f64, WireError> {
    let metric = problem.contacts().metric();
    let energy = metric.energy(problem.velocity_minus());
    let length = metric.norm(&Covector::from_slice(direction));
    match (energy, length) {
        (Ok(energy), Ok(length)) => Ok(length * (2.0 * energy).sqrt()),
        (Err(error), _) | (_, Err(error)) => Err(WireError::new(error.kind(), error)),
    }
}

/// Clips the interval `inner` of the sampled velocities to the proven bounds `[low, high]`. Rounding errors may carry a sample
/// slightly outside the bounds. `reach` is the largest velocity that the energy allows; the excess is compared with `reach`.
/// `index` is the number of the direction.
///
/// Returns an error of kind `internal` for a sample further outside: a defect of this program.
fn within(
    index: usize,
    inner: [f64; 2],
    [low, high]: [f64; 2],
    reach: f64,
) -> Result<[f64; 2], WireError> {
    let excess = f64::max(low - inner[0], inner[1] - high);
    // The comparison is written so that NaN fails.
    if !(excess <= SAMPLE_ROUNDING * reach) {
        let message = format!(
            "options.bounds: direction {index}: a sample lies {excess:e} outside the bounds {low:e} and {high:e}; \
             please report this problem"
        );
        return Err(WireError::new("internal", message));
    }
    Ok(inner.map(|x| x.max(low).min(high)))
}

fn refused(index: usize, error: &ImpactError) -> WireError {
    WireError::of(error).within(&format!("options.bounds: direction {index}"))
}

fn directions(problem: &ImpactProblem, input: &BoundsInput) -> Vec<Direction> {
    match &input.directions {
        DirectionsInput::Given(list) => list
            .iter()
            .map(|entries| Direction {
                entries: entries.clone(),
                row: None,
            })
            .collect(),
        DirectionsInput::Named(NamedDirections::Contact) => {
            let contacts = problem.contacts().contacts().iter().enumerate();
            let rows = contacts.flat_map(|(i, contact)| {
                let rows = std::iter::once(&contact.normal).chain(&contact.tangents);
                rows.enumerate().map(move |(row, covector)| Direction {
                    entries: covector.0.as_slice().to_vec(),
                    row: Some((i, row)),
                })
            });
            rows.collect()
        }
    }
}

/// Returns the least and the largest velocity after the impact along each direction, over the given `outcomes`, or else
/// over `samples` outcomes that are drawn again.
fn inner(
    sampler: &Sampler<'_>,
    directions: &[Direction],
    outcomes: Option<&[ImpactOutcome]>,
    samples: u64,
) -> Result<Vec<[f64; 2]>, WireError> {
    let mut extremes = vec![[f64::INFINITY, f64::NEG_INFINITY]; directions.len()];
    let mut meet = |velocity: &[f64]| {
        for (extreme, direction) in extremes.iter_mut().zip(directions) {
            let products = direction.entries.iter().zip(velocity).map(|(c, v)| c * v);
            let x: f64 = products.sum();
            *extreme = [extreme[0].min(x), extreme[1].max(x)];
        }
    };
    if let Some(outcomes) = outcomes {
        for outcome in outcomes {
            meet(outcome.velocity_plus.0.as_slice());
        }
    } else {
        let mut draw = Draw::default();
        for sample in 0..samples {
            // Samples that are not solved are counted by the summary.
            if sampler.draw(sample, &mut draw).is_err() || !draw.is_ended {
                continue;
            }
            if let Ok(outcome) = sampler.outcome(&draw) {
                meet(outcome.velocity_plus.0.as_slice());
            }
        }
    }
    Ok(extremes)
}

/// Writes as JSON a proven bound on a velocity component that the judged velocity exceeds, with the keys `direction`,
/// `value` (the judged component), `bound` and `certificate` (the proofs).
pub(crate) fn passed_fields(passed: &PassedBound) -> Value {
    json!({
        "direction": passed.direction.0.as_slice(),
        "value": passed.value,
        "bound": passed.bound,
        "certificate": proofs(&passed.certificates),
    })
}

fn proofs(certificates: &[BoundCertificate]) -> Vec<Value> {
    certificates.iter().filter_map(proof).collect()
}

/// Writes the proof of a velocity bound as a JSON object of its multipliers by name; `None` for a proof without
/// multipliers.
fn proof(certificate: &BoundCertificate) -> Option<Value> {
    match certificate {
        BoundCertificate::Cone(cone) => {
            Some(json!({ "last": cone.last, "nu": cone.nu, "w": cone.w }))
        }
        BoundCertificate::Moment(moment) => Some(json!({
            "last": moment.last,
            "p": moment.p,
            "a": moment.a,
            "alpha": moment.alpha,
            "beta": moment.beta,
            "nu": moment.nu,
            "eta": moment.eta,
            "tau": moment.tau,
        })),
        _ => None,
    }
}
