//! Outcomes that somebody else computed, as JSON.

use crate::Answer;
use crate::bodies::{self, BodyInput, PlaceInput};
use crate::bounds::passed_fields;
use crate::error::{WireError, typed};
use crate::judge_steps;
use crate::limits::check_options;
use crate::options::known_law;
use crate::outcome::by_contact;
use crate::resolve::{ContactInput, at, check_law, contact_set, metric, pose};
use crate::zeros::drop_signs_of_zeros;
use carom_impact::ImpactLaw;
use carom_impact::frictional::FrictionCone;
use carom_impact::{Contact, ContactSet, ImpactError, ImpactProblem};
use carom_judge::{
    ContactReport, JudgeOptions, Judgement, LawMatch, Membership, PassedBound, SetVerdict, Witness,
    WitnessCone, judge_time_step, passed_bound,
};
use carom_metric::{Covector, MetricError, Tangent};
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
    velocity_free: Option<Vec<f64>>,
    #[serde(default)]
    external_impulse: Option<Vec<f64>>,
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

#[derive(Clone, Debug, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OptionsInput {
    tolerance: Option<f64>,
    samples: Option<u64>,
    seed: u64,
    max_nodes: Option<usize>,
    max_work: Option<u64>,
    laws: Option<Vec<String>>,
    friction_directions: Option<usize>,
    friction_cone: Option<FrictionCone>,
}

impl OptionsInput {
    pub(crate) fn options(&self) -> Result<JudgeOptions, WireError> {
        for name in self.laws.iter().flatten() {
            known_law(name)?;
        }
        let friction_cone = match (self.friction_cone, self.friction_directions) {
            (None, None) => FrictionCone::default(),
            (Some(cone), None) => cone,
            (None, Some(k)) => FrictionCone::Polygon(k),
            (Some(cone), Some(k)) if cone == FrictionCone::Polygon(k) => cone,
            (Some(_), Some(_)) => {
                let message = "options: friction_cone and friction_directions mean different cones";
                return Err(WireError::new("invalid-option", message));
            }
        };
        let defaults = JudgeOptions::default();
        Ok(JudgeOptions {
            tolerance: self.tolerance.unwrap_or(defaults.tolerance),
            samples: self.samples.unwrap_or(defaults.samples),
            seed: self.seed,
            max_nodes: self.max_nodes.unwrap_or(defaults.max_nodes),
            max_work: self.max_work.unwrap_or(defaults.max_work),
            laws: self.laws.clone(),
            friction_cone,
        })
    }
}

/// Judges one outcome.
pub(crate) fn judge(value: Value) -> Result<Answer, WireError> {
    check_law(&value)?;
    let fields = if value.get("steps").is_some() {
        judge_steps::of_steps(&typed(value, "")?)?
    } else if value.get("mass_matrix").is_none() && value.get("body1").is_some() {
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
    let claim = Claim {
        velocity: &input.velocity,
        velocity_plus: &input.velocity_plus,
        velocity_free: input.velocity_free.as_deref(),
        external_impulse: input.external_impulse.as_deref(),
    };
    fields_of_claim(&contacts, &claim, &input.options, input.law.as_deref())
}

/// An engine's account of an impact: velocities of length n.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'c> {
    /// Before the impact.
    pub velocity: &'c [f64],
    /// After it: what is judged.
    pub velocity_plus: &'c [f64],
    /// Velocity at the end of a time step without contact; stands in for `velocity`.
    pub velocity_free: Option<&'c [f64]>,
    /// Instead of `velocity_free`: change of the velocity by gravity and actuators in the step.
    pub external_impulse: Option<&'c [f64]>,
}

/// Options of a judgement, read once for any number of claims.
///
/// The answers and errors are those of the command [`Judge`](crate::Command::Judge).
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet};
/// use carom_metric::{Covector, KineticMetric};
/// use carom_wire::{Claim, JudgeRequest};
/// use nalgebra::dmatrix;
/// use serde_json::Map;
/// let metric = KineticMetric::new(dmatrix![2.0])?;
/// let wall = Contact::frictionless(Covector::from_slice(&[1.0]));
/// let contacts = ContactSet::new(&metric, vec![wall])?;
/// // An engine claims that a mass leaves a wall faster than it came.
/// let claim = Claim {
///     velocity: &[-1.0],
///     velocity_plus: &[1.1],
///     velocity_free: None,
///     external_impulse: None,
/// };
/// let verdict = JudgeRequest::new(None, &Map::new())?.answer(&contacts, &claim)?;
/// let ratio = verdict.fields["energy_ratio"].as_f64();
/// assert!(ratio.is_some_and(|ratio| (ratio - 1.21).abs() < 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct JudgeRequest {
    law: Option<String>,
    options: OptionsInput,
}

impl JudgeRequest {
    /// The law that outcomes are claimed to follow, if any, and options by their keys.
    ///
    /// # Errors
    ///
    /// A [`WireError`] that names the law or the option.
    pub fn new(law: Option<&str>, options: &Map<String, Value>) -> Result<Self, WireError> {
        if let Some(law) = law {
            known_law(law)?;
        }
        check_options(options)?;
        Ok(Self {
            law: law.map(str::to_owned),
            options: typed(Value::Object(options.clone()), "options")?,
        })
    }

    /// Judges one claim.
    ///
    /// # Errors
    ///
    /// A [`WireError`] that names the velocity or the option at fault.
    pub fn answer(
        &self,
        contacts: &ContactSet<'_>,
        claim: &Claim<'_>,
    ) -> Result<Answer, WireError> {
        let mut fields = fields_of_claim(contacts, claim, &self.options, self.law.as_deref())?;
        drop_signs_of_zeros(&mut fields);
        Ok(Answer {
            fields,
            is_solved: true,
        })
    }
}

