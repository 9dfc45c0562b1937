//! The energy that the errors of the steps add or take: told, and limited.

use super::run::Run;
use crate::world::guard::two_digits;
use crate::world::{MotionError, StepFault};

/// Energy that the errors of the steps may add or take at most, as a fraction of what moved so far: the largest kinetic energy and
/// all works. That of an oscillation of the frequency $\omega$ is off by a quarter of $(h\omega)^2$, so that ten steps a period
/// reach it.
const MOST_CHANGED: f64 = 0.1;

/// Rounding of energies and of positions along constraints, as a fraction of the energies now and at the start and of all masses
/// at the fastest speed.
const ROUNDING: f64 = 1e-9;

/// Step that is named at least, as a fraction of the present one: beyond it the second order tells nothing.
const LEAST_NAMED: f64 = 1e-3;

impl Run<'_, '_> {
    /// Notes the error of the energy after a step.
    ///
    /// # Errors
    ///
    /// [`MotionError::StepTooLarge`] if the steps have added or taken more energy than their order explains.
    pub(super) fn note_energy(&mut self) -> Result<(), MotionError> {
        let mb = self.world.multibody();
        let energy = mb.energy(&self.posture);
        let works = &self.works;
        let taken = self.impact_loss + works.damper + works.friction + works.contact;
        let error = energy - self.initial + taken - works.actuator;
        if error.is_finite() {
            self.energy_error = self.energy_error.max(error.abs());
        }
        self.most_kinetic = self.most_kinetic.max(mb.kinetic(&self.posture));
        // An energy that contacts would have given is an error as well: the larger of the two decides.
        let given = -works.contact;
        let change = if given > error.abs() { given } else { error };
        let works = works.actuator.abs() + works.damper + works.friction + works.contact.abs();
        let most = MOST_CHANGED * (self.most_kinetic + self.impact_loss + works);
        let masses = (0..mb.n_bodies()).filter_map(|i| Some(mb.rigid(i)?.mass()));
        // The fall within a step is part of the fastest motion.
        let fastest = self.fastest * self.fastest * masses.sum::<f64>();
        let rounding = ROUNDING * (energy.abs() + self.initial.abs() + fastest);
        let size = change.abs();
        if size <= most + rounding || !size.is_finite() {
            return Ok(());
        }
        let h = self.world.time_step;
        Err(MotionError::StepTooLarge {
            time: self.time,
            time_step: h,
            // Errors are of the second order.
            sufficient: Some(two_digits(0.5 * h * (most / size).sqrt().max(LEAST_NAMED))),
            fault: match change > 0.0 {
                true => StepFault::Gain { energy: size, most },
                false => StepFault::Loss { energy: size, most },
            },
        })
    }
}
