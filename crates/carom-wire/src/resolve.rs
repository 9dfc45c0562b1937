//! Impact problems and outcomes as JSON: the contract with other languages.

use crate::derivative::Wanted;
use crate::error::{WireError, typed};
use crate::ignored::ignored;
use crate::limits::{MAX_CONTACTS, MAX_DIMENSION, check_length, check_options};
use crate::options::{Asked, known_law, refused};
use crate::outcome::{outcome_fields, rows, set_fields};
use crate::zeros::drop_signs_of_zeros;
use crate::{Answer, Progress, bodies, simultaneous};
use carom_impact::frictional::DEFAULT_SAMPLING_WORK;
use carom_impact::propagative::OrderSample;
use carom_impact::{
    Contact, ContactSet, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, Law, OutcomeSet,
    Propagative, SetValuedLaw,
};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) fn at(key: &str, error: &ImpactError) -> WireError {
    WireError::at(key, error)
}

/// An impact in generalized velocities, as it is read from JSON.
///
/// # Examples
///
/// ```
/// use carom_wire::{Problem, resolve};
/// use serde_json::{from_value, json};
/// // A mass of 2 kg comes to a wall, and goes back as fast.
/// let mut problem = Problem::new("propagative", vec![vec![2.0]], vec![-3.0]);
/// problem.contacts = from_value(json!([{ "normal": [1.0] }]))?;
/// let answer = resolve(&problem)?.to_value();
/// assert_eq!(answer["velocity_plus"], json!([3.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// The contacts; an empty list is allowed, leaving it out is not.
    pub contacts: Vec<ContactInput>,
    /// Constraint one-forms, each of length n.
    #[serde(default)]
    pub constraints: Vec<Vec<f64>>,
    /// The law's options by their keys.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// Derivatives that are asked for: null or false for none, true for all, or an object.
    #[serde(default)]
    pub derivative: Value,
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
            derivative: Value::Null,
        }
    }
}

/// A contact, as it is read from JSON.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
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

    /// Its keys and values in the order in which they are written.
    pub fn into_fields(self) -> Map<String, Value> {
        self.fields
    }
}

/// Outcomes of a set that are asked for.
#[derive(Deserialize, Clone, Copy)]
#[serde(
    untagged,
    expecting = "expected \"one\", \"all\" or {\"sample\": N, \"seed\": s}"
)]
enum OutcomesInput {
    Named(OutcomesName),
    Sample(SampleInput),
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum OutcomesName {
    One,
    All,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct SampleInput {
    sample: u64,
    #[serde(default)]
    seed: u64,
}

/// Refuses a law that does not exist before anything else: the other keys depend on the law.
pub(crate) fn check_law(value: &Value) -> Result<(), WireError> {
    match value.get("law").and_then(Value::as_str) {
        Some(law) => known_law(law).map(|_| ()),
        _ => Ok(()),
    }
}

/// Answers one problem in either form.
pub(crate) fn answer(value: Value, progress: Progress<'_>) -> Result<Answer, WireError> {
    check_law(&value)?;
    let fields = if bodies::is_meant(&value) {
        bodies::resolve(&typed(value, "")?)?
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
    let fields = fields(problem, &|_, _| {})?;
    Ok(Resolved { fields })
}

fn fields(input: &Problem, progress: Progress<'_>) -> Result<Map<String, Value>, WireError> {
    let request = Request::new(&input.law, &input.options)?.differentiated(&input.derivative)?;
    let metric = metric(&input.mass_matrix)?;
    let contacts = contact_set(&metric, &input.contacts, &input.constraints)?;
    let problem = pose(&contacts, &input.velocity)?;
    request.fields(&problem, progress)
}

/// A law with its options, read once for any number of problems.
///
/// The answers, and the errors in the order in which they are found, are those of [`resolve`].
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactProblem};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use carom_wire::Request;
/// use nalgebra::dmatrix;
/// use serde_json::Map;
/// let metric = KineticMetric::new(dmatrix![2.0])?;
/// let wall = Contact::frictionless(Covector::from_slice(&[1.0]));
/// let contacts = ContactSet::new(&metric, vec![wall])?;
/// let request = Request::new("plastic", &Map::new())?;
/// // The impulse m v stops the mass, whatever its speed.
/// for speed in [1.0, 3.0] {
///     let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[-speed]))?;
///     let answer = request.answer(&problem, &|_, _| {})?;
///     let impulse = answer.fields["impulses"][0][0].as_f64();
///     assert!(impulse.is_some_and(|impulse| (impulse - 2.0 * speed).abs() < 1e-14));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Request {
    law: Law,
    /// Faults of options are told after those of the problem.
    asked: Result<Asked, WireError>,
    wanted: Option<Wanted>,
}

impl Request {
    /// A law by its name, and its options by their keys.
    ///
    /// # Errors
    ///
    /// A [`WireError`] if there is no such law, or an option asks for more than the
    /// [limits](crate::MAX_SAMPLES) allow.
    pub fn new(law: &str, options: &Map<String, Value>) -> Result<Self, WireError> {
        let law = known_law(law)?;
        check_options(options)?;
        let asked = Asked::read(&law, options);
        Ok(Self {
            law,
            asked,
            wanted: None,
        })
    }