fn fields_of_claim(
    contacts: &ContactSet<'_>,
    claim: &Claim<'_>,
    options: &OptionsInput,
    law: Option<&str>,
) -> Result<Map<String, Value>, WireError> {
    let step = TimeStep::new(
        contacts,
        claim.velocity,
        claim.velocity_free,
        claim.external_impulse,
    )?;
    let after = Tangent::from_slice(claim.velocity_plus);
    let wrong = |e| at("velocity_plus", &e);
    let mut fields = verdict(&step, &after, options, wrong, law)?;
    step.energies(&mut fields);
    let is_ignored = |contact: &Contact| contact.friction > 0.0 && contact.tangents.is_empty();
    if contacts.contacts().iter().any(is_ignored) {
        fields.insert("ignored".to_owned(), json!(["friction"]));
    }
    Ok(fields)
}

/// A problem that starts with what would have been without contact.
pub(crate) struct TimeStep<'a> {
    pub(crate) problem: ImpactProblem<'a>,
    /// The velocity that the step began with.
    pub(crate) approach: Tangent,
    /// Its energy, if the step adds anything external.
    energy_j: Option<f64>,
}

impl<'a> TimeStep<'a> {
    pub(crate) fn new(
        contacts: &'a ContactSet<'a>,
        velocity: &[f64],
        free: Option<&[f64]>,
        impulse: Option<&[f64]>,
    ) -> Result<Self, WireError> {
        let metric = contacts.metric();
        let wrong = |key: &'static str| move |e: MetricError| at(key, &e.into());
        let approach = Tangent::from_slice(velocity);
        let start = match (free, impulse) {
            (None, None) => {
                return Ok(Self {
                    problem: pose(contacts, velocity)?,
                    approach,
                    energy_j: None,
                });
            }
            (Some(_), Some(_)) => {
                let message = "velocity_free and external_impulse: give one of them";
                return Err(WireError::new("invalid-input", message.to_owned()));
            }
            (Some(free), None) => Tangent::from_slice(free),
            (None, Some(impulse)) => {
                let impulse = Covector::from_slice(impulse);
                let added = metric.sharp(&impulse).map_err(wrong("external_impulse"))?;
                metric.energy(&approach).map_err(wrong("velocity"))?;
                Tangent(&approach.0 + added.0)
            }
        };
        let energy = metric.energy(&approach).map_err(wrong("velocity"))?;
        let key = match free {
            Some(_) => "velocity_free",
            None => "external_impulse",
        };
        Ok(Self {
            problem: ImpactProblem::new(contacts, start).map_err(|e| at(key, &e))?,
            approach,
            energy_j: Some(energy),
        })
    }

    /// Work of everything but contacts, J.
    pub(crate) fn external_work_j(&self) -> f64 {
        let free = self.problem.energy_minus_j();
        self.energy_j.map_or(0.0, |energy| free - energy)
    }

    /// Puts the energies of an external impulse, if there is one.
    pub(crate) fn energies(&self, fields: &mut Map<String, Value>) {
        if self.energy_j.is_some() {
            let free = self.problem.energy_minus_j();
            fields.insert("energy_free_j".to_owned(), free.into());
            let work = self.external_work_j();
            fields.insert("external_work_j".to_owned(), work.into());
        }
    }
}

fn of_bodies(input: &BodiesInput) -> Result<Map<String, Value>, WireError> {
    let pair = bodies::pair(&input.contact, &input.body1, input.body2.as_ref())?;
    let metric = bodies::metric(&pair)?;
    let contacts = bodies::contact_set(&metric, &pair, input.friction, input.restitution)?;
    let problem = bodies::pose(&contacts, &pair)?;
    let step = TimeStep {
        approach: problem.velocity_minus().clone(),
        problem,
        energy_j: None,
    };
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
    verdict(
        &step,
        &after,
        &input.options,
        |e| at("velocities after", &e),
        input.law.as_deref(),
    )
}

/// Judges an outcome in full.
pub(crate) fn verdict(
    step: &TimeStep<'_>,
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

/// The judgement of a step.
pub(crate) fn judged(
    step: &TimeStep<'_>,
    after: &Tangent,
    options: &JudgeOptions,
    wrong: impl Fn(ImpactError) -> WireError,
) -> Result<Judgement, WireError> {
    judge_time_step(&step.problem, &step.approach, after, options).map_err(|e| match e {
        ImpactError::InvalidOption { .. } => at("options", &e),
        _ => wrong(e),
    })
}

/// Energies, impulses, residuals and contacts.
pub(crate) fn balance(problem: &ImpactProblem<'_>, judgement: &Judgement) -> Map<String, Value> {
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

/// Laws and the set of outcomes.
fn answers(
    problem: &ImpactProblem<'_>,
    after: &Tangent,
    judgement: &Judgement,
    fields: &mut Map<String, Value>,
) {
    let matches: Vec<&str> = judgement.matches().map(|law| law.law).collect();
    let refused = judgement.refused.iter().map(|refusal| {
        json!({
            "law": refusal.law,
            "kind": refusal.error.kind(),
            "message": refusal.error.to_string(),
        })
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

fn set_fields(
    problem: &ImpactProblem<'_>,
    set: &SetVerdict,
    passed: Option<&PassedBound>,
) -> Value {
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
        Membership::Unknown => {}
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

fn witness_fields(problem: &ImpactProblem<'_>, witness: &Witness) -> Value {
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
    }
}
