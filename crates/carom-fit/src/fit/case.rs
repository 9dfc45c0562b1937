//! Prediction of a measured impact by an impact law.

use super::parameter::{Coefficient, Parameters};
use super::rule::{Kind, Rule};
use crate::check::Speed;
use crate::poses::Gravity;
use crate::states::State;
use carom_contact::internal::orthonormal;
use carom_contact::{Contact, ContactSet, ImpactError, ImpactLaw, ImpactProblem, MARKED_DIGITS};
use carom_impact::frictional::{Sampler, SetValued};
use carom_impact::internal::Draw;
use carom_metric::{Covector, KineticMetric, Tangent, kernel};
use carom_numeric::decisions::RANK;
use nalgebra::{DVector, Vector3};
use std::ops::Range;
use std::sync::Arc;

/// Measured impact, prepared for repeated prediction.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub state: State,
    /// Place of the impact in the list of all measured impacts.
    pub place: usize,
    /// Coordinates of the blocks that a contact touches, and the kinetic norm of the velocity before over them.
    pub speed: Speed,
    /// Number of these coordinates.
    pub dim: usize,
    /// Coordinates whose mass the factor of the inertia multiplies.
    inertia: Range<usize>,
    /// Contact with the smallest gap, or the only one.
    lowest: Option<usize>,
    contacts: Vec<Contact>,
    /// True for contacts that approach. Only these get a restitution: Newton's law would make a separating contact approach.
    approaches: Vec<bool>,
}

impl Rule {
    /// Predicts the velocity after a measured impact, with its configured inertia. Restitution and friction are those of
    /// `parameters`, but a contact that does not approach has restitution 0.
    ///
    /// # Errors
    ///
    /// [`ImpactError`] if the law has no answer. An impact without contact or speed has the velocity before it.
    pub fn predict(&self, state: &State, parameters: &Parameters) -> Result<Vec<f64>, ImpactError> {
        let Some(case) = Case::new(state.clone(), 0, 0..0) else {
            return Ok(state.minus.clone());
        };
        let restitution = parameters.value(Coefficient::Restitution, None);
        let rule = self.with_restitution(restitution);
        Ok(case.predict(&rule, parameters)?.velocity)
    }
}

/// Predicted velocity after an impact.
#[derive(Clone, Debug)]
pub(crate) struct Prediction {
    pub velocity: Vec<f64>,
    /// True if the velocity has few correct digits.
    pub is_ill_conditioned: bool,
}

impl Case {
    /// Prepares the state at a place of the list of all. `None` if it has no contact or no speed.
    pub(crate) fn new(state: State, place: usize, inertia: Range<usize>) -> Option<Self> {
        let speed = Speed::new(&state);
        if state.contacts.is_empty() || !speed.is_positive() {
            return None;
        }
        let n = state.dim().max(1);
        let contact = |touch: &crate::states::Touch| {
            let mut rows = touch.rows.chunks_exact(n).map(Covector::from_slice);
            let normal = rows.next().unwrap_or_else(|| Covector::from_slice(&[]));
            Contact::new(normal).with_tangents(rows.collect::<Vec<_>>())
        };
        let gaps: Option<Vec<f64>> = state.contacts.iter().map(|c| c.gap).collect();
        let least = |gaps: Vec<f64>| (0..gaps.len()).min_by(|&i, &j| gaps[i].total_cmp(&gaps[j]));
        let is_closing = |row: &[f64]| kernel::dot(row, &state.minus) < 0.0;
        Some(Self {
            dim: speed.touched.iter().filter(|is| **is).count(),
            inertia,
            lowest: gaps
                .and_then(least)
                .or((state.contacts.len() == 1).then_some(0)),
            contacts: state.contacts.iter().map(contact).collect(),
            approaches: state.normals().map(is_closing).collect(),
            speed,
            place,
            state,
        })
    }

    /// Returns the measured impact as it would have been measured if the estimate of gravity had been larger by the vector
    /// `more` (m/s²). The velocities before and after the impact change.
    pub(crate) fn under(&self, gravity: &Gravity, more: &Vector3<f64>) -> Self {
        let mut state = self.state.clone();
        gravity.shift(self.place, &mut state, more);
        Self::new(state, self.place, self.inertia.clone()).unwrap_or_else(|| self.clone())
    }

