//! Mass matrices and contact normals shared by several scenarios.

use crate::ScenarioError;
use carom_contact::{
    Contact, ContactSet, ImpactLaw, ImpactOutcome, ImpactProblem, OutcomeSet,
    PropagativeDiagnostics, SetValuedLaw,
};
use carom_impact::{EnergeticRestitution, Propagative, Uniqueness, uniqueness};
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};

/// System at the instant of impact: mass matrix and gradients of the gaps.
#[derive(Clone, Debug)]
pub(crate) struct System {
    metric: KineticMetric,
    normals: Vec<Covector>,
}

impl System {
    pub(crate) fn new(mass: DMatrix<f64>, normals: Vec<Covector>) -> Result<Self, ScenarioError> {
        Ok(Self {
            metric: KineticMetric::new(mass)?,
            normals,
        })
    }

    /// Creates a system with a diagonal mass matrix.
    pub(crate) fn diagonal(masses: &[f64], normals: Vec<Covector>) -> Result<Self, ScenarioError> {
        Self::new(
            DMatrix::from_diagonal(&DVector::from_column_slice(masses)),
            normals,
        )
    }

    fn contacts(&self) -> Result<ContactSet, ScenarioError> {
        let contacts = self
            .normals
            .iter()
            .cloned()
            .map(Contact::frictionless)
            .collect();
        Ok(ContactSet::new(&self.metric, contacts)?)
    }

    /// Returns the cosine of the angle between the unit normals of the first two contacts, in the kinetic metric (the scalar
    /// product defined by the mass matrix).
    pub(crate) fn cosine(&self) -> Result<f64, ScenarioError> {
        let contacts = self.contacts()?;
        let (rows, columns) = contacts.cosines().shape();
        if rows < 2 || columns < 2 {
            return Err(ScenarioError::value("contacts", "two are needed"));
        }
        Ok(contacts.cosines()[(0, 1)])
    }

    pub(crate) fn uniqueness(&self) -> Result<Uniqueness, ScenarioError> {
        Ok(uniqueness(&self.contacts()?))
    }

    /// Returns the largest indeterminacy of the first two contacts over all momenta before the impact. Indeterminacy is the
    /// distance between the momenta after the two orders of impacts, divided by the norm of the momentum before. The result is
    /// 0 if both contacts have equal normals and count as one.
    pub(crate) fn worst_indeterminacy(&self) -> Result<f64, ScenarioError> {
        let pairs = self.uniqueness()?.pairs;
        Ok(pairs.first().map_or(0.0, |pair| pair.worst_indeterminacy))
    }

    pub(crate) fn resolve(
        &self,
        velocity: &[f64],
        law: &Propagative,
    ) -> Result<ImpactOutcome, ScenarioError> {
        Ok(law.resolve(&self.problem(velocity)?)?)
    }

    pub(crate) fn resolve_all(
        &self,
        velocity: &[f64],
        law: &Propagative,
    ) -> Result<OutcomeSet, ScenarioError> {
        Ok(law.resolve_all(&self.problem(velocity)?)?)
    }

    /// Resolves a sequence of elastic elementary impacts. Returns the velocities before the first one and after each of them.
    /// `sequence`: index of the contact of each elementary impact.
    pub(crate) fn chain(
        &self,
        velocity: &[f64],
        sequence: &[usize],
    ) -> Result<Vec<Vec<f64>>, ScenarioError> {
        let mut momentum = self.metric.flat(&Tangent::from_slice(velocity))?;
        let mut steps = vec![velocity.to_vec()];
        for normal in sequence.iter().filter_map(|i| self.normals.get(*i)) {
            momentum = self.metric.reflect(&momentum, normal)?;
            steps.push(self.metric.sharp(&momentum)?.0.as_slice().to_vec());
        }
        Ok(steps)
    }

    fn problem(&self, velocity: &[f64]) -> Result<ImpactProblem, ScenarioError> {
        Ok(self.contacts()?.problem(Tangent::from_slice(velocity))?)
    }
}

/// Creates the propagative law with one coefficient of restitution for the energy of the whole impact.
pub(crate) fn propagative(restitution: f64) -> Result<Propagative, ScenarioError> {
    let restitution = EnergeticRestitution::new(restitution)?;
    Ok(Propagative::default().with_restitution(restitution))
}

/// Returns the contact normals between neighboring bodies on a line. Gap `i` is $x_{i+1} - x_i$ minus the radii of both
/// bodies.
pub(crate) fn chain_normals(bodies: usize) -> Vec<Covector> {
    (1..bodies)
        .map(|i| row(bodies, &[(i - 1, -1.0), (i, 1.0)]))
        .collect()
}

/// Returns two contact normals in the Euclidean plane. The velocities with nonnegative components along both normals form a
/// wedge around the x axis, with the angle `half_angle` (rad) to each side.
pub(crate) fn wedge_normals(half_angle: f64) -> [Covector; 2] {
    [1.0, -1.0].map(|sign| {
        row(
            2,
            &[
                (0, libm::sin(half_angle)),
                (1, sign * libm::cos(half_angle)),
            ],
        )
    })
}

/// Returns the contact normal of the touching disks `i` and `j` in the plane, for the coordinates
/// $(x_1, y_1, x_2, y_2, \dots)$ of all disks.
pub(crate) fn disk_normal(centers: &[[f64; 2]], i: usize, j: usize) -> Covector {
    let [dx, dy] = [centers[j][0] - centers[i][0], centers[j][1] - centers[i][1]];
    let distance = libm::hypot(dx, dy);
    let (dx, dy) = (dx / distance, dy / distance);
    let entries = [(2 * i, -dx), (2 * i + 1, -dy), (2 * j, dx), (2 * j + 1, dy)];
    row(2 * centers.len(), &entries)
}

/// Creates a covector (row vector) of length `n`. `entries`: indices and values of its nonzero entries.
pub(crate) fn row(n: usize, entries: &[(usize, f64)]) -> Covector {
    let mut row = DVector::zeros(n);
    for &(i, value) in entries {
        if let Some(entry) = row.get_mut(i) {
            *entry = value;
        }
    }
    Covector(row)
}

/// Returns the diagnostics of an outcome of the propagative law; the default ones for an outcome of another law.
pub(crate) fn diagnostics(outcome: &ImpactOutcome) -> PropagativeDiagnostics {
    match &outcome.diagnostics {
        carom_contact::Diagnostics::Propagative(diagnostics) => diagnostics.clone(),
        _ => PropagativeDiagnostics::default(),
    }
}

/// Returns the energy change in an impact divided by the energy before it.
pub(crate) fn relative_energy_change(outcome: &ImpactOutcome) -> f64 {
    outcome.audit.energy_change_j() / outcome.audit.energy_minus_j
}
