//! Reuse of the end of a step by the next one: its rows, and its factors if the compliances are equal.

use super::Stepper;
use crate::JointError;
use crate::multibody::Posture;
use carom_lie::So3;
use carom_variational::State;
use nalgebra::Vector3;

/// Configuration at the end of the last step.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Kept {
    places: Vec<(Vector3<f64>, So3)>,
    q: Vec<f64>,
    /// Coordinates with which the rows were computed: before those that are held were set exactly to their places.
    rows_q: Vec<f64>,
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

    /// Stores the coordinates with which the rows at the end of a step are computed.
    pub(super) fn note_rows(&mut self, q: &[f64]) {
        self.rows_q.clear();
        self.rows_q.extend_from_slice(q);
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

/// Memory of a [`Stepper`] between two steps, without its work space: impulses of the last steps, and the end of the latest.
#[cfg(feature = "serde")]
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Remembered {
    history: Vec<Vec<f64>>,
    kept: Kept,
}

#[cfg(feature = "serde")]
impl<M> super::StepperOf<M> {
    /// Returns the memory that the next steps depend on.
    pub fn remembered(&self) -> Remembered {
        let Kept { has_rows, .. } = self.kept;
        Remembered {
            history: self.history.clone(),
            kept: if has_rows {
                self.kept.clone()
            } else {
                Kept::default()
            },
        }
    }
}

#[cfg(feature = "serde")]
impl Stepper<'_> {
    /// Goes on with the memory of another integrator of this system: rows and factors are computed again, to the same bits. Returns
    /// false, and is of no further use, if the memory is one of another system.
    #[must_use]
    pub fn recall(&mut self, remembered: Remembered) -> bool {
        let mb = self.multibody;
        let Remembered { history, kept } = remembered;
        let fits = history.len() <= super::EXTRAPOLATED
            && history.iter().all(|entry| entry.len() == mb.n_rows());
        (self.history, self.kept) = (history, kept);
        if !self.kept.has_rows {
            return fits;
        }
        let state = |(position, rotation): &(Vector3<f64>, So3)| State {
            position: *position,
            rotation: *rotation,
            linear_momentum: Vector3::zeros(),
            angular_momentum: Vector3::zeros(),
        };
        let states: Vec<State> = self.kept.places.iter().map(state).collect();
        let is_finite = states.iter().all(|state| state.check().is_ok());
        let lengths = [self.kept.q.len(), self.kept.rows_q.len()];
        if !fits
            || !is_finite
            || states.len() != mb.n_bodies()
            || lengths != [mb.n_coordinates(); 2]
        {
            return false;
        }
        mb.rows(&states, &self.kept.rows_q, &mut self.end_rows);
        let compliance = &self.kept.compliance;
        if compliance.is_empty() {
            return true;
        }
        compliance.len() == mb.n_rows()
            && mb
                .factor(
                    &mut self.elimination,
                    &states,
                    &self.end_rows,
                    compliance,
                    0.0,
                )
                .is_ok()
    }
}
