//! Impact problems and outcomes as JSON: the contract with other languages.

use crate::error::{WireError, typed};
use crate::frictional::{self, FrictionalInput};
use crate::{Answer, Progress, bodies, simultaneous};
use carom_impact::{
    Audit, Contact, ContactSet, Diagnostics, EnergeticRestitution, ImpactError, ImpactLaw,
    ImpactOutcome, ImpactProblem, Nonholonomic, OutcomeSet, Plastic, PlasticRule, Propagative,
    Restitution, Rough, Selection, SequenceFilter, SetValuedLaw,
};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) fn at(key: &str, error: &ImpactError) -> WireError {
    WireError::at(key, error)
}

/// An impact in generalized velocities, as it is read from JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Problem {
    #[serde(default, rename = "id")]
    _id: Value,
    /// Name of the law, as in [`LAWS`](carom_impact::LAWS).
    pub law: String,
    /// Mass matrix, a list of its n rows.
    pub mass_matrix: Vec<Vec<f64>>,
    /// Velocity before the impact (n).
    pub velocity: Vec<f64>,
    /// The contacts.
    #[serde(default)]
    pub contacts: Vec<ContactInput>,
    /// Constraint one-forms, each of length n.
    #[serde(default)]
    pub constraints: Vec<Vec<f64>>,
    /// The law's options by their keys.
    #[serde(default)]
    pub options: Map<String, Value>,
}

impl Problem {
    /// A problem without contacts, constraints and options.
    pub fn new(law: impl Into<String>, mass_matrix: Vec<Vec<f64>>, velocity: Vec<f64>) -> Self {
        Self {
            _id: Value::Null,
            law: law.into(),
            mass_matrix,
            velocity,
            contacts: Vec::new(),
            constraints: Vec::new(),
            options: Map::new(),
        }
    }
}

/// A contact, as it is read from JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContactInput {
    /// Gradient of the gap (n), positive towards separation.
    pub normal: Vec<f64>,
    /// Tangential velocities as rows, each of length n: none, one in the plane, two in space.
    #[serde(default)]
    pub tangents: Vec<Vec<f64>>,
    /// Coulomb coefficient.
    #[serde(default)]
    pub friction: f64,
    /// Newton's coefficient of restitution.
    #[serde(default)]
    pub restitution: f64,
}

/// The answer to a [`Problem`].
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    fields: Map<String, Value>,
}

