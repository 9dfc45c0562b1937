//! Energy error of the time steps: reported, and bounded.

use super::run::Run;
use crate::guard::two_digits;
use crate::{MotionError, StepFault};

/// Largest energy that the errors of the steps may add or remove, as a fraction of the energy that was in motion: the largest
/// kinetic energy so far, impact losses and all works. The energy error of an oscillation of angular frequency $\omega$ with time
/// step $h$ is a quarter of $(h\omega)^2$, so that ten steps a period reach this bound.
const MOST_CHANGED: f64 = 0.1;

/// Rounding of energies and of positions along constraints, as a fraction of the current and the initial energy plus the total
/// mass times the square of the fastest speed.
const ROUNDING: f64 = 1e-9;

/// Smallest time step that the error suggests, as a fraction of the current one: below it the second-order estimate is not
/// meaningful.
const LEAST_NAMED: f64 = 1e-3;

impl Run<'_> {
    /// Computes the energy balance of the run after an accepted step, and updates its largest energy error.
    ///
    /// # Errors
    ///
    /// [`MotionError::StepTooLarge`] if the steps have added or removed more energy than [`MOST_CHANGED`] allows.
    pub(super) fn note_energy(&mut self) -> Result<(), MotionError> {
        let mb = self.world.multibody();
        let energy = mb.energy(&self.posture);
        let works = &self.works;
        let taken = self.impact_loss + works.damper + works.friction + works.contact + works.drag;
        let error = energy - self.initial + taken
            - works.actuator
            - self.input
            - self.applied_work()
            - works.applied;
        if error.is_finite() {
            self.energy_error = self.energy_error.max(error.abs());
        }
        self.most_kinetic = self.most_kinetic.max(mb.kinetic(&self.posture));
        // Energy supplied by contacts is an error as well: the larger of the two decides.
        let given = -works.contact;
        let change = if given > error.abs() { given } else { error };
        let works = works.actuator.abs()
            + works.applied.abs()
            + works.damper
            + works.friction
            + works.drag
            + works.contact.abs();
        let most = MOST_CHANGED * (self.most_kinetic + self.impact_loss + works);
        let masses = (0..mb.n_bodies()).filter_map(|i| Some(mb.rigid(i)?.mass()));
        // `fastest` includes the speed that gravity gives in one step.
        let fastest = self.fastest * self.fastest * masses.sum::<f64>();
        let rounding = ROUNDING * (energy.abs() + self.initial.abs() + fastest);
        let size = change.abs();
        if size <= most + rounding || !size.is_finite() {
            return Ok(());
        }
        if size <= most + rounding + self.force_rounding() {
            return Ok(());
        }
        let h = self.world.time_step;
        Err(MotionError::StepTooLarge {
            time: self.time,
            time_step: h,
            // Errors are of the second order.
            sufficient: Some(two_digits(0.5 * h * (most / size).sqrt().max(LEAST_NAMED))),
            fault: if change > 0.0 {
                StepFault::Gain { energy: size, most }
            } else {
                StepFault::Loss { energy: size, most }
            },
        })
    }

    /// Returns the work that the present forces along the coordinates do over the rounding of the coordinates (J). A system that
    /// actuators load and friction or limits hold still has no other energy than this.
    fn force_rounding(&self) -> f64 {
        let forces = self.forces(self.time, &self.posture.q, &self.rates);
        let all = forces.iter().zip(&self.holding).enumerate();
        let works = all.map(|(k, (force, held))| {
            (force.abs() + held.abs()) * (self.unit(k) + self.posture.q[k].abs())
        });
        ROUNDING * works.sum::<f64>()
    }
}
