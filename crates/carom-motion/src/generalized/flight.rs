//! The motion between events: steps with the lasting contacts and their modes.

use super::IntegratorError;
use super::event::Balance;
use super::modes::{Combinations, FRICTION_LIMIT};
use super::run::Run;
use carom_mechanism::MechanicalSystem;
use carom_metric::kernel;
use carom_numeric::dense;
use carom_variational::generalized::{Bond, ContactMode, Point, Rows, StepFailure};

/// Impulses and sliding velocities below this fraction of what moves in a step have no sign.
const SIGN_TOLERANCE: f64 = 1e-10;

/// Trial of one combination of modes.
enum Trial {
    /// Consistent.
    Good,
    /// A contact would have to pull.
    Pulls(usize),
    /// Friction is outside its cone or does not oppose the slide.
    Inconsistent,
}

impl<S: MechanicalSystem + ?Sized> Run<'_, '_, '_, S> {
    /// Steps from the start by at most `left` and completes the end. Returns the length of the
    /// step, which is halved until it can be solved.
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
            StepFailure::NotConverged => IntegratorError::StepNotSolved {
                time,
                time_step: 2.0 * h,
            },
        })
    }

    /// A step of length `h` with all of its conditions; `None` as the failure if no combination of
    /// modes is consistent.
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

    /// Extrapolates the mean velocity of a step: from the velocity at its start and its change
    /// before.
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
            // An impulse that moves the gap by rounding only has no sign either.
            let pull = -normal * normal_norm - self.options.gap_floor() / (h * normal_norm);
            if pull > small && worst.is_none_or(|(_, most)| pull > most) {
                worst = Some((i, pull));
            }
            let slide_rate = self.stepper.mean_slide_rate(i) / slide_norm;
            consistent &= is_consistent(
                bond,
                normal,
                tangential,
                small / slide_norm,
                slide_rate,
                small,
            );
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

    /// Removes from the momentum at the end what the lasting contacts do not allow: the second half
    /// of their impulses, chosen by the rules of the first.
    fn project(&mut self, h: f64) -> Result<(), Option<StepFailure>> {
        self.lost.clear();
        self.end_bonds.clone_from(&self.bonds);
        if self.bonds.is_empty() {
            return Ok(());
        }
        let scale = self.stepper.momentum_scale(&self.start, h);
        let system = self.stepper.system();
        self.rows.fill(system, &self.end.configuration, &self.bonds);
        loop {
            let mut combinations = Combinations::new(&self.end_bonds);
            let mut pulls = None;
            while combinations.advance(&mut self.end_bonds) {
                if !self
                    .projection
                    .solve(&self.end, &self.rows, &self.end_bonds)
                {
                    continue;
                }
                match self
                    .projection
                    .judge(&self.end_bonds, SIGN_TOLERANCE * scale)
                {
                    Trial::Good => {
                        self.accept_projection();
                        return Ok(());
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

    fn accept_projection(&mut self) {
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
        // Friction takes energy; the work of normal impulses is of the order of the step, its error.
        for (i, bond) in self.end_bonds.iter().enumerate() {
            if bond.is_frictional() {
                let slide = self.rows.slide(i);
                let sum = kernel::dot(slide, before) + kernel::dot(slide, &self.end.velocity);
                self.flight_balance.contact_loss -= 0.5 * self.projection.impulses[i][1] * sum;
            }
        }
    }
}

/// Coulomb's law for one bond: stick within the cone, or friction against the slide. Kinetic units
/// for `slide_rate` and `small`; `small_impulse` on the slide row as given.
fn is_consistent(
    bond: &Bond,
    normal: f64,
    tangential: f64,
    small_impulse: f64,
    slide_rate: f64,
    small: f64,
) -> bool {
    match bond.mode {
        ContactMode::Frictionless => true,
        ContactMode::Stick => tangential.abs() <= bond.friction * normal + small_impulse,
        ContactMode::SlipBackward => slide_rate <= small,
        ContactMode::SlipForward => slide_rate >= -small,
    }
}

/// The projection of a momentum onto the velocities that lasting contacts allow.
#[derive(Debug, Default)]
pub(crate) struct Projection {
    /// Whitened momentum, and after solving the projected one.
    momentum: Vec<f64>,
    /// Whitened rows: per bond the normal and the slide.
    rows: Vec<f64>,
    matrix: Vec<f64>,
    rhs: Vec<f64>,
    pivots: Vec<usize>,
    /// Per bond the normal and the tangential impulse.
    pub(crate) impulses: Vec<[f64; 2]>,
}

impl Projection {
    fn row(&self, bond: usize, slide: bool) -> &[f64] {
        let n = self.momentum.len();
        let at = (2 * bond + usize::from(slide)) * n;
        &self.rows[at..at + n]
    }

    /// Solves for the impulses of one combination of modes; false if they are not determined.
    fn solve(&mut self, end: &Point, rows: &Rows, bonds: &[Bond]) -> bool {
        let n = end.momentum.len();
        let lower = end.mass.as_slice();
        self.momentum.clear();
        self.momentum.extend_from_slice(&end.momentum);
        dense::whiten(lower, &mut self.momentum);
        self.rows.clear();
        for i in 0..bonds.len() {
            self.rows.extend_from_slice(rows.normal(i));
            self.rows.extend_from_slice(rows.slide(i));
        }
        for (i, row) in self.rows.chunks_exact_mut(n).enumerate() {
            if i % 2 == 0 || bonds[i / 2].is_frictional() {
                dense::whiten(lower, row);
            }
        }
        let unknowns = || {
            let of_bond = |(i, bond): (usize, &Bond)| {
                let sticks = bond.mode == ContactMode::Stick;
                [Some((i, false)), sticks.then_some((i, true))]
            };
            bonds.iter().enumerate().flat_map(of_bond).flatten()
        };
        let size = unknowns().count();
        self.matrix.clear();
        for (j, slide) in unknowns() {
            let friction = if slide {
                0.0
            } else {
                bonds[j].mode.sign() * bonds[j].friction
            };
            for (i, of_slide) in unknowns() {
                let row = self.row(i, of_slide);
                let mut entry = kernel::dot(row, self.row(j, slide));
                if friction != 0.0 {
                    entry += friction * kernel::dot(row, self.row(j, true));
                }
                self.matrix.push(entry);
            }
        }
        self.rhs.clear();
        for (i, slide) in unknowns() {
            self.rhs
                .push(-kernel::dot(self.row(i, slide), &self.momentum));
        }
        self.pivots.resize(size, 0);
        if !dense::lu(&mut self.matrix, size, &mut self.pivots) {
            return false;
        }
        dense::lu_solve(&self.matrix, &self.pivots, &mut self.rhs);
        self.impulses.clear();
        self.impulses.resize(bonds.len(), [0.0; 2]);
        for ((i, slide), impulse) in unknowns().zip(&self.rhs) {
            self.impulses[i][usize::from(slide)] = *impulse;
        }
        for (i, bond) in bonds.iter().enumerate() {
            let sign = bond.mode.sign();
            if sign != 0.0 {
                self.impulses[i][1] = sign * bond.friction * self.impulses[i][0];
            }
            let [normal, tangential] = self.impulses[i];
            let at = 2 * i * n;
            kernel::add_scaled(&mut self.momentum, normal, &self.rows[at..at + n]);
            if tangential != 0.0 {
                kernel::add_scaled(
                    &mut self.momentum,
                    tangential,
                    &self.rows[at + n..at + 2 * n],
                );
            }
        }
        true
    }

    fn judge(&self, bonds: &[Bond], small: f64) -> Trial {
        let (mut worst, mut consistent) = (None, true);
        for (i, bond) in bonds.iter().enumerate() {
            let [normal, tangential] = self.impulses[i];
            let pull = -normal * kernel::norm(self.row(i, false));
            if pull > small && worst.is_none_or(|(_, most)| pull > most) {
                worst = Some((i, pull));
            }
            if !bond.is_frictional() {
                continue;
            }
            let slide = self.row(i, true);
            let norm = kernel::norm(slide);
            let rate = kernel::dot(slide, &self.momentum) / norm;
            consistent &= is_consistent(bond, normal, tangential, small / norm, rate, small);
        }
        match worst {
            Some((bond, _)) => Trial::Pulls(bond),
            None if consistent => Trial::Good,
            None => Trial::Inconsistent,
        }
    }
}
