//! Impact problems in their JSON form, the interface for other languages.

use crate::error::WireError;
use crate::limits::{MAX_CONTACTS, MAX_DIMENSION, check_length};
use crate::matrix::square;
use carom_contact::{Contact, ContactSet, ImpactError, ImpactProblem};
use carom_metric::{Covector, KineticMetric, Tangent};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Impact problem in generalized velocities, in its JSON form: law, mass matrix, velocity and contacts.
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
    #[serde(default, rename = "group")]
    _group: Value,
    #[serde(default, rename = "kind")]
    _kind: Value,
    /// Name of the law, as in [`LAWS`](carom_impact::LAWS).
    pub law: String,
    /// Mass matrix as a list of n rows with n entries each.
    pub mass_matrix: Vec<Vec<f64>>,
    /// Velocity before the impact (n entries).
    pub velocity: Vec<f64>,
    /// Contacts; the list may be empty, but the key is required.
    pub contacts: Vec<ContactInput>,
    /// Constraint one-forms, each with n entries.
    #[serde(default)]
    pub constraints: Vec<Vec<f64>>,
    /// Options of the law by key.
    #[serde(default)]
    pub options: Map<String, Value>,
    /// Requested derivatives: null or false for no derivatives, true for all, or an object.
    #[serde(default)]
    pub derivative: Value,
}

impl Problem {
    /// Creates an impact problem without contacts, constraints and options. `law` is the name of an impact law, for example
    /// `plastic`; `mass_matrix` holds the rows of the mass matrix, `velocity` the generalized velocity before the impact.
    pub fn new(law: impl Into<String>, mass_matrix: Vec<Vec<f64>>, velocity: Vec<f64>) -> Self {
        Self {
            _id: Value::Null,
            _group: Value::Null,
            _kind: Value::Null,
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

/// Contact of an impact problem in its JSON form: normal, tangents and coefficients.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContactInput {
    /// Gradient of the gap (n entries), positive towards separation.
    pub normal: Vec<f64>,
    /// Rows that map the velocity to tangential velocities, n entries each: no row without friction, one in the plane, two in
    /// space.
    #[serde(default)]
    pub tangents: Vec<Vec<f64>>,
    /// Coulomb coefficient.
    #[serde(default)]
    pub friction: f64,
    /// Newton's coefficient of restitution.
    #[serde(default)]
    pub restitution: f64,
    /// Name of the surface that is touched, a label without effect on the answer.
    pub surface: Option<String>,
    /// Gap at the instant of the impact (m), a label without effect on the answer.
    pub gap: Option<f64>,
}

/// Builds the kinetic metric of a mass matrix, which is given as a list of its rows.
///
/// # Errors
///
/// A [`WireError`] that names `mass_matrix` and its fault.
pub fn metric(mass_matrix: &[Vec<f64>]) -> Result<KineticMetric, WireError> {
    check_length("mass_matrix", mass_matrix.len(), "rows", MAX_DIMENSION)?;
    KineticMetric::new(square(mass_matrix)?).map_err(|e| WireError::at("mass_matrix", &e.into()))
}

/// Builds a set of contacts with nonholonomic constraints on a kinetic metric. Each entry of `constraints` is the row
/// (one-form) of one constraint, with one number per generalized velocity. The product of the row and the velocity is zero.
///
/// # Errors
///
/// A [`WireError`] that names `contacts` or `constraints` and the index of the faulty one.
pub fn contact_set(
    metric: impl Into<Arc<KineticMetric>>,
    contacts: &[ContactInput],
    constraints: &[Vec<f64>],
) -> Result<ContactSet, WireError> {
    check_length("contacts", contacts.len(), "contacts", MAX_CONTACTS)?;
    check_length("constraints", constraints.len(), "rows", MAX_DIMENSION)?;
    let covectors = |rows: &[Vec<f64>]| rows.iter().map(|row| Covector::from_slice(row)).collect();
    let contacts = contacts.iter().map(|contact| {
        Contact::new(Covector::from_slice(&contact.normal))
            .with_tangents(covectors(&contact.tangents))
            .with_friction(contact.friction)
            .with_restitution(contact.restitution)
    });
    ContactSet::constrained(metric, contacts.collect(), covectors(constraints)).map_err(
        |e| match &e {
            ImpactError::Metric(_) => WireError::at("constraints", &e),
            _ => WireError::at("contacts", &e),
        },
    )
}

/// Builds an impact problem from a set of contacts and the velocity before the impact (one entry per generalized velocity).
///
/// # Errors
///
/// A [`WireError`] that names `velocity`.
pub fn pose(contacts: &ContactSet, velocity: &[f64]) -> Result<ImpactProblem, WireError> {
    ImpactProblem::new(contacts, Tangent::from_slice(velocity))
        .map_err(|e| WireError::at("velocity", &e))
}
