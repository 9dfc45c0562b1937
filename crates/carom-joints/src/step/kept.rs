//! Reuse of the end of a step by the next one: its rows, and its factors if the compliances are equal.

use super::Stepper;
use crate::JointError;
use crate::multibody::Posture;
use carom_lie::So3;
use carom_variational::State;
use nalgebra::Vector3;

/// Configuration at the end of the last step.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    places: Vec<(Vector3<f64>, So3)>,
    q: Vec<f64>,
    /// True if the stored rows belong to this configuration.
    has_rows: bool,
    /// Compliances of the latest factorization at this configuration; empty if there is no valid one.
    compliance: Vec<f64>,
}

impl Kept {
    /// Stores the configuration at the end of a step, so that the next step can reuse its Jacobian rows.
    pub(super) fn keep(&mut self, end: &Posture) {
        self.places.clear();
        let place = |state: &State| (state.position, state.rotation);
        self.places.extend(end.states.iter().map(place));
        self.q.clone_from(&end.q);
        self.has_rows = true;
    }

    /// Stores the compliances (rate per unit impulse) of all joint rows with which the equations at the end of the step were
    /// factored.
    pub(super) fn note_factors(&mut self, compliance: &[f64]) {
        self.compliance.clear();
        self.compliance.extend_from_slice(compliance);
    }

    /// Marks the stored factorization as invalid, before another one overwrites it.
    pub(super) fn forget(&mut self) {
        self.compliance.clear();
    }

    /// Returns true if the stored Jacobian rows are those at the configuration of `posture`.
    fn is_at(&self, posture: &Posture) -> bool {
        let here = self.places.iter().zip(&posture.states);
        self.has_rows && self.places.len() == posture.states.len() && self.q == posture.q && {
            here
        }
        .all(|((x, turn), state)| *x == state.position && *turn == state.rotation)
    }
}

impl Stepper<'_> {
    /// Computes the Jacobian rows of all joints at the start of a step. If the previous step ended in this configuration, its
    /// rows are reused.
    pub(super) fn begin_rows(&mut self, start: &Posture) {
        if self.kept.is_at(start) {
            std::mem::swap(&mut self.rows, &mut self.end_rows);
        } else {
            self.kept.forget();
            self.multibody.rows(&start.states, &start.q, &mut self.rows);
        }
        self.kept.has_rows = false;
    }

    /// Factors the joint equations at the start of a step. If the previous step ended there with equal compliances, its
    /// factorization is reused. `time` (s) is reported in errors.
    pub(super) fn factor_start(&mut self, start: &Posture, time: f64) -> Result<(), JointError> {
        if self.kept.compliance == self.compliance && !self.kept.compliance.is_empty() {
            return Ok(());
        }
        self.kept.forget();
        let (elimination, states) = (&mut self.elimination, &start.states);
        self.multibody
            .factor(elimination, states, &self.rows, &self.compliance, time)
    }
}
