//! Models of worlds and mechanisms for analyses.

use super::scope::Scope;
use crate::ScenarioError;
use carom_analyse::{AnalyseError, Armed};
use carom_contact::ImpactLaw;
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion};
use std::collections::BTreeMap;

/// Model of a system with its state at the start.
pub(crate) struct Model {
    pub(crate) system: Box<dyn MechanicalSystem>,
    pub(crate) law: Box<dyn ImpactLaw>,
    pub(crate) coordinates: Vec<String>,
    pub(crate) contacts: Vec<String>,
    pub(crate) armed: Vec<Option<Armed>>,
    pub(crate) position: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    pub(crate) parameters: BTreeMap<String, f64>,
}

/// Reason why there is no model.
pub(crate) enum NoModel {
    Fault(ScenarioError),
    Flow(AnalyseError),
}

impl From<ScenarioError> for NoModel {
    fn from(error: ScenarioError) -> Self {
        Self::Fault(error)
    }
}

impl From<AnalyseError> for NoModel {
    fn from(error: AnalyseError) -> Self {
        Self::Flow(error)
    }
}

/// Instants of a period at which forces are compared.
const INSTANTS: u32 = 16;

/// Largest difference of a force that counts as the same, relative to the largest force.
const SAME: f64 = 1e-9;

impl Model {
    pub(crate) fn scope(&self) -> Result<Scope, ScenarioError> {
        Scope::new(&self.coordinates, &self.parameters)
    }

    fn forces(&self, time: f64) -> Vec<f64> {
        let mut out = Dynamics::new(self.coordinates.len());
        let at = Motion {
            time,
            configuration: &self.position,
            velocity: &self.velocity,
        };
        self.system.dynamics(&at, Derivatives::First, &mut out);
        out.force.as_slice().to_vec()
    }

    /// Returns the first coordinate whose force at 16 times from `from` on differs from that `period` (s) later.
    pub(crate) fn changes(&self, from: f64, period: f64) -> Option<&str> {
        let instants =
            (0..INSTANTS).map(|k| from + period * (f64::from(k) + 0.5) / f64::from(INSTANTS));
        let pairs: Vec<(Vec<f64>, Vec<f64>)> = instants
            .map(|t| (self.forces(t), self.forces(t + period)))
            .collect();
        let all = || pairs.iter().flat_map(|(a, b)| a.iter().chain(b));
        let largest = all().fold(0.0, |a: f64, b| a.max(b.abs()));
        let differs = |k: &usize| {
            pairs
                .iter()
                .any(|(a, b)| !((a[*k] - b[*k]).abs() <= SAME * largest))
        };
        let found = (0..self.coordinates.len()).find(differs);
        found
            .and_then(|k| self.coordinates.get(k))
            .map(String::as_str)
    }

    /// Returns the first coordinate whose force depends on time explicitly.
    pub(crate) fn driven(&self) -> Option<&str> {
        // Two lengths without a common period.
        self.changes(0.0, 1.0)
            .or_else(|| self.changes(0.0, std::f64::consts::E))
    }
}
