//! A box that lands on its four lower corners.

use crate::ScenarioError;
use crate::config::{NonNegative, Positive};
use carom_contact::{Contact, ContactSet, ImpactProblem};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};
use serde::Deserialize;

/// A uniform box and its motion before the impact, in world axes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoxConfig {
    size: [Positive; 3],
    mass: Positive,
    friction: NonNegative,
    velocity: [f64; 3],
    angular_velocity: [f64; 3],
}

impl BoxConfig {
    /// Returns the velocity before the impact: linear velocity (m/s), then angular velocity (rad/s).
    pub(super) fn before(&self) -> Vec<f64> {
        [self.velocity, self.angular_velocity].concat()
    }

    /// Builds the impact problem of the box.
    pub(super) fn problem(&self) -> Result<ImpactProblem, ScenarioError> {
        let [x, y, z] = self.size.each_ref().map(|s| **s);
        let m = *self.mass;
        let inertia = [y * y + z * z, x * x + z * z, x * x + y * y].map(|s| m * s / 12.0);
        let diagonal = DVector::from_vec(vec![m, m, m, inertia[0], inertia[1], inertia[2]]);
        let metric = KineticMetric::new(DMatrix::from_diagonal(&diagonal))?;
        let corner = |(sx, sy): (f64, f64)| {
            let (x, y, z) = (0.5 * sx * x, 0.5 * sy * y, -0.5 * z);
            Contact::new(Covector::from_slice(&[0.0, 0.0, 1.0, y, -x, 0.0]))
                .with_tangents(vec![
                    Covector::from_slice(&[1.0, 0.0, 0.0, 0.0, z, -y]),
                    Covector::from_slice(&[0.0, 1.0, 0.0, -z, 0.0, x]),
                ])
                .with_friction(*self.friction)
        };
        let corners = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)].map(corner);
        let contacts = ContactSet::new(metric, corners.to_vec())?;
        Ok(contacts.problem(Tangent::from_slice(&self.before()))?)
    }
}
