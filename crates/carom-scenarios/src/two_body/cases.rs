//! Impacts that a user gives: the inverse inertia matrix of a contact, or two bodies, and a list of cases.

use crate::ScenarioError;
use crate::config::Input;
use carom_impact::two_body::{BodyPair, ContactInertia, RigidBody};
use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Rigid body at the instant of an impact, with the keys of a `two-body` line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    mass: f64,
    inertia: [[f64; 3]; 3],
    center: [f64; 3],
    #[serde(default)]
    velocity: [f64; 3],
    #[serde(default)]
    angular_velocity: [f64; 3],
}

impl Body {
    fn rigid(&self) -> RigidBody {
        RigidBody {
            mass: self.mass,
            inertia: Matrix3::from_fn(|i, j| self.inertia[i][j]),
            center: self.center.into(),
            velocity: self.velocity.into(),
            angular_velocity: self.angular_velocity.into(),
        }
    }
}

/// Point and normal of a contact, in world axes; the normal points into body 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    point: [f64; 3],
    normal: [f64; 3],
}

/// Contact of all cases of a scenario: its inertia and, if bodies are given, its velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub(crate) inertia: ContactInertia,
    velocity: Option<Vector3<f64>>,
}

impl Contact {
    /// Builds the contact from the bodies of the configuration if there is a first one, else from the inverse inertia matrix.
    pub(crate) fn new(
        input: &Input<'_>,
        inverse_inertia: &[[f64; 3]; 3],
        body1: Option<&Body>,
        body2: Option<&Body>,
        contact: Option<&Place>,
    ) -> Result<Self, ScenarioError> {
        let Some(body1) = body1 else {
            if body2.is_some() || contact.is_some() {
                let message = "is missing beside the other keys of the bodies";
                return Err(ScenarioError::value("body1", message));
            }
            let inertia = inertia(inverse_inertia)?;
            let velocity = None;
            return Ok(Self { inertia, velocity });
        };
        if input.is_given("inverse_inertia") {
            let message = "follows from the bodies: give either";
            return Err(ScenarioError::value("inverse_inertia", message));
        }
        let place = contact.ok_or_else(|| {
            ScenarioError::value("contact", "is missing: give `point` and `normal`")
        })?;
        let pair = BodyPair::new(
            body1.rigid(),
            body2.map(Body::rigid),
            place.point.into(),
            place.normal.into(),
        )?;
        Ok(Self {
            inertia: pair.inertia()?,
            velocity: Some(pair.contact_velocity()),
        })
    }

    /// Returns the contact velocity of a case (m/s): the given one, or that of the bodies.
    pub(crate) fn velocity(
        &self,
        given: Option<[f64; 3]>,
        name: &str,
    ) -> Result<Vector3<f64>, ScenarioError> {
        given.map(Vector3::from).or(self.velocity).ok_or_else(|| {
            let message = format!("`{name}` has no velocity, and there are no bodies");
            ScenarioError::value("instances", message)
        })
    }
}

/// Builds the inertia of a contact from its inverse inertia matrix (1/kg).
pub(crate) fn inertia(matrix: &[[f64; 3]; 3]) -> Result<ContactInertia, ScenarioError> {
    let matrix = Matrix3::from_fn(|i, j| matrix[i][j]);
    Ok(ContactInertia::from_matrix(&matrix)?)
}

/// Checks that the names of cases in the list `key` are different and fit into names of files and quantities.
pub(crate) fn check_names<'a>(
    key: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), ScenarioError> {
    let mut seen = BTreeSet::new();
    for name in names {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(fits) {
            let message = format!("the name `{name}` must consist of letters, digits, - and _");
            return Err(ScenarioError::value(key, message));
        }
        if !seen.insert(name) {
            return Err(ScenarioError::value(key, format!("two are named `{name}`")));
        }
    }
    Ok(())
}
