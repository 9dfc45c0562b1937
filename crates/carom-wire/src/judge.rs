//! Judging of outcomes that another program computed, as JSON.

use crate::Answer;
use crate::bodies::{self, BodyInput, PlaceInput};
use crate::error::{WireError, typed};
use crate::judge_options::OptionsInput;
use crate::judge_steps;
use crate::limits::check_options;
use crate::options::{check_law, known_law};
use crate::problem::{ContactInput, contact_set, metric};
use crate::state::{Labels, MeasuredImpact};
use crate::time_step::TimeStep;
use crate::verdict::verdict;
use crate::zeros::drop_signs_of_zeros;
use carom_contact::{Contact, ContactSet, ImpactProblem};
use carom_metric::Tangent;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Input in generalized velocities: a problem and the velocity after the impact.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AlgebraicInput {
    #[serde(default, rename = "id")]
    _id: Value,
    #[serde(default, rename = "group")]
    _group: Value,
    #[serde(default, rename = "kind")]
    _kind: Value,
    law: Option<String>,
    mass_matrix: Vec<Vec<f64>>,
    velocity: Vec<f64>,
    velocity_plus: Vec<f64>,
    velocity_free: Option<Vec<f64>>,
    external_impulse: Option<Vec<f64>>,
    contacts: Vec<ContactInput>,
    #[serde(default)]
    constraints: Vec<Vec<f64>>,
    #[serde(default)]
    options: OptionsInput,
}

/// Input as bodies: two bodies with their velocities before and after the impact.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodiesInput {
    #[serde(default, rename = "id")]
    _id: Value,
    #[serde(default, rename = "group")]
    _group: Value,
    #[serde(default, rename = "kind")]
    _kind: Value,
    law: Option<String>,
    #[serde(default)]
    friction: f64,
    #[serde(default)]
    restitution: f64,
    contact: PlaceInput,
    body1: BodyInput,
    body2: Option<BodyInput>,
    velocity1_plus: [f64; 3],
    angular_velocity1_plus: [f64; 3],
    velocity2_plus: Option<[f64; 3]>,
    angular_velocity2_plus: Option<[f64; 3]>,
    #[serde(default)]
    options: OptionsInput,
}

/// Reads a line to judge as a measured impact: the problem, and the velocity after it. Coefficients are allowed and not used.
pub(crate) fn measured(value: Value) -> Result<MeasuredImpact, WireError> {
    if value.get("steps").is_some() {
        let message = "steps: give each step a line of its own, an impact with its velocities";
        return Err(WireError::new("invalid-input", message));
    }
    let labels = Labels::read(&value)?;
    if value.get("mass_matrix").is_none() && value.get("body1").is_some() {
        let (problem, after) = pose_bodies(&typed(value, "")?)?;
        return labels.label(problem, after, vec![(None, None)]);
    }
    let input: AlgebraicInput = typed(value, "")?;
    let contacts = contact_set(
        metric(&input.mass_matrix)?,
        &input.contacts,
        &input.constraints,
    )?;
    let free = input.velocity_free.as_deref();
    let step = TimeStep::new(
        &contacts,
        &input.velocity,
        free,
        input.external_impulse.as_deref(),
    )?;
    let touched = input.contacts.into_iter().map(|c| (c.surface, c.gap));
    let after = Tangent::from_slice(&input.velocity_plus);
    labels.label(step.problem, after, touched.collect())
}

/// Judges a claimed outcome of an impact, or claimed outcomes of time steps, given as a JSON object. Returns the verdict in
/// JSON form.
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
    let contacts = contact_set(metric, &input.contacts, &input.constraints)?;
    let claim = Claim {
        velocity: &input.velocity,
        velocity_plus: &input.velocity_plus,
        velocity_free: input.velocity_free.as_deref(),
        external_impulse: input.external_impulse.as_deref(),
    };
    fields_of_claim(&contacts, &claim, &input.options, input.law.as_deref())
}

/// Velocities before and after an impact that a physics engine claims, to be judged; all lists have one entry per generalized
/// velocity.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'c> {
    /// Velocity before the impact.
    pub velocity: &'c [f64],
    /// Velocity after the impact, which is judged.
    pub velocity_plus: &'c [f64],
    /// Velocity at the end of the time step without contact; if given, the impact starts from it instead of `velocity`.
    pub velocity_free: Option<&'c [f64]>,
    /// Generalized impulse of gravity and actuators in the time step, an alternative to `velocity_free`.
    pub external_impulse: Option<&'c [f64]>,
}

/// Parsed options for judging claimed impact outcomes, reusable for any number of claims.
///
/// Answers and errors are those of the command [`Judge`](crate::Command::Judge).
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
    /// Parses the options for judging claimed impact outcomes, given by key. `law` is the name of the impact law that outcomes
    /// are claimed to follow; with `None` no particular law is claimed.
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

    /// Judges one claimed outcome of an impact at these contacts.
    ///
    /// # Errors
    ///
    /// A [`WireError`] that names the velocity or the option at fault.
    pub fn answer(&self, contacts: &ContactSet, claim: &Claim<'_>) -> Result<Answer, WireError> {
        let mut fields = fields_of_claim(contacts, claim, &self.options, self.law.as_deref())?;
        drop_signs_of_zeros(&mut fields);
        Ok(Answer {
            fields,
            is_solved: true,
        })
    }
}

fn fields_of_claim(
    contacts: &ContactSet,
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
    let wrong = |e| WireError::at("velocity_plus", &e);
    let mut fields = verdict(&step, &after, options, wrong, law)?;
    step.energies(&mut fields);
    let is_ignored = |contact: &Contact| contact.friction > 0.0 && contact.tangents.is_empty();
    if contacts.contacts().iter().any(is_ignored) {
        fields.insert("ignored".to_owned(), json!(["friction"]));
    }
    Ok(fields)
}

fn of_bodies(input: &BodiesInput) -> Result<Map<String, Value>, WireError> {
    let (problem, after) = pose_bodies(input)?;
    let step = TimeStep {
        approach: problem.velocity_minus().clone(),
        problem,
        energy_j: None,
    };
    verdict(
        &step,
        &after,
        &input.options,
        |e| WireError::at("velocities after", &e),
        input.law.as_deref(),
    )
}

/// Poses the impact of two bodies, or of one on a fixed half-space. Also returns the velocity after it (6 entries a body).
fn pose_bodies(input: &BodiesInput) -> Result<(ImpactProblem, Tangent), WireError> {
    let pair = bodies::pair(&input.contact, &input.body1, input.body2.as_ref())?;
    let metric = bodies::metric(&pair)?;
    let contacts = bodies::contact_set(metric, &pair, input.friction, input.restitution)?;
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
    Ok((problem, Tangent::from_slice(&after)))
}
