//! Energy error of the time steps: reported, and bounded. Forces along the coordinates.

use super::run::Run;
use crate::guard::two_digits;
use crate::{MotionError, StepFault};
use carom_joints::coordinates::CoordinateSpec;
use carom_joints::step::Step;

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

/// Largest impulse of a contact, as a multiple of all momenta and loads.
const SELF_STRESS: f64 = 1e6;

impl Run<'_> {
    /// Returns the largest energy that the errors of all steps may add or remove (J), and the rounding of energies of this size.
    fn most_changed(&self, kinetic: f64, energy: f64) -> [f64; 2] {
        let (works, mb) = (&self.works, self.world.multibody());
        let works = works.actuator.abs()
            + works.applied.abs()
            + works.damper
            + works.friction
            + works.drag
            + works.contact.abs();
        let most = MOST_CHANGED * (self.most_kinetic.max(kinetic) + self.impact_loss + works);
        let masses = (0..mb.n_bodies()).filter_map(|i| Some(mb.rigid(i)?.mass()));
        // `fastest` includes the speed that gravity gives in one step.
        let fastest = self.fastest * self.fastest * masses.sum::<f64>();
        let rounding = ROUNDING * (energy.abs() + self.initial.abs() + fastest);
        [most, rounding]
    }

    /// True if a step from the present posture, or its contacts, gives more energy than the errors of all steps may add.
    pub(super) fn explodes(&self, step: &Step) -> bool {
        let (works, mb) = (&step.works, self.world.multibody());
        let taken = works.damper + works.friction + works.contact + works.drag;
        let given = works.actuator + works.applied;
        let energy = mb.energy(&step.end);
        let error = energy - mb.energy(&self.posture) + taken - given;
        let [most, rounding] = self.most_changed(mb.kinetic(&step.end), energy);
        error.max(-works.contact) > most + rounding + self.force_rounding()
    }

    /// True if contacts or limits give a step more energy or larger impulses than the motion explains.
    pub(super) fn is_unsound(&self, step: &Step) -> bool {
        let presses = !self.pressing.is_empty() || self.modes.held.iter().any(Option::is_some);
        presses && (self.explodes(step) || self.is_self_stressed(step.touching.iter().flatten()))
    }

    /// True if an impulse is larger than loads and momenta of the whole system can explain: it presses where the joints let nothing
    /// move, and its rounding moves bodies.
    pub(super) fn is_self_stressed<'i>(&self, impulses: impl IntoIterator<Item = &'i f64>) -> bool {
        let mb = self.world.multibody();
        let masses = (0..mb.n_bodies()).filter_map(|i| Some(mb.rigid(i)?.mass()));
        // `fastest` includes the speed that gravity gives in one step; forces along coordinates act for one.
        let forces = self.forces(self.time, &self.posture.q, &self.rates);
        let pushed = forces.iter().map(|force| force.abs()).sum::<f64>() * self.world.time_step;
        let most = SELF_STRESS * (masses.sum::<f64>() * self.fastest + pushed);
        impulses.into_iter().any(|impulse| impulse.abs() > most)
    }

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
        let [most, rounding] = self.most_changed(0.0, energy);
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

    /// Returns the total force along each joint coordinate at the time `time` (s) (N or N m): spring, damper, friction, actuator
    /// and control. `q` holds the coordinates, `rates` their time derivatives.
    pub(super) fn forces(&self, time: f64, q: &[f64], rates: &[f64]) -> Vec<f64> {
        let mb = self.world.multibody();
        let one = |(k, c): (usize, &CoordinateSpec)| {
            let friction = match (self.modes.held[k], self.at_limit(k)) {
                _ if self.modes.implicit[k] => self.holding[k],
                (Some(_), None) => self.holding[k],
                (Some(_), Some(_)) => 0.0,
                (None, _) => -c.friction * self.modes.slides[k],
            };
            let actuator = c
                .actuator
                .as_ref()
                .map_or(0.0, |a| a.force(q[k], rates[k], time, true));
            c.stiffness * (c.rest - q[k]) - c.damping * rates[k]
                + friction
                + actuator
                + self.modes.control[k]
        };
        mb.coordinates().enumerate().map(one).collect()
    }
}
