//! Impacts at an event.

use super::IntegratorError;
use super::event::{Event, Impact};
use super::run::Run;
use crate::tolerances::DEPENDENT_ROW;
use carom_contact::{
    Contact, ContactIndex, ContactSet, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
    SetValuedLaw,
};
use carom_impact::{Plastic, Propagative};
use carom_mechanism::MechanicalSystem;
use carom_metric::{Covector, KineticMetric, Tangent, kernel};
use carom_variational::generalized::{Bond, deflate};
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Fraction of the momentum before an impact below which contact velocities after it count as zero.
const STILL: f64 = 1e-10;

/// Fraction of the kinetic norm of the gap gradient below which the slide gradient counts as zero: the joints then forbid the
/// slide.
const FORBIDDEN: f64 = 64.0 * f64::EPSILON;

/// Fraction of the energy above which the loss of an event makes it inelastic.
const LOSS: f64 = 1e-12;

/// Number of random orders for the indeterminacy of an event that has too many orders to enumerate.
const DRAWN_ORDERS: u64 = 200;

/// Multiple of the simultaneity tolerance within which further contacts are tested for the fragility of an event.
const NEAR: f64 = 10.0;

/// Number of consecutive impacts after short flights of which the last is made plastic.
const SHORT_FLIGHTS: usize = 3;

