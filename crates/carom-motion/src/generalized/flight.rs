//! Motion between events: steps with the lasting contacts and their friction modes.

use super::IntegratorError;
use super::event::Balance;
use super::modes::{Combinations, FRICTION_LIMIT};
use super::projection::{Trial, is_consistent};
use super::run::Run;
use carom_mechanism::MechanicalSystem;
use carom_metric::kernel;
use carom_variational::generalized::{Bond, StepFailure};

/// Fraction of the momentum scale of a step below which impulses and sliding velocities have no sign.
const SIGN_TOLERANCE: f64 = 1e-10;

impl<S: MechanicalSystem + ?Sized> Run<'_, '_, '_, S> {
    /// Computes a step of at most `left` (s) from the start of the flight, with its end state. The length is halved until the
    /// step can be solved; the length that succeeded is returned.
    pub(crate) fn fly(&mut self, left: f64) -> Result<f64, IntegratorError> {
        let time = self.start.time;
        let found = self
            .bonds
            .iter()
            .filter(|bond| bond.is_frictional())
            .count();
        if found > FRICTION_LIMIT {
            let limit = FRICTION_LIMIT;
            return Err(IntegratorError::FrictionLimit { time, found, limit });
        }
        let mut h = left;
        let mut failure = StepFailure::NotConverged;
        for _ in 0..=self.options.max_halvings {
            match self.try_flight(h) {
                Ok(()) => return Ok(h),
                Err(Some(reason)) => failure = reason,
                Err(None) => return Err(IntegratorError::NoFrictionMode { time }),
            }
            h *= 0.5;
        }
        Err(match failure {
            StepFailure::MassNotPositiveDefinite => {
                IntegratorError::MassNotPositiveDefinite { time }
            }
            _ => IntegratorError::StepNotSolved {
                time,
                time_step: 2.0 * h,
            },
        })
    }

    /// Tries to solve a step of length `h` (s) with all lasting contacts, over all combinations of sticking and
    /// slipping. The error is the failure of the step's solver, or `None` if no combination satisfies Coulomb's law.
    fn try_flight(&mut self, h: f64) -> Result<(), Option<StepFailure>> {
        loop {
            let mut combinations = Combinations::new(&self.bonds);
            let (mut pulls, mut failure) = (None, None);
            while combinations.advance(&mut self.bonds) {
                self.guess(h);
                match self.try_modes(h) {
                    Ok(Trial::Good) => {
                        let bonds = &self.bonds;
                        self.stepper
                            .finish(&self.start, h, bonds, &mut self.end)
                            .map_err(Some)?;
                        self.keep_impulses();
                        self.flight_balance = Balance {
                            impact_loss: 0.0,
                            contact_loss: -self.stepper.friction_work(&self.start, &self.bonds),
                            force_work: self.stepper.force_work(h),
                            damper_loss: self.stepper.damper_loss(h),
                        };
                        self.project(h)?;
                        return self.stepper.set_gaps(&mut self.end).map_err(Some);
                    }
                    Ok(Trial::Pulls(bond)) => pulls = pulls.or(Some(bond)),
                    Ok(Trial::Inconsistent) => (),
                    Err(reason) => failure = Some(reason),
                }
            }
            match pulls {
                Some(bond) => self.release(bond),
                None => return Err(failure),
            }
        }
    }

    /// Sets the initial guess for the mean velocity of a step of length `h` (s), by linear extrapolation from the velocities at
    /// the start of this step and of the previous one.
    fn guess(&mut self, h: f64) {
        let ratio = if self.last_step > 0.0 {
            0.5 * h / self.last_step
        } else {
            0.0
        };
        let velocities = self.start.velocity.iter().zip(&self.last_velocity);
        for (guess, (v, last)) in self.stepper.mean.iter_mut().zip(velocities) {
            *guess = v + ratio * (v - last);
        }
    }

    fn try_modes(&mut self, h: f64) -> Result<Trial, StepFailure> {
        self.stepper.solve(&self.start, h, &self.bonds)?;
        if self.bonds.is_empty() {
            return Ok(Trial::Good);
        }
        let scale = self.stepper.momentum_scale(&self.start, h);
        let (mut worst, mut consistent) = (None, true);
        for (i, bond) in self.bonds.iter().enumerate() {
            let (normal_norm, slide_norm) = self.stepper.start_norms(&self.start, i);
            let (normal, tangential) = self.stepper.half_impulse(i, bond);
            let small = SIGN_TOLERANCE * scale;
            // An impulse that changes the gap only within rounding error has no sign either, nor has a slide within it.
            let floor = self.options.gap_floor() / h;
            let pull = -normal * normal_norm - floor / normal_norm;
            if pull > small && worst.is_none_or(|(_, most)| pull > most) {
                worst = Some((i, pull));
            }
            if bond.is_frictional() {
                let slide_rate = self.stepper.mean_slide_rate(i, bond, h) / slide_norm;
                consistent &= is_consistent(
                    bond,
                    normal,
                    tangential,
                    small / slide_norm,
                    slide_rate,
                    small + floor / slide_norm,
                );
            }
        }
        Ok(match worst {
            Some((bond, _)) => Trial::Pulls(bond),
            None if consistent => Trial::Good,
            None => Trial::Inconsistent,
        })
    }

    fn keep_impulses(&mut self) {
        for (i, bond) in self.bonds.iter().enumerate() {
            let (normal, tangential) = self.stepper.half_impulse(i, bond);
            self.flight_impulses[i] = [normal, tangential];
        }
    }

    /// Applies the second half of the contact impulses of a step of length `h` (s): removes from the final momentum
    /// those components that the lasting contacts do not allow. The friction modes, and the contacts that open, are
    /// found as for the first half. The error is the failure of the solver, or `None` if no combination of modes
    /// satisfies Coulomb's law.
    fn project(&mut self, h: f64) -> Result<(), Option<StepFailure>> {
        self.lost.clear();
        self.end_bonds.clone_from(&self.bonds);
        if self.bonds.is_empty() {
            return Ok(());
        }
        let scale = self.stepper.momentum_scale(&self.start, h);
        let basis = self.stepper.constraint_basis(&self.end);
        let system = self.stepper.system();
        self.rows.fill(system, &self.end.configuration, &self.bonds);
        loop {
            let mut combinations = Combinations::new(&self.end_bonds);
            let mut pulls = None;
            while combinations.advance(&mut self.end_bonds) {
                if !self
                    .projection
                    .solve(&self.end, &self.rows, &self.end_bonds, &basis)
                {
                    continue;
                }
                match self
                    .projection
                    .judge(&self.end_bonds, SIGN_TOLERANCE * scale)
                {
                    Trial::Good => {
                        return self.accept_projection().map_err(Some);
                    }
                    Trial::Pulls(bond) => pulls = pulls.or(Some(bond)),
                    Trial::Inconsistent => (),
                }
            }
            match pulls {
                Some(bond) => {
                    self.lost.push(self.end_bonds[bond].contact);
                    self.end_bonds.remove(bond);
                    self.rows
                        .fill(system, &self.end.configuration, &self.end_bonds);
                }
                None => return Err(None),
            }
        }
    }

    fn accept_projection(&mut self) -> Result<(), StepFailure> {
        let [before, ..] = &mut self.buffers;
        before.copy_from_slice(&self.end.velocity);
        for (i, bond) in self.end_bonds.iter().enumerate() {
            let [normal, tangential] = self.projection.impulses[i];
            let target = &mut self.end.momentum;
            kernel::add_scaled(target, normal, self.rows.normal(i));
            if tangential != 0.0 {
                kernel::add_scaled(target, tangential, self.rows.slide(i));
            }
            let of_bond = |b: &Bond| b.contact == bond.contact;
            if let Some(place) = self.bonds.iter().position(of_bond) {
                self.flight_impulses[place][0] += normal;
                self.flight_impulses[place][1] += tangential;
            }
        }
        self.end.velocity_from_momentum();
        self.stepper.constrain(&mut self.end)?;
        // Friction dissipates energy; the work of the normal impulses vanishes with the step length and counts as discretization
        // error.
        for (i, bond) in self.end_bonds.iter().enumerate() {
            if bond.is_frictional() {
                let slide = self.rows.slide(i);
                let sum = kernel::dot(slide, before) + kernel::dot(slide, &self.end.velocity);
                self.flight_balance.contact_loss -= 0.5 * self.projection.impulses[i][1] * sum;
            }
        }
        Ok(())
    }
}