    /// Adds the derivatives that the key `derivative` asks for.
    ///
    /// # Errors
    ///
    /// A [`WireError`] that names the part of the key at fault.
    pub fn differentiated(mut self, derivative: &Value) -> Result<Self, WireError> {
        self.wanted = Wanted::read(derivative)?;
        Ok(self)
    }

    /// The answer to a problem, as it is written.
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn answer(
        &self,
        problem: &ImpactProblem<'_>,
        progress: Progress<'_>,
    ) -> Result<Answer, WireError> {
        Ok(Answer {
            fields: self.fields(problem, progress)?,
            is_solved: true,
        })
    }

    /// Answer of the law to a problem. One outcome is not written yet, which costs more than many laws:
    /// [`write`](Self::write) does.
    ///
    /// # Errors
    ///
    /// A [`WireError`] that names the option at fault, or says why the law has no answer.
    pub fn solve(
        &self,
        problem: &ImpactProblem<'_>,
        progress: Progress<'_>,
    ) -> Result<Solved, WireError> {
        by_law(problem, self.asked()?, self.wanted.as_ref(), progress)
    }

    /// The fields of one outcome that this request has [found](Self::solve) at these contacts.
    pub fn write_one(&self, contacts: &ContactSet<'_>, single: &Single) -> Map<String, Value> {
        let mut fields = outcome_fields(contacts, &single.outcome);
        if let Some(jacobian) = &single.jacobian {
            fields.insert("jacobian".to_owned(), jacobian.clone());
        }
        if let Law::Propagative(_) = self.law {
            let of_set = single
                .indeterminacy
                .map(|x| ("indeterminacy".to_owned(), x.into()));
            tell_of_set(&mut fields, contacts, of_set.into_iter().collect());
        }
        self.named(contacts, fields)
    }

    pub(crate) fn asked(&self) -> Result<&Asked, WireError> {
        self.asked.as_ref().map_err(Clone::clone)
    }

    fn fields(
        &self,
        problem: &ImpactProblem<'_>,
        progress: Progress<'_>,
    ) -> Result<Map<String, Value>, WireError> {
        Ok(self.write(problem.contacts(), self.solve(problem, progress)?))
    }

    /// The fields of what this request has [found](Self::solve) at these contacts.
    pub fn write(&self, contacts: &ContactSet<'_>, solved: Solved) -> Map<String, Value> {
        match solved {
            Solved::One(single) => self.write_one(contacts, &single),
            Solved::Set(fields) => self.named(contacts, fields),
        }
    }