    /// Returns the metric with the mass of the coordinates of the inertia multiplied by a factor.
    pub(crate) fn metric(&self, factor: f64) -> Result<Arc<KineticMetric>, ImpactError> {
        if factor == 1.0 || self.inertia.is_empty() {
            return Ok(Arc::clone(&self.state.metric));
        }
        let mut mass = self.state.metric.mass_matrix().clone();
        let (start, size) = (self.inertia.start, self.inertia.len());
        let mut block = mass.view_mut((start, start), (size, size));
        block *= factor;
        Ok(Arc::new(KineticMetric::new(mass)?))
    }

    /// Assembles the impact problem, with the contacts that `rule` takes and the parameters `p`.
    fn problem(&self, rule: &Rule, p: &Parameters) -> Result<ImpactProblem, ImpactError> {
        let metric = self.metric(p.value(Coefficient::Inertia, None))?;
        let alone = self.lowest.filter(|_| rule.takes_one_contact());
        let is_taken = |k: usize| alone.is_none_or(|lowest| lowest == k);
        let contact = |k: usize| {
            let surface = Some(&*self.state.contacts[k].surface);
            let mut contact = if rule.takes_tangents() {
                self.contacts[k].clone()
            } else {
                Contact::frictionless(self.contacts[k].normal.clone())
            };
            if !contact.tangents.is_empty() {
                contact.friction = p.value(Coefficient::Friction, surface);
            }
            if self.approaches[k] {
                contact.restitution = p.value(Coefficient::Restitution, surface);
            }
            contact
        };
        let places = (0..self.contacts.len()).filter(|k| is_taken(*k));
        let contacts = places.map(contact).collect();
        let forms = self.state.constraints.chunks_exact(self.state.dim().max(1));
        let forms: Vec<Covector> = forms.map(Covector::from_slice).collect();
        let mut velocity = DVector::from_column_slice(&self.state.minus);
        let is_constrained = !forms.is_empty();
        let set = ContactSet::constrained(metric, contacts, forms)?;
        if is_constrained {
            velocity = set.stop_constraints(velocity);
        }
        set.problem(Tangent(velocity))
    }

    /// Predicts the velocity after this measured impact by a rule with the parameters `p`.
    pub(crate) fn predict(&self, rule: &Rule, p: &Parameters) -> Result<Prediction, ImpactError> {
        let told = |velocity| Prediction {
            velocity,
            is_ill_conditioned: false,
        };
        match &rule.kind {
            Kind::Law(law) => {
                let outcome = law.resolve(&self.problem(rule, p)?)?;
                let velocity = outcome.velocity_plus.0.as_slice().to_vec();
                if !velocity.iter().all(|x| x.is_finite()) {
                    return Err(ImpactError::Overflow);
                }
                Ok(Prediction {
                    velocity,
                    is_ill_conditioned: outcome.audit.digits.is_some_and(|d| d < MARKED_DIGITS),
                })
            }
            Kind::Stick => Ok(told(self.stick(p)?)),
            Kind::NoImpact => Ok(told(self.state.minus.clone())),
        }
    }

    /// Returns the velocity after the impact if all contacts stop, by the least change of velocity in the kinetic norm.
    fn stick(&self, p: &Parameters) -> Result<Vec<f64>, ImpactError> {
        let metric = self.metric(p.value(Coefficient::Inertia, None))?;
        let n = self.state.dim();
        let rows = self.state.unit_rows(&metric, self.state.rows());
        let basis = orthonormal(rows.iter().map(Vec::as_slice), RANK);
        let mut momentum = vec![0.0; n];
        metric.whiten_velocity_into(&self.state.minus, &mut momentum);
        for axis in basis.chunks_exact(n.max(1)) {
            let along = kernel::dot(axis, &momentum);
            kernel::add_scaled(&mut momentum, -along, axis);
        }
        metric.unwhiten_velocity_in_place(&mut momentum);
        Ok(momentum)
    }

