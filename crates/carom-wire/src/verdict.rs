//! Verdicts on outcomes in their JSON form.

use crate::bounds::passed_fields;
use crate::error::WireError;
use crate::judge_options::OptionsInput;
use crate::outcome::by_contact;
use crate::time_step::TimeStep;
use carom_contact::{ImpactError, ImpactLaw, ImpactProblem};
use carom_judge::{
    ContactReport, JudgeOptions, Judgement, LawMatch, Membership, PassedBound, SetVerdict, Witness,
    WitnessCone, judge_time_step, passed_bound,
};
use carom_metric::Tangent;
use serde_json::{Map, Value, json};

/// Judges the velocity `after` an impact in a time step, and writes all parts of the verdict as JSON fields. `law` is the
/// law that the engine claims to use; `wrong` converts errors other than invalid options.
pub(crate) fn verdict(
    step: &TimeStep,
    after: &Tangent,
    options: &OptionsInput,
    wrong: impl Fn(ImpactError) -> WireError,
    law: Option<&str>,
) -> Result<Map<String, Value>, WireError> {
    let judgement = judged(step, after, &options.options()?, wrong)?;
    let problem = &step.problem;
    let mut fields = balance(problem, &judgement);
    answers(problem, after, &judgement, &mut fields);
    if let Some(law) = law {
        let claimed = judgement.laws.iter().find(|entry| entry.law == law);
        fields.insert(
            "law_matches".to_owned(),
            claimed.is_some_and(|entry| entry.matches).into(),
        );
    }
    Ok(fields)
}

/// Judges the velocity `after` an impact in a time step. An invalid option becomes an error about the JSON key `options`;
/// `wrong` converts all other errors.
pub(crate) fn judged(
    step: &TimeStep,
    after: &Tangent,
    options: &JudgeOptions,
    wrong: impl Fn(ImpactError) -> WireError,
) -> Result<Judgement, WireError> {
    judge_time_step(&step.problem, &step.approach, after, options).map_err(|e| match e {
        ImpactError::InvalidOption { .. } => WireError::at("options", &e),
        _ => wrong(e),
    })
}

/// Writes the energies, fitted impulses, residuals and contact velocities of a judged impact as JSON fields.
pub(crate) fn balance(problem: &ImpactProblem, judgement: &Judgement) -> Map<String, Value> {
    let (audit, fit) = (&judgement.audit, &judgement.explanation);
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("verdict", judgement.verdict().into());
    put("tolerance", judgement.options.tolerance.into());
    put("energy_minus_j", audit.energy_minus_j.into());
    put("energy_plus_j", audit.energy_plus_j.into());
    let [minus, plus] = judgement.relative_energies_j;
    put("energy_relative_minus_j", minus.into());
    put("energy_relative_plus_j", plus.into());
    put("energy_ratio", json!(judgement.energy_ratio));
    put("energy", judgement.energy_change().name().into());
    put("momentum_residual", fit.momentum_residual.into());
    put("pull_residual", fit.pull_residual.into());
    put("friction_residual", fit.friction_residual.into());
    put("penetration_residual", audit.penetration_residual.into());
    put("constraint_residual", audit.constraint_residual.into());
    if judgement.has_coarse_data() {
        put("rounding", judgement.rounding.into());
    }
    put(
        "impulses",
        json!(by_contact(problem.contacts(), fit.impulses.as_slice())),
    );
    put(
        "admissible_impulses",
        json!(by_contact(
            problem.contacts(),
            fit.admissible_impulses.as_slice()
        )),
    );
    if !fit.constraint_impulses.is_empty() {
        put(
            "constraint_impulses",
            json!(fit.constraint_impulses.as_slice()),
        );
    }
    let contacts = judgement.contacts.iter().map(contact_fields);
    put("contacts", contacts.collect());
    fields
}

/// Adds to the JSON fields the laws whose outcome matches the judged velocity `after`, the laws that could not be applied,
/// and the position of the velocity relative to the set of inelastic outcomes.
fn answers(
    problem: &ImpactProblem,
    after: &Tangent,
    judgement: &Judgement,
    fields: &mut Map<String, Value>,
) {
    let matches: Vec<&str> = judgement.matches().map(|law| law.law).collect();
    let refused = judgement.refused.iter().map(|refusal| {
        let mut value = json!({
            "law": refusal.law,
            "kind": refusal.kind,
            "message": refusal.message,
        });
        if let Some(limit) = refusal.limit {
            value["limit"] = limit.name().into();
        }
        value
    });
    fields.shift_insert(1, "matches".to_owned(), json!(matches));
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("laws", judgement.laws.iter().map(law_fields).collect());
    put("refused", refused.collect());
    let set = judgement.outcome_set.as_ref();
    let passed = passed_bound(problem, after, judgement);
    put(
        "outcome_set",
        set.map_or(Value::Null, |set| set_fields(problem, set, passed.as_ref())),
    );
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
    put("verdict", law.verdict.name().into());
    put("distance", law.distance.into());
    if let Some(fit) = law.restitution {
        put("restitution", fit.value.into());
        put("restitution_fitted", fit.is_fitted.into());
    }
    if let Some(ratios) = &law.restitutions {
        put("restitutions", json!(ratios));
        put("restitution_fitted", true.into());
    }
    if !law.detail.is_empty() {
        put("detail", law.detail.as_str().into());
    }
    put("velocity_plus", json!(law.velocity_plus.0.as_slice()));
    if law.is_limited {
        put("limit", "work".into());
    }
    Value::Object(fields)
}

fn set_fields(problem: &ImpactProblem, set: &SetVerdict, passed: Option<&PassedBound>) -> Value {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("membership", set.membership.name().into());
    put("contains", json!(set.membership.contains()));
    match &set.membership {
        Membership::Inside(witness) | Membership::Near(witness) => {
            put("witness", witness_fields(problem, witness));
            if let Ok(Some(residual)) = witness.residual(problem) {
                put("residual", residual.into());
            }
        }
        Membership::Outside { reason, margin } => {
            put("reason", reason.name().into());
            put("margin", (*margin).into());
        }
        _ => {}
    }
    put("outside", passed.map_or(Value::Null, passed_fields));
    put("distance", set.distance.into());
    put("nearest", json!(set.nearest.0.as_slice()));
    put("members", set.members.into());
    if set.is_limited {
        put("limit", "work".into());
    }
    Value::Object(fields)
}

fn witness_fields(problem: &ImpactProblem, witness: &Witness) -> Value {
    match witness {
        Witness::Separating => json!({"kind": "separating"}),
        Witness::Steps { cone, steps } => {
            let cone = match cone {
                WitnessCone::Polygon(k) => json!(k),
                WitnessCone::Round => json!("round"),
            };
            let steps = steps
                .iter()
                .map(|step| by_contact(problem.contacts(), step.as_slice()));
            json!({"kind": "steps", "cone": cone, "steps": steps.collect::<Vec<_>>()})
        }
        Witness::Sequential(law) => {
            let mut options = Map::new();
            options.insert("order".to_owned(), json!(law.order));
            if let Some(k) = law.friction_cone.directions() {
                options.insert("friction_directions".to_owned(), k.into());
            }
            json!({"kind": "law", "law": law.name(), "options": options})
        }
        _ => Value::Null,
    }
}