    /// Fields with the name of the law before them, and what it ignores behind them.
    fn named(
        &self,
        contacts: &ContactSet<'_>,
        mut fields: Map<String, Value>,
    ) -> Map<String, Value> {
        let info = self.law.info();
        fields.shift_insert(0, "law".to_owned(), info.name.into());
        let ignored = ignored(info.uses, contacts.contacts());
        if !ignored.is_empty() {
            fields.insert("ignored".to_owned(), json!(ignored));
        }
        drop_signs_of_zeros(&mut fields);
        fields
    }
}

/// Answer of a law.
#[derive(Clone, Debug)]
pub enum Solved {
    /// One outcome, not written yet.
    One(Box<Single>),
    /// The fields of several outcomes, or of their bounds, but the law's name.
    Set(Map<String, Value>),
}

/// One outcome, and what stands beside it in the answer.
#[derive(Clone, Debug)]
pub struct Single {
    outcome: ImpactOutcome,
    jacobian: Option<Value>,
    /// Indeterminacy of the propagative law, where it is cheap.
    indeterminacy: Option<f64>,
}

impl Single {
    /// The outcome.
    pub fn outcome(&self) -> &ImpactOutcome {
        &self.outcome
    }
}

/// The answer of a law with options. What laws with several outcomes say beyond them differs.
fn by_law(
    problem: &ImpactProblem<'_>,
    asked: &Asked,
    wanted: Option<&Wanted>,
    progress: Progress<'_>,
) -> Result<Solved, WireError> {
    let outcomes = asked.rest("outcomes");
    let bounds = asked.rest("bounds");
    match &asked.law {
        Law::Propagative(law) => propagative(problem, law, outcomes, wanted),
        Law::AnitescuPotra(law) => simultaneous::anitescu_potra(problem, law, outcomes, wanted),
        Law::SetValued(law) => {
            let asked = simultaneous::SetAsked {
                outcomes,
                bounds,
                wanted,
            };
            simultaneous::set_valued(problem, law, asked, progress).map(Solved::Set)
        }
        law @ (Law::Plastic(_)
        | Law::MoreauNewton(_)
        | Law::Poisson(_)
        | Law::Sequential(_)
        | Law::Routh(_)
        | Law::TwoBody(_)
        | Law::NonholonomicElastic(_)
        | Law::NonholonomicProjected(_)
        | Law::NonholonomicNewton(_)
        | Law::NonholonomicProjectedNewton(_)
        | Law::NonholonomicRough(_)) => {
            let outcome = law.resolve(problem).map_err(|e| refused(law, e))?;
            one(problem, law, outcome, wanted)
        }
    }
}

/// One outcome, with its derivative if that is wanted.
pub(crate) fn one(
    problem: &ImpactProblem<'_>,
    law: &Law,
    outcome: ImpactOutcome,
    wanted: Option<&Wanted>,
) -> Result<Solved, WireError> {
    let jacobian = wanted.map(|wanted| wanted.jacobian(problem, law, &outcome, false));
    Ok(Solved::One(Box::new(Single {
        jacobian: jacobian.transpose()?,
        outcome,
        indeterminacy: None,
    })))
}

/// The fields of an outcome, and of its derivative if that is wanted.
pub(crate) fn differentiated_fields(
    problem: &ImpactProblem<'_>,
    law: &Law,
    outcome: &ImpactOutcome,
    is_member: bool,
    wanted: Option<&Wanted>,
) -> Result<Map<String, Value>, WireError> {
    differentiated_within(problem, law, outcome, is_member, wanted, &mut { u64::MAX })
}

/// Differentiates within a budget of work, of which it takes its part.
pub(crate) fn differentiated_within(
    problem: &ImpactProblem<'_>,
    law: &Law,
    outcome: &ImpactOutcome,
    is_member: bool,
    wanted: Option<&Wanted>,
    budget: &mut u64,
) -> Result<Map<String, Value>, WireError> {
    let mut fields = outcome_fields(problem.contacts(), outcome);
    if let Some(wanted) = wanted {
        let jacobian = wanted.jacobian_within(problem, law, outcome, is_member, budget)?;
        fields.insert("jacobian".to_owned(), jacobian);
    }
    Ok(fields)
}

/// The metric of a mass matrix, a list of its n rows.
///
/// # Errors
///
/// A [`WireError`] that names `mass_matrix` and says what it lacks.
pub fn metric(mass_matrix: &[Vec<f64>]) -> Result<KineticMetric, WireError> {
    check_length("mass_matrix", mass_matrix.len(), "rows", MAX_DIMENSION)?;
    KineticMetric::new(matrix(mass_matrix)?).map_err(|e| at("mass_matrix", &e.into()))
}

/// Contacts and constraint one-forms on a metric.
///
/// # Errors
///
/// A [`WireError`] that names `contacts` or `constraints` and the one at fault.
pub fn contact_set<'m>(
    metric: &'m KineticMetric,
    contacts: &[ContactInput],
    constraints: &[Vec<f64>],
) -> Result<ContactSet<'m>, WireError> {
    check_length("contacts", contacts.len(), "contacts", MAX_CONTACTS)?;
    check_length("constraints", constraints.len(), "rows", MAX_DIMENSION)?;
    let covectors = |rows: &[Vec<f64>]| rows.iter().map(|row| Covector::from_slice(row)).collect();
    let contacts = contacts.iter().map(|contact| Contact {
        normal: Covector::from_slice(&contact.normal),
        tangents: covectors(&contact.tangents),
        friction: contact.friction,
        restitution: contact.restitution,
    });
    ContactSet::constrained(metric, contacts.collect(), covectors(constraints)).map_err(
        |e| match &e {
            ImpactError::Metric(_) => at("constraints", &e),
            _ => at("contacts", &e),
        },
    )
}

