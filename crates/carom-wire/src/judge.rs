//! Outcomes that somebody else computed, as JSON.

use crate::Answer;
use crate::bodies::{self, BodyInput, PlaceInput};
use crate::error::{WireError, typed};
use crate::resolve::{ContactInput, at, by_contact, check_law, contact_set, metric, pose};
use carom_impact::judge::{
    ContactReport, JudgeOptions, Judgement, LawMatch, OutcomeSetDistance, SetMethod,
};
use carom_impact::{ImpactError, ImpactProblem};
use carom_metric::Tangent;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The algebraic form: a problem and the velocity after.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AlgebraicInput {
    #[serde(default, rename = "id")]
    _id: Value,
    #[serde(default)]
    law: Option<String>,
    mass_matrix: Vec<Vec<f64>>,
    velocity: Vec<f64>,
    velocity_plus: Vec<f64>,
    #[serde(default)]
    contacts: Vec<ContactInput>,
    #[serde(default)]
    constraints: Vec<Vec<f64>>,
    #[serde(default)]
    options: OptionsInput,
}

/// Two bodies, and their velocities after.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodiesInput {
    #[serde(default, rename = "id")]
    _id: Value,
    #[serde(default)]
    law: Option<String>,
    #[serde(default)]
    friction: f64,
    #[serde(default)]
    restitution: f64,
    contact: PlaceInput,
    body1: BodyInput,
    #[serde(default)]
    body2: Option<BodyInput>,
    velocity1_plus: [f64; 3],
    angular_velocity1_plus: [f64; 3],
    #[serde(default)]
    velocity2_plus: Option<[f64; 3]>,
    #[serde(default)]
    angular_velocity2_plus: Option<[f64; 3]>,
    #[serde(default)]
    options: OptionsInput,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct OptionsInput {
    tolerance: Option<f64>,
    samples: Option<u64>,
    seed: u64,
    max_nodes: Option<usize>,
}

impl OptionsInput {
    fn options(&self) -> JudgeOptions {
        let defaults = JudgeOptions::default();
        JudgeOptions {
            tolerance: self.tolerance.unwrap_or(defaults.tolerance),
            samples: self.samples.unwrap_or(defaults.samples),
            seed: self.seed,
            max_nodes: self.max_nodes.unwrap_or(defaults.max_nodes),
        }
    }
}

/// Judges one outcome.
pub(crate) fn judge(value: Value) -> Result<Answer, WireError> {
    check_law(&value)?;
    let fields = if value.get("mass_matrix").is_none() && value.get("body1").is_some() {
        of_bodies(&typed(value, "")?)?
    } else {
        of_problem(&typed(value, "")?)?
    };
    Ok(Answer {
        fields,
        is_solved: true,
    })
}

fn of_problem(input: &AlgebraicInput) -> Result<Map<String, Value>, WireError> {
    let metric = metric(&input.mass_matrix)?;
    let contacts = contact_set(&metric, &input.contacts, &input.constraints)?;
    let problem = pose(&contacts, &input.velocity)?;
    let after = Tangent::from_slice(&input.velocity_plus);
    let wrong = |e: ImpactError| at("velocity_plus", &e);
    verdict(
        &problem,
        &after,
        &input.options,
        wrong,
        input.law.as_deref(),
    )
}

fn of_bodies(input: &BodiesInput) -> Result<Map<String, Value>, WireError> {
    let pair = bodies::pair(&input.contact, &input.body1, input.body2.as_ref())?;
    let metric = bodies::metric(&pair)?;
    let contacts = bodies::contact_set(&metric, &pair, input.friction, input.restitution)?;
    let problem = bodies::pose(&contacts, &pair)?;
    let mut after = [input.velocity1_plus, input.angular_velocity1_plus].concat();
    let second = [
        ("velocity2_plus", input.velocity2_plus),
        ("angular_velocity2_plus", input.angular_velocity2_plus),
    ];
    for (key, velocity) in second {
        match (velocity, &input.body2) {
            (Some(velocity), Some(_)) => after.extend(velocity),
            (None, None) => {}
            (None, Some(_)) => {
                let message = format!("missing field `{key}`: there is a body2");
                return Err(WireError::new("invalid-input", message));
            }
            (Some(_), None) => {
                let message = format!("{key}: there is no body2");
                return Err(WireError::new("invalid-input", message));
            }
        }
    }
    let after = Tangent::from_slice(&after);
    let wrong = |e: ImpactError| at("velocities after", &e);
    verdict(
        &problem,
        &after,
        &input.options,
        wrong,
        input.law.as_deref(),
    )
}

