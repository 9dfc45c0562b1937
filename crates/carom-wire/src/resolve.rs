//! The command `resolve`: from a law and its options to an answer in JSON.

use crate::derivative::Wanted;
use crate::error::{WireError, naming_laws, typed};
use crate::ignored::ignored;
use crate::limits::check_options;
use crate::options::{Asked, check_law, known_law, refused};
use crate::outcome::outcome_fields;
use crate::problem::{Problem, contact_set, metric, pose};
use crate::propagative::{propagative, tell_of_set};
use crate::solved::{Single, Solved, one};
use crate::trace::trace;
use crate::zeros::drop_signs_of_zeros;
use crate::{Answer, Progress, bodies, simultaneous};
use carom_contact::{ContactSet, ImpactLaw, ImpactProblem};
use carom_impact::{EnergeticRestitution, Law};
use serde_json::{Map, Value, json};

/// Answer to an impact [`Problem`]: the outcome or the set of outcomes, as JSON fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    fields: Map<String, Value>,
}

impl Resolved {
    /// Returns the answer to the impact problem as a JSON object, without an `id`.
    pub fn to_value(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    /// Returns the keys and values of the answer to the impact problem, in output order.
    pub fn into_fields(self) -> Map<String, Value> {
        self.fields
    }
}

/// Resolves an impact problem given as JSON, and returns the answer in JSON form. The problem describes generalized
/// velocities or rigid bodies. `progress` is called with the number of finished and of all samples.
pub(crate) fn answer(value: Value, progress: Progress<'_>) -> Result<Answer, WireError> {
    check_law(&value)?;
    let fields = if bodies::is_meant(&value) {
        bodies::resolve(&typed(value, "").map_err(naming_laws)?)?
    } else {
        fields(&typed(value, "").map_err(naming_laws)?, progress)?
    };
    Ok(Answer {
        fields,
        is_solved: true,
    })
}

/// Resolves an impact by the law named in `problem`, and returns the outcome or the set of outcomes.
///
/// # Errors
///
/// A [`WireError`] that names the faulty key or option, or the reason why the law has no answer.
pub fn resolve(problem: &Problem) -> Result<Resolved, WireError> {
    let fields = fields(problem, &|_, _| {})?;
    Ok(Resolved { fields })
}

fn fields(input: &Problem, progress: Progress<'_>) -> Result<Map<String, Value>, WireError> {
    let request = Request::new(&input.law, &input.options)?.differentiated(&input.derivative)?;
    let metric = metric(&input.mass_matrix)?;
    let contacts = contact_set(metric, &input.contacts, &input.constraints)?;
    let problem = pose(&contacts, &input.velocity)?;
    request.fields(&problem, progress)
}

/// Impact law with parsed options, reusable for any number of impact problems.
///
/// Answers, errors, and the order in which errors are detected are those of [`resolve`].
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
    /// Parsed options; an error in them is reported after errors in the problem.
    asked: Result<Asked, WireError>,
    wanted: Option<Wanted>,
}

impl Request {
    /// Parses the options of an impact law. `law` is the name of the law, for example `plastic`; `options` are given by key.
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

    /// Returns this request, or the error in its options, which [`solve`](Self::solve) reports after errors in the problem.
    ///
    /// # Errors
    ///
    /// A [`WireError`] that names the faulty option.
    pub fn checked(self) -> Result<Self, WireError> {
        if let Law::Propagative(law) = &self.asked()?.law {
            EnergeticRestitution::new(law.restitution.value())
                .map_err(|error| WireError::at("options.restitution", &error))?;
        }
        Ok(self)
    }

    /// Requests derivatives of the outcome in every answer. `derivative` is the value of the key `derivative` of a JSON
    /// problem.
    ///
    /// # Errors
    ///
    /// A [`WireError`] that names the faulty part of the value.
    pub fn differentiated(mut self, derivative: &Value) -> Result<Self, WireError> {
        self.wanted = Wanted::read(derivative)?;
        Ok(self)
    }

    /// Resolves an impact problem by the law of the request and returns the answer as JSON fields.
    ///
    /// # Errors
    ///
    /// The errors of [`solve`](Self::solve).
    pub fn answer(
        &self,
        problem: &ImpactProblem,
        progress: Progress<'_>,
    ) -> Result<Answer, WireError> {
        Ok(Answer {
            fields: self.fields(problem, progress)?,
            is_solved: true,
        })
    }

    /// Resolves an impact problem by the law of the request. A single outcome is not yet converted to JSON, because the
    /// conversion costs more than many laws: [`write`](Self::write) converts it.
    ///
    /// # Errors
    ///
    /// A [`WireError`] that names the faulty option, or the reason why the law has no answer.
    pub fn solve(
        &self,
        problem: &ImpactProblem,
        progress: Progress<'_>,
    ) -> Result<Solved, WireError> {
        by_law(problem, self.asked()?, self.wanted.as_ref(), progress)
    }

    /// Converts one outcome, which [`solve`](Self::solve) found at these contacts, to the JSON fields of the answer.
    pub fn write_one(&self, contacts: &ContactSet, single: &Single) -> Map<String, Value> {
        let mut fields = outcome_fields(contacts, &single.outcome);
        if let Some(jacobian) = &single.jacobian {
            fields.insert("jacobian".to_owned(), jacobian.clone());
        }
        if let Some(trace) = &single.trace {
            fields.insert("trace".to_owned(), trace.clone());
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
        problem: &ImpactProblem,
        progress: Progress<'_>,
    ) -> Result<Map<String, Value>, WireError> {
        Ok(self.write(problem.contacts(), self.solve(problem, progress)?))
    }

    /// Converts a result, which [`solve`](Self::solve) found at these contacts, to the JSON fields of the answer.
    pub fn write(&self, contacts: &ContactSet, solved: Solved) -> Map<String, Value> {
        match solved {
            Solved::One(single) => self.write_one(contacts, &single),
            Solved::Set(fields) => self.named(contacts, fields),
        }
    }

    /// Completes the JSON fields of an answer: the name of the law comes first, and the keys of contacts that the law
    /// ignored come last. Negative zeros become positive.
    fn named(&self, contacts: &ContactSet, mut fields: Map<String, Value>) -> Map<String, Value> {
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

/// Resolves an impact by the requested law with its options. `wanted` requests derivatives; `progress` is called with the
/// number of finished and of all samples. A law with several outcomes returns the set that its options request.
fn by_law(
    problem: &ImpactProblem,
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
            let contacts = problem.contacts();
            let found = law.resolve(problem);
            let outcome = found.map_err(|error| refused(law, contacts, error))?;
            let mut solved = one(problem, law, outcome, wanted)?;
            if let Solved::One(single) = &mut solved {
                single.trace = trace(problem, asked)?;
            }
            Ok(solved)
        }
    }
}
