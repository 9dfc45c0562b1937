//! Time steps of an engine; only the impact in the step is judged.

use crate::error::WireError;
use crate::problem::pose;
use carom_contact::{ContactSet, ImpactProblem};
use carom_metric::{Covector, MetricError, Tangent};
use serde_json::{Map, Value};

/// Impact problem whose velocity before the impact includes the external changes in the step.
pub(crate) struct TimeStep {
    pub(crate) problem: ImpactProblem,
    /// Velocity at the beginning of the step.
    pub(crate) approach: Tangent,
    /// Kinetic energy of `approach` (J), if the step has external changes.
    pub(crate) energy_j: Option<f64>,
}

impl TimeStep {
    pub(crate) fn new(
        contacts: &ContactSet,
        velocity: &[f64],
        free: Option<&[f64]>,
        impulse: Option<&[f64]>,
    ) -> Result<Self, WireError> {
        let metric = contacts.metric();
        let wrong = |key: &'static str| move |e: MetricError| WireError::at(key, &e.into());
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
            problem: ImpactProblem::new(contacts, start).map_err(|e| WireError::at(key, &e))?,
            approach,
            energy_j: Some(energy),
        })
    }

    /// Returns the work (J) that gravity, actuators and other forces except contacts do in the time step.
    pub(crate) fn external_work_j(&self) -> f64 {
        let free = self.problem.energy_minus_j();
        self.energy_j.map_or(0.0, |energy| free - energy)
    }

    /// Adds to the JSON fields the kinetic energy without contact and the external work (J), if gravity or actuators act in
    /// the time step.
    pub(crate) fn energies(&self, fields: &mut Map<String, Value>) {
        if self.energy_j.is_some() {
            let free = self.problem.energy_minus_j();
            fields.insert("energy_free_j".to_owned(), free.into());
            let work = self.external_work_j();
            fields.insert("external_work_j".to_owned(), work.into());
        }
    }
}