    /// Draws `samples` random outcomes of the set-valued law for this impact, with random numbers determined by `seed`.
    /// Returns the misfit of the nearest of these outcomes.
    pub(crate) fn set_distance(
        &self,
        rule: &Rule,
        p: &Parameters,
        seed: u64,
        samples: u64,
    ) -> Result<f64, ImpactError> {
        let problem = &self.problem(rule, p)?;
        if !problem.is_approaching() {
            return Ok(kernel::norm(&self.residual(&self.state.minus)));
        }
        let law = SetValued::default().with_samples(samples).with_seed(seed);
        let sampler = Sampler::new(problem, &law)?;
        let mut draw = Draw::default();
        let mut nearest = f64::INFINITY;
        for sample in 0..samples {
            let ends = sampler.draw(sample, &mut draw).is_ok() && draw.is_ended;
            if let Some(Ok(outcome)) = ends.then(|| sampler.outcome(&draw)) {
                let misfit = kernel::norm(&self.residual(outcome.velocity_plus.0.as_slice()));
                nearest = nearest.min(misfit);
            }
        }
        if nearest.is_finite() {
            Ok(nearest)
        } else {
            Err(law.none_ended())
        }
    }

    /// Computes the relative residual (whitened, n entries) of a predicted velocity after the impact. Its Euclidean norm is the
    /// misfit $d = \lVert\hat v^+ - v^+\rVert_M/\rho$, with the measured velocity $v^+$, the configured mass matrix $M$, and the
    /// kinetic norm $\rho$ of the velocity before the impact, both over the coordinates of blocks that a contact touches.
    pub(crate) fn residual(&self, predicted: &[f64]) -> Vec<f64> {
        let speed = &self.speed;
        let measured = self.state.plus.iter().zip(&speed.touched);
        let both = predicted.iter().zip(measured);
        let difference: Vec<f64> = both
            .map(|(a, (b, is_touched))| if *is_touched { a - b } else { 0.0 })
            .collect();
        let mut whitened = vec![0.0; difference.len()];
        self.state
            .metric
            .whiten_velocity_into(&difference, &mut whitened);
        whitened.iter_mut().for_each(|x| *x /= speed.size);
        whitened
    }

    /// Splits a residual into the lengths of its parts in the span of the normal rows, in the rest of the span of all rows, and
    /// in what no row reaches.
    pub(crate) fn split(&self, residual: &[f64]) -> [f64; 3] {
        let state = &self.state;
        let unit = |rows: &mut dyn Iterator<Item = &[f64]>| state.unit_rows(&state.metric, rows);
        let normals = unit(&mut state.normals());
        let first = orthonormal(normals.iter().map(Vec::as_slice), RANK).len();
        let rest = unit(&mut state.rows());
        let all = normals.iter().chain(&rest).map(Vec::as_slice);
        let basis = orthonormal(all, RANK);
        let mut rest = residual.to_vec();
        let mut squares = [0.0; 2];
        for (k, axis) in basis.chunks_exact(state.dim().max(1)).enumerate() {
            let along = kernel::dot(axis, &rest);
            kernel::add_scaled(&mut rest, -along, axis);
            let is_normal = (k + 1) * state.dim() <= first;
            squares[usize::from(!is_normal)] += along * along;
        }
        [squares[0].sqrt(), squares[1].sqrt(), kernel::norm(&rest)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DataSetup;

    /// The parts of a residual are orthogonal.
    #[test]
    fn a_residual_is_the_sum_of_its_parts() {
        let line = r#"{"mass_matrix": [[2,0.1,0],[0.1,2,0],[0,0,0.4]], "velocity": [0.3,-1,0.1],
            "velocity_plus": [0.2,0.4,0.3], "contacts": [{"normal": [0,1,-0.6], "tangents": [[1,0,1]]}]}"#;
        let measured = DataSetup::default()
            .read(line.replace('\n', "").as_bytes(), false, &[])
            .unwrap();
        let case = Case::new(measured.states[0].clone(), 0, 0..0).unwrap();
        let residual = case.residual(&[0.1, 0.3, -0.2]);
        let parts = case.split(&residual);
        let sum: f64 = parts.iter().map(|part| part * part).sum();
        assert!((sum - kernel::dot(&residual, &residual)).abs() <= 1e-14);
        assert!(parts.iter().all(|part| *part > 1e-3), "{parts:?}");
        let stick = Rule::by_name("stick").unwrap();
        let stopped = case.predict(&stick, &Parameters::NONE).unwrap().velocity;
        for row in case.state.rows() {
            assert!(kernel::dot(row, &stopped).abs() <= 1e-15);
        }
    }
}