/// Contacts and a velocity before the impact (n).
///
/// # Errors
///
/// A [`WireError`] that names `velocity`.
pub fn pose<'a>(
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

fn propagative(
    problem: &ImpactProblem<'_>,
    law: &Propagative,
    outcomes_asked: Option<Value>,
    wanted: Option<&Wanted>,
) -> Result<Solved, WireError> {
    let asked: Option<OutcomesInput> = outcomes_asked
        .map(|value| typed(value, "options.outcomes"))
        .transpose()?;
    let as_law = Law::from(law.clone());
    let refused = |error| refused(&as_law, error);
    let set = match asked {
        None | Some(OutcomesInput::Named(OutcomesName::One)) => {
            let (outcome, indeterminacy) = one_order(problem, law).map_err(refused)?;
            let mut solved = one(problem, &as_law, outcome, wanted)?;
            if let Solved::One(single) = &mut solved {
                single.indeterminacy = indeterminacy;
            }
            return Ok(solved);
        }
        Some(OutcomesInput::Named(OutcomesName::All)) => {
            law.resolve_all(problem).map_err(refused)?
        }
        Some(OutcomesInput::Sample(SampleInput { sample, seed })) => {
            let orders = OrderSample {
                orders: sample,
                seed,
            };
            law.sample(problem, orders).map_err(refused)?
        }
    };
    let all = outcomes(problem, &as_law, &set, wanted)?;
    let preferred = set.preferred.and_then(|i| all.get(i));
    let mut fields = preferred.cloned().unwrap_or_default();
    let all = all.into_iter().map(Value::Object).collect();
    fields.insert("outcomes".to_owned(), Value::Array(all));
    if set.omitted > 0 {
        fields.insert("omitted".to_owned(), set.omitted.into());
    }
    tell_of_set(&mut fields, problem.contacts(), set_fields(&set));
    Ok(Solved::Set(fields))
}

/// Adds to the diagnostics of the propagative law what does not depend on the order of impacts.
fn tell_of_set(
    fields: &mut Map<String, Value>,
    contacts: &ContactSet<'_>,
    mut of_set: Map<String, Value>,
) {
    if let Some(Value::Object(diagnostics)) = fields.get_mut("diagnostics") {
        diagnostics.insert("cosines".to_owned(), json!(rows(&contacts.cosines())));
        diagnostics.append(&mut of_set);
    }
}

/// The outcomes of a set.
fn outcomes(
    problem: &ImpactProblem<'_>,
    law: &Law,
    set: &OutcomeSet,
    wanted: Option<&Wanted>,
) -> Result<Vec<Map<String, Value>>, WireError> {
    let mut budget = DEFAULT_SAMPLING_WORK;
    set.outcomes
        .iter()
        .map(|outcome| differentiated_within(problem, law, outcome, true, wanted, &mut budget))
        .collect()
}

/// The outcome of the order that a law selects, and the indeterminacy over all orders where it is
/// cheap, for up to two contacts; for more, ask for all outcomes.
fn one_order(
    problem: &ImpactProblem<'_>,
    law: &Propagative,
) -> Result<(ImpactOutcome, Option<f64>), ImpactError> {
    let outcome = law.resolve(problem)?;
    let indeterminacy = if problem.contacts().n_distinct() <= 2 {
        Some(law.resolve_all(problem)?.indeterminacy)
    } else {
        None
    };
    Ok((outcome, indeterminacy))
}