impl Resolved {
    /// The answer as it is written, without an `id`.
    pub fn to_value(&self) -> Value {
        Value::Object(self.fields.clone())
    }
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum PlasticInput {
    #[default]
    Cone,
    ProjectAll,
}

impl PlasticInput {
    /// `project-all` reports pulling contacts instead of refusing them.
    fn rule(self) -> PlasticRule {
        match self {
            Self::Cone => PlasticRule::Cone,
            Self::ProjectAll => PlasticRule::ProjectAll {
                allow_adhesion: true,
            },
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
enum SelectionInput {
    #[default]
    MostApproaching,
    LeastApproaching,
    Priority(Vec<usize>),
    Random(u64),
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum OutcomesInput {
    #[default]
    One,
    All,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
enum SequencesInput {
    #[default]
    Approaching,
    Minimal,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct PropagativeInput {
    selection: SelectionInput,
    restitution: Option<f64>,
    plastic: PlasticInput,
    outcomes: OutcomesInput,
    max_impacts: Option<u64>,
    max_nodes: Option<usize>,
    sequences: SequencesInput,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct PlasticLawInput {
    plastic: PlasticInput,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoOptions {}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct RestitutionInput {
    restitution: f64,
}

/// Refuses a law that does not exist before anything else: the other keys depend on the law.
pub(crate) fn check_law(value: &Value) -> Result<(), WireError> {
    match value.get("law").and_then(Value::as_str) {
        Some(law) => known_law(law),
        _ => Ok(()),
    }
}

fn known_law(law: &str) -> Result<(), WireError> {
    if carom_impact::law(law).is_some() {
        return Ok(());
    }
    let known: Vec<&str> = carom_impact::LAWS.iter().map(|entry| entry.name).collect();
    let message = format!("law: unknown law `{law}`; known: {}", known.join(", "));
    Err(WireError::new("unknown-law", message))
}

/// Answers one problem in either form.
pub(crate) fn answer(value: Value, progress: Progress<'_>) -> Result<Answer, WireError> {
    check_law(&value)?;
    let fields = if bodies::is_meant(&value) {
        let mut input: bodies::BodiesInput = typed(value, "")?;
        let options = Value::Object(std::mem::take(&mut input.options));
        bodies::resolve(&input, &typed(options, "options")?)?
    } else {
        fields(&typed(value, "")?, progress)?
    };
    Ok(Answer {
        fields,
        is_solved: true,
    })
}

/// Resolves an impact.
///
/// # Errors
///
/// A [`WireError`] that names the key or option at fault, or says why the law has no answer.
pub fn resolve(problem: &Problem) -> Result<Resolved, WireError> {
    known_law(&problem.law)?;
    let fields = fields(problem, &|_, _| {})?;
    Ok(Resolved { fields })
}

fn fields(input: &Problem, progress: Progress<'_>) -> Result<Map<String, Value>, WireError> {
    let metric = metric(&input.mass_matrix)?;
    let contacts = contact_set(&metric, &input.contacts, &input.constraints)?;
    let problem = pose(&contacts, &input.velocity)?;
    let options = Value::Object(input.options.clone());
    let mut fields = match input.law.as_str() {
        "plastic" => plastic(&problem, typed(options, "options")?)?,
        "moreau-newton" | "anitescu-potra" | "sequential" | "set-valued" => {
            simultaneous::resolve(&input.law, &problem, options, progress)?
        }
        "routh" => {
            let options: FrictionalInput = typed(options, "options")?;
            frictional::resolve(&problem, &options.routh())?
        }
        "two-body" => {
            let options: FrictionalInput = typed(options, "options")?;
            frictional::resolve(&problem, &options.two_body())?
        }
        law if law.starts_with("nonholonomic-") => nonholonomic(&problem, law, options)?,
        _ => propagative(&problem, typed(options, "options")?)?,
    };
    fields.shift_insert(0, "law".to_owned(), input.law.as_str().into());
    Ok(fields)
}

pub(crate) fn metric(mass_matrix: &[Vec<f64>]) -> Result<KineticMetric, WireError> {
    KineticMetric::new(matrix(mass_matrix)?).map_err(|e| at("mass_matrix", &e.into()))
}

pub(crate) fn contact_set<'m>(
    metric: &'m KineticMetric,
    contacts: &[ContactInput],
    constraints: &[Vec<f64>],
) -> Result<ContactSet<'m>, WireError> {
    let covectors = |rows: &[Vec<f64>]| rows.iter().map(|row| Covector::from_slice(row)).collect();
    let contacts = contacts.iter().map(|contact| Contact {
        normal: Covector::from_slice(&contact.normal),
        tangents: covectors(&contact.tangents),
        friction: contact.friction,
        restitution: contact.restitution,
    });
    ContactSet::constrained(metric, contacts.collect(), covectors(constraints)).map_err(
        |e| match &e {
            ImpactError::Metric(_) | ImpactError::DependentConstraints { .. } => {
                at("constraints", &e)
            }
            _ => at("contacts", &e),
        },
    )
}

pub(crate) fn pose<'a>(
    contacts: &'a ContactSet<'a>,
    velocity: &[f64],
) -> Result<ImpactProblem<'a>, WireError> {
    ImpactProblem::new(contacts, Tangent::from_slice(velocity)).map_err(|e| at("velocity", &e))
}

fn matrix(rows: &[Vec<f64>]) -> Result<DMatrix<f64>, WireError> {
    let n = rows.len();
    if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != n) {
        let found = row.len();
        let message = format!("mass_matrix: row {i} has {found} entries where there are {n} rows");
        return Err(WireError::new("not-square", message));
    }
    Ok(DMatrix::from_fn(n, n, |i, j| rows[i][j]))
}

fn plastic(
    problem: &ImpactProblem<'_>,
    options: PlasticLawInput,
) -> Result<Map<String, Value>, WireError> {
    let law = Plastic {
        rule: options.plastic.rule(),
    };
    Ok(outcome_fields(problem, &law.resolve(problem)?))
}

fn nonholonomic(
    problem: &ImpactProblem<'_>,
    law: &str,
    options: Value,
) -> Result<Map<String, Value>, WireError> {
    let restitution = match law {
        "nonholonomic-elastic" | "nonholonomic-projected" => {
            typed::<NoOptions>(options, "options").map(|_| 1.0)?
        }
        _ => typed::<RestitutionInput>(options, "options")?.restitution,
    };
    let wrong = |e: ImpactError| at("options.restitution", &e);
    let law: Box<dyn ImpactLaw> = match law {
        "nonholonomic-rough" => Box::new(Rough::new(restitution).map_err(wrong)?),
        _ => Box::new(
            Nonholonomic::new(match law {
                "nonholonomic-elastic" => Restitution::Elastic,
                "nonholonomic-projected" => Restitution::Projected,
                "nonholonomic-newton" => Restitution::Newton(restitution),
                _ => Restitution::ProjectedNewton(restitution),
            })
            .map_err(wrong)?,
        ),
    };
    let outcome = law
        .resolve(problem)
        .map_err(|e| WireError::new(e.kind(), format!("law: {e}")))?;
    let mut fields = outcome_fields(problem, &outcome);
    // One contact has one impulse; a list where there are several.
    let normal_impulse = |i: usize| outcome.impulses[problem.contacts().row(i)];
    let alpha = match problem.contacts().len() {
        1 => normal_impulse(0).into(),
        n => (0..n).map(normal_impulse).collect::<Vec<f64>>().into(),
    };
    if let Some(Value::Object(diagnostics)) = fields.get_mut("diagnostics") {
        diagnostics.insert("alpha".to_owned(), alpha);
        diagnostics.insert(
            "lambda".to_owned(),
            outcome.constraint_impulses.as_slice().into(),
        );
    }
    Ok(fields)
}

fn propagative(
    problem: &ImpactProblem<'_>,
    options: PropagativeInput,
) -> Result<Map<String, Value>, WireError> {
    let defaults = Propagative::default();
    let restitution = EnergeticRestitution::new(options.restitution.unwrap_or(1.0))
        .map_err(|e| at("options.restitution", &e))?;
    let law = Propagative {
        selection: match options.selection {
            SelectionInput::MostApproaching => Selection::MostApproaching,
            SelectionInput::LeastApproaching => Selection::LeastApproaching,
            SelectionInput::Priority(order) => Selection::Priority(order),
            SelectionInput::Random(seed) => Selection::Random(seed),
        },
        restitution,
        plastic: options.plastic.rule(),
        max_impacts: options.max_impacts,
        max_nodes: options.max_nodes.unwrap_or(defaults.max_nodes),
        filter: match options.sequences {
            SequencesInput::Approaching => SequenceFilter::Approaching,
            SequencesInput::Minimal => SequenceFilter::Minimal,
        },
    };
    let (mut fields, indeterminacy) = match options.outcomes {
        OutcomesInput::One => {
            let outcome = law.resolve(problem)?;
            // Cheap for up to two contacts; for more, ask for all outcomes.
            let indeterminacy = match problem.contacts().n_distinct() {
                0..=2 => Some(law.resolve_all(problem)?.indeterminacy),
                _ => None,
            };
            (outcome_fields(problem, &outcome), indeterminacy)
        }
        OutcomesInput::All => {
            let set = law.resolve_all(problem)?;
            let mut fields = match set.preferred.and_then(|i| set.outcomes.get(i)) {
                Some(outcome) => outcome_fields(problem, outcome),
                None => Map::new(),
            };
            fields.insert("outcomes".to_owned(), outcomes(problem, &set));
            (fields, Some(set.indeterminacy))
        }
    };
    if let Some(Value::Object(diagnostics)) = fields.get_mut("diagnostics") {
        let cosines = rows(&problem.contacts().cosines());
        diagnostics.insert("cosines".to_owned(), json!(cosines));
        if let Some(xi) = indeterminacy {
            diagnostics.insert("indeterminacy".to_owned(), xi.into());
        }
    }
    Ok(fields)
}

fn outcomes(problem: &ImpactProblem<'_>, set: &OutcomeSet) -> Value {
    let fields = set
        .outcomes
        .iter()
        .map(|outcome| Value::Object(outcome_fields(problem, outcome)));
    Value::Array(fields.collect())
}

pub(crate) fn rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix
        .row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}

pub(crate) fn outcome_fields(
    problem: &ImpactProblem<'_>,
    outcome: &ImpactOutcome,
) -> Map<String, Value> {
    let impulses = by_contact(problem, outcome.impulses.as_slice());
    let audit = &outcome.audit;
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    put("velocity_plus", json!(outcome.velocity_plus.0.as_slice()));
    put("impulses", json!(impulses));
    if !outcome.constraint_impulses.is_empty() {
        put(
            "constraint_impulses",
            json!(outcome.constraint_impulses.as_slice()),
        );
    }
    put("energy_minus_j", audit.energy_minus_j.into());
    put("energy_plus_j", audit.energy_plus_j.into());
    put("status", outcome.status.name().into());
    put("diagnostics", diagnostics(problem, &outcome.diagnostics));
    put("audit", audit_fields(audit));
    fields
}

/// Numbers on the contact rows, a list for each contact.
pub(crate) fn by_contact<'n>(problem: &ImpactProblem<'_>, numbers: &'n [f64]) -> Vec<&'n [f64]> {
    let contacts = problem.contacts();
    (0..contacts.len())
        .filter_map(|i| numbers.get(contacts.row(i)..contacts.row(i + 1)))
        .collect()
}

pub(crate) fn audit_fields(audit: &Audit) -> Value {
    json!({
        "contact_work_j": audit.contact_work_j,
        "momentum_residual": audit.momentum_residual,
        "penetration_residual": audit.penetration_residual,
        "adhesion_residual": audit.adhesion_residual,
        "friction_residual": audit.friction_residual,
        "constraint_residual": audit.constraint_residual,
    })
}

fn diagnostics(problem: &ImpactProblem<'_>, diagnostics: &Diagnostics) -> Value {
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    match diagnostics {
        Diagnostics::Propagative(d) => {
            if let Some(sequence) = &d.sequence {
                put("sequence", json!(sequence));
            }
            put("impacts", d.impacts.into());
            put("n_sequences", d.n_sequences.into());
            if !d.lengths.is_empty() {
                put("lengths", json!(d.lengths));
            }
            put("alpha", d.alpha.into());
            put("adhesive", json!(d.adhesive));
        }
        Diagnostics::Plastic { adhesive } => {
            put("adhesive", json!(adhesive));
        }
        Diagnostics::Complementarity { pivots } => {
            put("pivots", (*pivots).into());
        }
        Diagnostics::Sequential { sequence, pivots } => {
            put("sequence", json!(sequence));
            put("pivots", (*pivots).into());
        }
        Diagnostics::SetValued {
            sample,
            steps,
            pivots,
        } => {
            put("sample", (*sample).into());
            put("steps", (*steps).into());
            put("pivots", (*pivots).into());
        }
        Diagnostics::Frictional(found) => return Value::Object(frictional::diagnostics(found)),
        Diagnostics::Nonholonomic(d) => {
            if let Some(e) = d.effective_restitution {
                put("effective_restitution", e.into());
            }
            if let Some(c) = d.cos2_beta {
                put("cos2_beta", c.into());
            }
            put("sequence", json!(d.sequence));
        }
        _ => {}
    }
    let has_friction = matches!(
        diagnostics,
        Diagnostics::Rough
            | Diagnostics::Complementarity { .. }
            | Diagnostics::Sequential { .. }
            | Diagnostics::SetValued { .. }
    );
    if !has_friction
        && problem
            .contacts()
            .contacts()
            .iter()
            .any(|contact| contact.friction > 0.0)
    {
        // These laws are frictionless; silence would let the answer pass for a frictional one.
        put("ignored", json!(["friction"]));
    }
    Value::Object(fields)
}