impl<S: MechanicalSystem + ?Sized> Run<'_, '_, '_, S> {
    /// Returns the indices of the contacts that are closed at the start of the flight, in ascending order.
    fn closed(&self) -> Vec<usize> {
        let tolerance = self.options.simultaneous_tolerance;
        let closed = |i: &usize| self.is_bonded(*i) || self.start.gaps[*i] <= tolerance;
        (0..self.start.gaps.len()).filter(closed).collect()
    }

    fn contact_rows(&self, contact: usize) -> Contact {
        let system = self.stepper.system();
        let (n, q) = (self.start.configuration.len(), &self.start.configuration);
        let data = &system.contacts()[contact];
        let mut normal = DVector::zeros(n);
        system.gap_gradient(contact, q, normal.as_mut_slice());
        let mut tangents = Vec::new();
        if let Some(tangent) = self.slide_row(contact) {
            tangents.push(Covector(tangent));
        }
        let friction = if tangents.is_empty() {
            0.0
        } else {
            data.friction
        };
        // A point that rests has no restitution: a law by Poisson would give back what presses it.
        let restitution = if self.is_bonded(contact) {
            0.0
        } else {
            data.restitution
        };
        Contact::new(Covector(normal))
            .with_tangents(tangents)
            .with_friction(friction)
            .with_restitution(restitution)
    }

    fn rows_of(&self, contacts: &[usize]) -> Vec<Contact> {
        contacts.iter().map(|i| self.contact_rows(*i)).collect()
    }

    /// Returns the gradient of a contact's slide coordinate (whose rate is the sliding velocity) at the start of the flight.
    /// Returns `None` if the contact has no slide coordinate, or if the joints forbid the slide, so that friction cannot act.
    fn slide_row(&self, contact: usize) -> Option<DVector<f64>> {
        let system = self.stepper.system();
        let q = &self.start.configuration;
        if !system.contacts()[contact].has_slide {
            return None;
        }
        let (mut normal, mut tangent) = (vec![0.0; q.len()], vec![0.0; q.len()]);
        system.gap_gradient(contact, q, &mut normal);
        system.slide_gradient(contact, q, &mut tangent);
        let row = DVector::from_column_slice(&tangent);
        let size = self.start.norm_of(&mut normal);
        let whole = self.start.norm_of(&mut tangent);
        let moved = deflate(&mut tangent, &self.stepper.constraint_basis(&self.start));
        (moved > FORBIDDEN * size.max(whole)).then_some(row)
    }

    /// Returns the set of contacts `contacts` (indices in the system) at the start of the flight, under the velocity constraints.
    fn contact_set(
        &self,
        metric: Arc<KineticMetric>,
        contacts: &[usize],
    ) -> Result<ContactSet, ImpactError> {
        let (system, q) = (self.stepper.system(), &self.start.configuration);
        let form = |constraint: usize| {
            let mut row = DVector::zeros(q.len());
            system.constraint_row(constraint, q, row.as_mut_slice());
            Covector(row)
        };
        let forms = (0..system.constraints().len()).map(form).collect();
        ContactSet::constrained(metric, self.rows_of(contacts), forms)
    }

    /// True if the impacts of a contact accumulate, so that the impact at the start of this flight is made plastic. This requires
    /// three consecutive impacts, this one included, after flights shorter than `longest` (s). In addition, the impacts must lose
    /// energy; elastic impacts count only if the options say so.
    fn is_accumulating(&self, contact: usize, longest: f64) -> bool {
        let history = self.history[contact];
        let short = history
            .last
            .is_some_and(|last| self.start.time - last < longest);
        let counts = history.lossy || self.options.elastic_hits_accumulate;
        short && counts && history.short + 1 >= SHORT_FLIGHTS
    }

    /// Resolves the impact at the start of a flight, which the contact with the index `trigger` caused. If no contact approaches,
    /// this contact becomes a lasting contact.
    pub(crate) fn hit(&mut self, trigger: usize) -> Result<(), IntegratorError> {
        let time = self.start.time;
        let at = |source: ImpactError| IntegratorError::Impact { time, source };
        let n = self.start.configuration.len();
        let mut mass = DMatrix::zeros(n, n);
        let system = self.stepper.system();
        system.mass_matrix(&self.start.configuration, &mut mass);
        let metric = KineticMetric::new(mass).map_err(|source| at(source.into()))?;
        let contacts = self.closed();
        let set = self.contact_set(Arc::new(metric), &contacts).map_err(at)?;
        let velocity = Tangent::from_slice(&self.start.velocity);
        let problem = ImpactProblem::new(&set, velocity.clone()).map_err(at)?;
        if !problem.is_approaching() {
            self.establish(trigger);
            return Ok(());
        }
        let longest = self.options.zeno_ratio * self.clock.length();
        let size = (2.0 * problem.energy_minus_j()).sqrt();
        let accumulated = set.indices().zip(&contacts).any(|(place, i)| {
            let rate = self.start.rates[*i] / set.normal_norm(place);
            rate < -STILL * size && self.is_accumulating(*i, longest)
        });
        let plastic = Plastic::default();
        let law: &dyn ImpactLaw = if accumulated { &plastic } else { self.law };
        let outcome = law.resolve(&problem).map_err(at)?;
        let pushes = |place: ContactIndex| {
            let impulse = outcome.impulses[set.row(place).index()];
            impulse * set.normal_norm(place) > STILL * size
        };
        if !set.indices().any(pushes) {
            // The law finds no impact: the contact `trigger` approaches by little more than rounding error.
            self.establish(trigger);
            if self.is_bonded(trigger) {
                return Ok(());
            }
        }
        let near: Vec<usize> = (0..self.start.gaps.len())
            .filter(|i| {
                let gap = self.start.gaps[*i];
                let tolerance = NEAR * self.options.simultaneous_tolerance;
                contacts.contains(i) || gap <= tolerance
            })
            .collect();
        let fragility = if near.len() > contacts.len() {
            let other = self
                .contact_set(set.metric().clone(), &near)
                .and_then(|set| law.resolve(&ImpactProblem::new(&set, velocity)?))
                .ok();
            other.and_then(|other| {
                let change = Tangent(&other.velocity_plus.0 - &outcome.velocity_plus.0);
                let energy = set.metric().energy(&change).ok()?;
                Some((2.0 * energy).sqrt() / size)
            })
        } else {
            None
        };
        let impulses_at = |place: ContactIndex| {
            let mut rows = set.row_range(place).map(|row| outcome.impulses[row]);
            [rows.next().unwrap_or(0.0), rows.next().unwrap_or(0.0)]
        };
        self.balance.impact_loss -= outcome.audit.energy_change_j();
        let mut impact = Impact {
            time,
            configuration: DVector::from_column_slice(&self.start.configuration),
            momentum_minus: Covector::from_slice(&self.start.momentum),
            momentum_plus: set
                .metric()
                .flat(&outcome.velocity_plus)
                .map_err(|source| at(source.into()))?,
            accumulated,
            established: Vec::new(),
            released: Vec::new(),
            indeterminacy: self.indeterminacy(&problem),
            fragility,
            impulses: set.indices().map(impulses_at).collect(),
            outcome,
            contacts,
            balance: self.balance,
        };
        if accumulated {
            self.refuse("zeno");
        } else {
            let struck = |place: ContactIndex| {
                let (row, norm) = (set.row(place), set.normal_norm(place));
                impact.outcome.impulses[row.index()] * norm > STILL * size
            };
            let others = set
                .indices()
                .any(|i| struck(i) && impact.contacts[i.index()] != trigger);
            let (outcome, contacts) = (&impact.outcome, &impact.contacts);
            self.follow_impact(&problem, outcome, contacts, trigger, others)
                .map_err(at)?;
        }
        self.go_on_from(&mut impact, &set, size, longest)?;
        if !impact.established.is_empty() || !impact.released.is_empty() {
            self.refuse("established-contact");
        }
        self.n_impacts += 1;
        (self.observe)(Event::Impact(&impact));
        Ok(())
    }

    fn indeterminacy(&self, problem: &ImpactProblem) -> Option<f64> {
        if problem.contacts().len() < 2 || self.options.indeterminacy_nodes == 0 {
            return None;
        }
        let law = Propagative::default()
            .with_max_nodes(self.options.indeterminacy_nodes)
            .with_samples(DRAWN_ORDERS)
            .with_seed(0);
        law.resolve_all(problem).ok().map(|set| set.indeterminacy)
    }

    /// Continues the run from the outcome of an impact: updates momentum, lasting contacts and the records of past impacts. `set`
    /// holds the contacts of the impact, `size` the kinetic norm of the velocity before it. A flight shorter than `longest` (s)
    /// counts as short.
    fn go_on_from(
        &mut self,
        impact: &mut Impact,
        set: &ContactSet,
        size: f64,
        longest: f64,
    ) -> Result<(), IntegratorError> {
        let ImpactOutcome {
            audit, impulses, ..
        } = &impact.outcome;
        let lossy = audit.energy_change_j() < -LOSS * audit.energy_minus_j;
        let (start, plus) = (&mut self.start, &impact.momentum_plus.0);
        start.momentum.copy_from_slice(plus.as_slice());
        let velocity = &impact.outcome.velocity_plus.0;
        start.velocity.copy_from_slice(velocity.as_slice());
        self.stepper
            .set_gaps(&mut self.start)
            .map_err(|_| IntegratorError::NonFinite { what: "gap" })?;
        self.last_step = 0.0;
        for (place, &contact) in set.indices().zip(&impact.contacts) {
            let norm = set.normal_norm(place);
            let rate = self.start.rates[contact] / norm;
            let impulse = impulses[set.row(place).index()] * norm;
            if impulse > STILL * size {
                let history = &mut self.history[contact];
                let time = impact.time;
                let short = history.last.is_some_and(|last| time - last < longest);
                history.short = if short { history.short + 1 } else { 0 };
                history.last = Some(time);
                history.lossy = lossy;
            }
            match self.bonds.iter().position(|bond| bond.contact == contact) {
                Some(bond) if rate > STILL * size => {
                    self.bonds.remove(bond);
                    impact.released.push(contact);
                }
                None if lossy && rate <= STILL * size && self.bond(contact) => {
                    impact.established.push(contact);
                }
                _ => (),
            }
        }
        Ok(())
    }

    /// Makes a contact that touches without approaching a lasting contact, and reports it. `contact` is its index.
    pub(crate) fn establish(&mut self, contact: usize) {
        self.refuse("established-contact");
        if self.bond(contact) {
            let time = self.start.time;
            (self.observe)(Event::Established { time, contact });
        }
    }

    /// Adds a contact to the active contacts, whose gaps are kept closed. Returns false, without adding the contact, if the other
    /// active contacts already determine its gap rate. `contact` is the index of the contact.
    fn bond(&mut self, contact: usize) -> bool {
        let system = self.stepper.system();
        let friction = match self.slide_row(contact) {
            Some(_) => system.contacts()[contact].friction,
            None => 0.0,
        };
        let bond = Bond::new(contact, self.start.gaps[contact], friction);
        self.bonds.push(bond);
        self.rows
            .fill(system, &self.start.configuration, &self.bonds);
        let normal = |i: usize| {
            let mut row = self.rows.normal(i).to_vec();
            self.start.norm_of(&mut row);
            row
        };
        let normals: Vec<_> = (0..self.bonds.len()).map(normal).collect();
        if is_independent(self.stepper.constraint_basis(&self.start), normals) {
            return true;
        }
        self.bonds.pop();
        false
    }
}

/// True if the last vector is linearly independent of the other ones and of an orthonormal `basis`, which must be independent of
/// each other.
fn is_independent(mut basis: Vec<Vec<f64>>, vectors: Vec<Vec<f64>>) -> bool {
    let mut left = 1.0;
    for mut vector in vectors {
        let norm = kernel::norm(&vector);
        let rest = deflate(&mut vector, &basis);
        left = rest / norm;
        vector.iter_mut().for_each(|x| *x /= rest);
        basis.push(vector);
    }
    left > DEPENDENT_ROW
}
