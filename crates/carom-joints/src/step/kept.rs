//! The end of a step, with which the next one may begin: its rows, and its factors where the compliances are the same.

use super::Stepper;
use crate::JointError;
use crate::multibody::Posture;
use carom_lie::So3;
use carom_variational::State;
use nalgebra::Vector3;

/// Place at which the last step has ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    places: Vec<(Vector3<f64>, So3)>,
    q: Vec<f64>,
    /// True if the rows of the end of the last step are those of the places.
    has_rows: bool,
    /// Compliances with which the equations at the places were factored last; empty if they were not.
    compliance: Vec<f64>,
}

impl Kept {
    /// Keeps the end of a step.
    pub(super) fn keep(&mut self, end: &Posture) {
        self.places.clear();
        let place = |state: &State| (state.position, state.rotation);
        self.places.extend(end.states.iter().map(place));
        self.q.clone_from(&end.q);
        self.has_rows = true;
    }

    /// Notes the compliances of the factors at the end of the step that is made.
    pub(super) fn note_factors(&mut self, compliance: &[f64]) {
        self.compliance.clear();
        self.compliance.extend_from_slice(compliance);
    }

    /// Forgets the factors: others take their room.
    pub(super) fn forget(&mut self) {
        self.compliance.clear();
    }

    /// True if the rows of the last step's end are those of a posture.
    fn is_at(&self, posture: &Posture) -> bool {
        let here = self.places.iter().zip(&posture.states);
        self.has_rows && self.places.len() == posture.states.len() && self.q == posture.q && {
            here
        }
        .all(|((x, turn), state)| *x == state.position && *turn == state.rotation)
    }
}

impl Stepper<'_> {
    /// Writes the rows at the start of a step: those at the end of the last one, if it has ended there.
    pub(super) fn begin_rows(&mut self, start: &Posture) {
        if self.kept.is_at(start) {
            std::mem::swap(&mut self.rows, &mut self.end_rows);
        } else {
            self.kept.forget();
            self.multibody.rows(&start.states, &start.q, &mut self.rows);
        }
        self.kept.has_rows = false;
    }

    /// Factors the equations at the start of a step, unless the last step has done so.
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
