//! Calls that propagate the derivatives along a run.

use super::carried::Struck;
use super::run::Run;
use carom_contact::{ImpactError, ImpactOutcome, ImpactProblem};
use carom_mechanism::MechanicalSystem;

impl<S: MechanicalSystem + ?Sized> Run<'_, '_, '_, S> {
    /// Records why the derivative of the run does not exist; `reason` is a short identifier, for example `grazing`.
    pub(crate) fn refuse(&mut self, reason: &str) {
        if let Some(carried) = &mut self.carried {
            carried.sensitivity.refuse(reason);
        }
    }

    /// Propagates the derivatives of the state over the current flight of length `h` (s). Does nothing if no derivatives were
    /// requested. `left` is the rest of the step of the time grid when the flight begins (s).
    pub(crate) fn follow_flight(&mut self, h: f64, left: f64) {
        if let Some(carried) = &mut self.carried
            && carried.sensitivity.is_open()
        {
            let (stepper, start) = (&mut self.stepper, &self.start);
            carried.follow(stepper, start, (h, h / left), &self.flight_mean);
        }
    }

    /// Propagates the derivatives of the state over the current flight of length `h` (s), which ends when a contact closes. Does
    /// nothing if no derivatives were requested. `contact` is the index of the contact.
    pub(crate) fn follow_arrival(&mut self, h: f64, contact: usize) {
        if let Some(carried) = &mut self.carried
            && carried.sensitivity.is_open()
        {
            let (stepper, start) = (&mut self.stepper, &self.start);
            let mut gradient = vec![0.0; start.configuration.len()];
            let (mean, at) = if h > 0.0 {
                (&self.flight_mean, &self.end.configuration)
            } else {
                (&start.velocity, &start.configuration)
            };
            stepper.system().gap_gradient(contact, at, &mut gradient);
            carried.arrive(stepper, start, h, mean, &gradient);
        }
    }

    /// Propagates the derivatives of the state through an impact. Does nothing if no derivatives were requested. `contacts` are
    /// the indices of the closed contacts in the order of the problem, and `trigger` is the index of the one that closed.
    /// `others_struck` is true if other contacts have impulses, too; the derivative then does not exist.
    pub(crate) fn follow_impact(
        &mut self,
        problem: &ImpactProblem,
        outcome: &ImpactOutcome,
        contacts: &[usize],
        trigger: usize,
        others_struck: bool,
    ) -> Result<(), ImpactError> {
        let Some(carried) = &mut self.carried else {
            return Ok(());
        };
        let (stepper, start) = (&mut self.stepper, &self.start);
        let mut gradient = vec![0.0; start.configuration.len()];
        stepper
            .system()
            .gap_gradient(trigger, &start.configuration, &mut gradient);
        let hit = Struck {
            problem,
            outcome,
            contacts,
            gradient: &gradient,
            others_struck,
        };
        carried.strike(stepper, start, &hit)
    }
}
