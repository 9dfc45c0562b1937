//! Impact problems as they are read from JSON: the contract with other languages.

use crate::error::WireError;
use crate::limits::{MAX_CONTACTS, MAX_DIMENSION, check_length};
use crate::matrix::square;
use carom_contact::{Contact, ContactSet, ImpactError, ImpactProblem};
use carom_metric::{Covector, KineticMetric, Tangent};
use serde::Deserialize;
use serde_json::{Map, Value};

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

/// The metric of a mass matrix, a list of its n rows.
///
/// # Errors
///
/// A [`WireError`] that names `mass_matrix` and says what it lacks.
pub fn metric(mass_matrix: &[Vec<f64>]) -> Result<KineticMetric, WireError> {
    check_length("mass_matrix", mass_matrix.len(), "rows", MAX_DIMENSION)?;
    KineticMetric::new(square(mass_matrix)?).map_err(|e| WireError::at("mass_matrix", &e.into()))
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
            ImpactError::Metric(_) => WireError::at("constraints", &e),
            _ => WireError::at("contacts", &e),
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
    ImpactProblem::new(contacts, Tangent::from_slice(velocity))
        .map_err(|e| WireError::at("velocity", &e))
}