fn verdict(
    problem: &ImpactProblem<'_>,
    after: &Tangent,
    options: &OptionsInput,
    wrong: impl Fn(ImpactError) -> WireError,
    law: Option<&str>,
) -> Result<Map<String, Value>, WireError> {
    let judgement =
        carom_impact::judge::judge(problem, after, &options.options()).map_err(|e| match e {
            ImpactError::InvalidOption { .. } => at("options", &e),
            _ => wrong(e),
        })?;
    let mut fields = fields(problem, &judgement);
    if let Some(law) = law {
        let claimed = judgement.laws.iter().find(|entry| entry.law == law);
        fields.insert(
            "law_matches".to_owned(),
            claimed.is_some_and(|entry| entry.matches).into(),
        );
    }
    Ok(fields)
}

fn fields(problem: &ImpactProblem<'_>, judgement: &Judgement) -> Map<String, Value> {
    let (audit, fit) = (&judgement.audit, &judgement.explanation);
    let matches: Vec<&str> = judgement.matches().map(|law| law.law).collect();
    let refused = judgement.refused.iter().map(|refusal| {
        json!({
            "law": refusal.law,
            "kind": refusal.error.kind(),
            "message": refusal.error.to_string(),
        })
    });
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("verdict", judgement.verdict().into());
    put("matches", json!(matches));
    put("tolerance", judgement.options.tolerance.into());
    put("energy_minus_j", audit.energy_minus_j.into());
    put("energy_plus_j", audit.energy_plus_j.into());
    put("energy_ratio", json!(judgement.energy_ratio));
    put("energy", judgement.energy_change().name().into());
    put("momentum_residual", fit.momentum_residual.into());
    put("pull_residual", fit.pull_residual.into());
    put("friction_residual", fit.friction_residual.into());
    put("penetration_residual", audit.penetration_residual.into());
    put("constraint_residual", audit.constraint_residual.into());
    put(
        "impulses",
        json!(by_contact(problem, fit.impulses.as_slice())),
    );
    put(
        "admissible_impulses",
        json!(by_contact(problem, fit.admissible_impulses.as_slice())),
    );
    if !fit.constraint_impulses.is_empty() {
        put(
            "constraint_impulses",
            json!(fit.constraint_impulses.as_slice()),
        );
    }
    let contacts = judgement.contacts.iter().map(contact_fields);
    put("contacts", contacts.collect());
    put("laws", judgement.laws.iter().map(law_fields).collect());
    put("refused", refused.collect());
    let set = judgement.outcome_set.as_ref();
    let tolerance = judgement.options.tolerance;
    put(
        "outcome_set",
        set.map_or(Value::Null, |set| set_fields(set, tolerance)),
    );
    fields
}

fn contact_fields(contact: &ContactReport) -> Value {
    json!({
        "normal_velocity_minus": contact.normal_velocity_minus,
        "normal_velocity_plus": contact.normal_velocity_plus,
        "restitution": contact.restitution,
    })
}

fn law_fields(law: &LawMatch) -> Value {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("law", law.law.into());
    put("matches", law.matches.into());
    put("distance", law.distance.into());
    if let Some(fit) = law.restitution {
        put("restitution", fit.value.into());
        put("restitution_fitted", fit.is_fitted.into());
    }
    if !law.detail.is_empty() {
        put("detail", law.detail.as_str().into());
    }
    put("velocity_plus", json!(law.velocity_plus.0.as_slice()));
    Value::Object(fields)
}

fn set_fields(set: &OutcomeSetDistance, tolerance: f64) -> Value {
    let mut fields = json!({
        "contains": set.distance <= tolerance,
        "distance": set.distance,
        "method": set.method.name(),
        "nearest": set.nearest.0.as_slice(),
    });
    if let SetMethod::Sampled { members } = set.method {
        fields["members"] = members.into();
    }
    fields
}
