//! A system at the instant of a simultaneous impact.

use crate::ScenarioError;
use carom_contact::{Contact, ContactSet, ImpactProblem};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::DMatrix;

/// A contact with its name and rows.
#[derive(Clone, Debug)]
pub(super) struct NamedContact {
    pub(super) name: &'static str,
    pub(super) normal: Vec<f64>,
    pub(super) tangent: Vec<f64>,
}

/// Mass matrix, contacts with a common friction coefficient, and velocity before the impact.
#[derive(Clone, Debug)]
pub(super) struct FrictionalSystem {
    pub(super) mass: DMatrix<f64>,
    pub(super) contacts: Vec<NamedContact>,
    pub(super) friction: f64,
    pub(super) velocity: Vec<f64>,
}

impl FrictionalSystem {
    /// Builds the impact problem of this system.
    pub(super) fn problem(&self) -> Result<ImpactProblem, ScenarioError> {
        let metric = KineticMetric::new(self.mass.clone())?;
        let contact = |named: &NamedContact| {
            Contact::new(Covector::from_slice(&named.normal))
                .with_tangents(vec![Covector::from_slice(&named.tangent)])
                .with_friction(self.friction)
        };
        let contacts = ContactSet::new(metric, self.contacts.iter().map(contact).collect())?;
        Ok(contacts.problem(Tangent::from_slice(&self.velocity))?)
    }

    /// Returns the names of the contact rows, `vn_A`, `vt_A`, ...: normal and tangential velocity of each contact.
    pub(super) fn row_names(&self) -> Vec<String> {
        let rows = |c: &NamedContact| [format!("vn_{}", c.name), format!("vt_{}", c.name)];
        self.contacts.iter().flat_map(rows).collect()
    }

    /// Converts a velocity of the system to the velocities along the contact rows (normal and tangent of each contact).
    pub(super) fn contact_velocity(&self, velocity: &[f64]) -> Vec<f64> {
        let dot = |row: &[f64]| row.iter().zip(velocity).map(|(a, b)| a * b).sum::<f64>();
        let rows = |c: &NamedContact| [dot(&c.normal), dot(&c.tangent)];
        self.contacts.iter().flat_map(rows).collect()
    }
}
